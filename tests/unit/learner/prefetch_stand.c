/*
 * See prefetch_stand.h.
 */
#include "tests/unit/learner/prefetch_stand.h"

#include "tests/support/test.h"

static void on_ready(void *user, aq_batch *group)
{
    prefetch_stand *stand = user;
    assert_int_equal(group->rows, stand->good->rows);
    stand->ready_total++;
    if (stand->give_back_at_once) {
        aq_prefetch_give_back(stand->prefetch, group);
        return;
    }
    for (size_t i = 0; i < stand->ready_count; i++) {
        assert_ptr_not_equal(stand->ready[i], group); /* it is still the owner's */
    }
    assert_true(stand->ready_count < (size_t)2 * stand->config.in_flight);
    stand->ready[stand->ready_count++] = group;
}

static void on_progress(void *user, uint64_t shard_incarnation, uint64_t inserted)
{
    prefetch_stand *stand = user;
    assert_true(shard_incarnation != 0);
    stand->progress_incarnation = shard_incarnation;
    stand->progress = inserted;
    stand->progress_total++;
}

static void on_trouble(void *user, const char *shard, const char *reason)
{
    prefetch_stand *stand = user;
    assert_true(reason[0] != '\0');
    stand->troubles++;
    snprintf(stand->trouble, sizeof(stand->trouble), "%s: %s", shard, reason);
}

static int64_t stand_now_ns(void *user)
{
    const prefetch_stand *stand = user;
    return stand->now_ns;
}

void prefetch_stand_renew(prefetch_stand *stand)
{
    aq_prefetch_owner owner = {.user = stand,
                               .ready = on_ready,
                               .progress = on_progress,
                               .trouble = on_trouble,
                               .now_ns = stand_now_ns};
    aq_prefetch_destroy(stand->prefetch);
    assert_succeeds(
        aq_prefetch_create(&stand->config, &stand->kit.layout, &owner, &stand->prefetch));
}

void prefetch_stand_create(prefetch_stand *stand, const aq_table_spec *table,
                           double importance_exponent)
{
    stand->config = (aq_prefetch_config){.run_id = KIT_RUN_ID,
                                         .table = *table,
                                         .importance_exponent = importance_exponent,
                                         .batch_rows = STAND_BATCH_ROWS,
                                         .batch_count = STAND_BATCHES,
                                         .in_flight = STAND_IN_FLIGHT,
                                         .wait_ms = 500,
                                         .timeout_ms = 1000};
    prefetch_stand_renew(stand);
}

void prefetch_stand_setup(prefetch_stand *stand)
{
    static const aq_table_spec table = {
        .name = "main", .selector = AQ_SELECTOR_PRIORITIZED, .priority_exponent = 0.6, .n_step = 1};
    learner_kit_init(&stand->kit, 4);
    stand->good = learner_kit_group(&stand->kit, STAND_ROWS);
    for (size_t i = 0; i < STAND_SHARDS; i++) {
        sample_shard_init(&stand->shards[i]);
        stand->shards[i].incarnation = i + 1;
    }
    stand->now_ns = 1;
    prefetch_stand_create(stand, &table, 0.5);
}

void prefetch_stand_teardown(prefetch_stand *stand)
{
    for (size_t i = 0; i < STAND_SHARDS; i++) {
        prefetch_stand_remove(stand, i);
        sample_shard_close(&stand->shards[i]);
    }
    aq_prefetch_destroy(stand->prefetch);
    aq_batch_destroy(stand->good);
    learner_kit_fini(&stand->kit);
}

void prefetch_stand_add(prefetch_stand *stand, size_t shard)
{
    char name[32];
    snprintf(name, sizeof(name), "shard-%u", (unsigned)shard + 1);
    assert_int_equal(
        aq_prefetch_add_shard(stand->prefetch, shard + 1, name, &stand->shards[shard].channel), 0);
}

void prefetch_stand_remove(prefetch_stand *stand, size_t shard)
{
    aq_prefetch_remove_shard(stand->prefetch, shard + 1);
}

void prefetch_stand_pass(prefetch_stand *stand, int64_t ms)
{
    stand->now_ns += ms * AQ_NS_PER_MS;
    aq_prefetch_tick(stand->prefetch, stand->now_ns);
}

aq_batch *prefetch_stand_fill(prefetch_stand *stand, size_t shard)
{
    size_t before = stand->ready_count;
    sample_shard_answer(&stand->shards[shard], 0, stand->good, 10);
    assert_int_equal(stand->ready_count, before + 1);
    return stand->ready[before];
}

void prefetch_stand_give_back(prefetch_stand *stand)
{
    assert_true(stand->ready_count > 0);
    prefetch_stand_give_back_at(stand, stand->ready_count - 1);
}

void prefetch_stand_give_back_at(prefetch_stand *stand, size_t place)
{
    assert_true(place < stand->ready_count);
    aq_prefetch_give_back(stand->prefetch, stand->ready[place]);
    stand->ready_count--;
    memmove(&stand->ready[place], &stand->ready[place + 1],
            (stand->ready_count - place) * sizeof(stand->ready[0]));
}
