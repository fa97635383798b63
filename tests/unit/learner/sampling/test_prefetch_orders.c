/*
 * No group is lost and none is in two places, in whatever order and way the calls end.
 *
 * All orders of three calls and five ways to end them are tried, then ten thousand random moves
 * from one seed.
 */

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/wire/wire_sample.h"
#include "learner/sampling/prefetch.h"
#include "tests/support/chance.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"
#include "tests/unit/learner/sample_shard.h"

enum { IN_FLIGHT = 3, GROUPS = 2 * IN_FLIGHT, ROWS = 4, SHARDS = 3, MOVES = 10000 };

enum ending { ENDING_FULL, ENDING_NOT_YET, ENDING_REFUSED, ENDING_BROKEN, ENDING_CORRUPT };
enum { ENDINGS = ENDING_CORRUPT + 1 };

typedef struct orders_desk {
    learner_kit kit;
    sample_shard shards[SHARDS];
    bool added[SHARDS];
    uint64_t lives; /* each add is another incarnation */
    uint64_t incarnation[SHARDS];
    aq_prefetch *prefetch;
    int64_t now_ns;
    aq_batch *good;
    aq_batch *ready[GROUPS];
    size_t ready_count;
    unsigned ready_total;
    unsigned counted; /* answers whose steps were told */
} orders_desk;

static void on_ready(void *user, aq_batch *group)
{
    orders_desk *desk = user;
    assert_int_equal(group->rows, ROWS);
    for (size_t i = 0; i < desk->ready_count; i++) {
        assert_ptr_not_equal(desk->ready[i], group);
    }
    assert_true(desk->ready_count < GROUPS);
    desk->ready[desk->ready_count++] = group;
    desk->ready_total++;
}

static void on_progress(void *user, uint64_t shard_incarnation, uint64_t inserted)
{
    orders_desk *desk = user;
    assert_true(shard_incarnation != 0);
    assert_int_equal(inserted, 1);
    desk->counted++;
}

static void on_trouble(void *user, const char *shard, const char *reason)
{
    (void)user;
    assert_non_null(shard);
    assert_true(reason[0] != '\0');
}

static const aq_prefetch_config config = {.run_id = 1,
                                          .batch_rows = ROWS,
                                          .batch_count = 1,
                                          .in_flight = IN_FLIGHT,
                                          .wait_ms = 1,
                                          .timeout_ms = 2};

static void orders_desk_setup(orders_desk *desk)
{
    learner_kit_init(&desk->kit, 8);
    desk->good = learner_kit_group(&desk->kit, ROWS);
    aq_prefetch_owner owner = {
        .user = desk, .ready = on_ready, .progress = on_progress, .trouble = on_trouble};
    assert_int_equal(aq_prefetch_create(&config, &desk->kit.layout, &owner, &desk->prefetch), 0);
    for (int i = 0; i < SHARDS; i++) {
        sample_shard_init(&desk->shards[i]);
    }
}

static void remove_shard(orders_desk *desk, int index)
{
    aq_prefetch_remove_shard(desk->prefetch, desk->incarnation[index]);
    desk->added[index] = false;
}

static void orders_desk_teardown(orders_desk *desk)
{
    for (int i = 0; i < SHARDS; i++) {
        remove_shard(desk, i);
        sample_shard_close(&desk->shards[i]);
    }
    aq_prefetch_destroy(desk->prefetch);
    aq_batch_destroy(desk->good);
    learner_kit_fini(&desk->kit);
}

static void add_shard(orders_desk *desk, int index)
{
    desk->incarnation[index] = ++desk->lives;
    desk->added[index] = true;
    assert_succeeds(aq_prefetch_add_shard(desk->prefetch, desk->incarnation[index], "shard",
                                          &desk->shards[index].channel),
                    NULL);
}

static void end_call(orders_desk *desk, int index, size_t call, enum ending ending)
{
    Actorq__V1__SampleReply reply;
    ProtobufCBinaryData recorded[AQ_BATCH_RECORDED_MAX];
    switch (ending) {
    case ENDING_FULL:
        sample_shard_answer(&desk->shards[index], call, desk->good, 1);
        break;
    case ENDING_NOT_YET:
        sample_shard_refuse(&desk->shards[index], call, AQ_RPC_UNAVAILABLE);
        break;
    case ENDING_REFUSED:
        sample_shard_refuse(&desk->shards[index], call, AQ_RPC_INTERNAL);
        break;
    case ENDING_BROKEN:
        sample_shard_break(&desk->shards[index], call, AQ_E_TIMEOUT);
        break;
    case ENDING_CORRUPT:
        aq_wire_sample_view(desk->good, 1, recorded, &reply);
        reply.reward.len--;
        reply.items = 1;
        reply.mass = 1;
        sample_shard_reply(&desk->shards[index], call, &reply);
        break;
    }
}

static size_t calls_out(const orders_desk *desk)
{
    size_t out = 0;
    for (int i = 0; i < SHARDS; i++) {
        out += desk->shards[i].count;
    }
    return out;
}

/* Gives all back and sees that every group there is can be filled once more. */
static void assert_all_groups_are_there(orders_desk *desk)
{
    while (desk->ready_count > 0) {
        aq_prefetch_give_back(desk->prefetch, desk->ready[--desk->ready_count]);
    }
    for (int i = 0; i < SHARDS; i++) {
        remove_shard(desk, i);
        while (desk->shards[i].count > 0) {
            sample_shard_break(&desk->shards[i], 0, AQ_E_CLOSED);
        }
    }
    assert_int_equal(desk->ready_count, 0);
    add_shard(desk, 0);
    for (int round = 0; round < 2; round++) {
        aq_prefetch_tick(desk->prefetch, desk->now_ns);
        assert_int_equal(desk->shards[0].count, IN_FLIGHT);
        while (desk->shards[0].count > 0) {
            end_call(desk, 0, 0, ENDING_FULL);
        }
    }
    assert_int_equal(desk->ready_count, GROUPS); /* on_ready saw that they differ */
    aq_prefetch_tick(desk->prefetch, desk->now_ns);
    assert_int_equal(desk->shards[0].count, 0);
    while (desk->ready_count > 0) {
        aq_prefetch_give_back(desk->prefetch, desk->ready[--desk->ready_count]);
    }
    remove_shard(desk, 0);
}

TEST_IN(orders_desk, desk, three_calls_may_end_in_any_order_and_way)
{
    for (int order = 0; order < 6; order++) {
        for (int endings = 0; endings < ENDINGS * ENDINGS * ENDINGS; endings++) {
            /* The order as places in a list that shrinks. */
            size_t places[IN_FLIGHT] = {(size_t)order % 3, (size_t)order / 3, 0};
            int rest = endings;
            unsigned full = 0;
            desk->ready_total = 0;
            add_shard(desk, 0);
            desk->now_ns += AQ_NS_PER_S;
            aq_prefetch_tick(desk->prefetch, desk->now_ns);
            for (int i = 0; i < IN_FLIGHT; i++) {
                full += rest % ENDINGS == ENDING_FULL;
                end_call(desk, 0, places[i], (enum ending)(rest % ENDINGS));
                rest /= ENDINGS;
            }
            assert_int_equal(desk->ready_total, full);
            assert_all_groups_are_there(desk);
        }
    }
}

static void move(orders_desk *desk, aq_rng *rng)
{
    int index = (int)aq_rng_below(rng, SHARDS);
    sample_shard *shard = &desk->shards[index];
    switch (aq_rng_below(rng, 8)) {
    case 0:
        if (!desk->added[index]) {
            add_shard(desk, index);
        }
        break;
    case 1:
        if (aq_rng_below(rng, 4) == 0) {
            remove_shard(desk, index);
        }
        break;
    case 2:
    case 3:
    case 4:
        if (shard->count > 0) {
            end_call(desk, index, aq_rng_below(rng, shard->count),
                     (enum ending)aq_rng_below(rng, ENDINGS));
        }
        break;
    case 5:
        if (desk->ready_count > 0) {
            size_t last = desk->ready_count - 1;
            size_t place = aq_rng_below(rng, desk->ready_count);
            aq_prefetch_give_back(desk->prefetch, desk->ready[place]);
            desk->ready[place] = desk->ready[last];
            desk->ready_count--;
        }
        break;
    case 6:
        shard->send_failure = aq_rng_below(rng, 8) == 0 ? AQ_E_FULL : 0;
        break;
    default:
        desk->now_ns += (int64_t)aq_rng_below(rng, 60) * AQ_NS_PER_MS;
        aq_prefetch_tick(desk->prefetch, desk->now_ns);
    }
}

TEST_IN(orders_desk, desk, ten_thousand_random_moves_lose_no_group)
{
    uint64_t seed = 20260701;
    print_message("seed %llu\n", (unsigned long long)seed);
    aq_rng rng = rng_of(seed, 0);
    for (int i = 0; i < MOVES; i++) {
        move(desk, &rng);
        assert_true(calls_out(desk) <= IN_FLIGHT);
        assert_true(calls_out(desk) + desk->ready_count <= GROUPS);
    }
    assert_true(desk->ready_total > 100);
    for (int i = 0; i < SHARDS; i++) {
        desk->shards[i].send_failure = 0;
    }
    assert_all_groups_are_there(desk);
}

TEST_IN(orders_desk, desk, create_survives_every_failed_allocation)
{
    aq_prefetch_owner owner = {.user = desk};
    int untouched = 0;
    int rc = AQ_E_NOMEM;
    uint64_t nth = 0;
    while (rc != 0) {
        aq_prefetch *prefetch = (aq_prefetch *)(void *)&untouched;
        aq_memory_fail_at(++nth, 0);
        rc = aq_prefetch_create(&config, &desk->kit.layout, &owner, &prefetch);
        aq_memory_fail_at(0, 0);
        if (rc != 0) {
            assert_int_equal(rc, AQ_E_NOMEM);
            assert_ptr_equal(prefetch, &untouched);
        } else {
            aq_prefetch_destroy(prefetch);
        }
    }
    assert_int_equal(nth, 4 + GROUPS + 1);
    aq_prefetch_destroy(NULL);
}

TEST_IN(orders_desk, desk, steps_of_another_process_at_the_address_are_not_counted)
{
    add_shard(desk, 0);
    aq_prefetch_tick(desk->prefetch, ++desk->now_ns);
    desk->shards[0].incarnation = desk->incarnation[0] + 1;
    end_call(desk, 0, 0, ENDING_FULL);
    assert_int_equal(desk->counted, 0);
    desk->shards[0].incarnation = desk->incarnation[0];
    end_call(desk, 0, 0, ENDING_FULL);
    assert_int_equal(desk->counted, 1);
    assert_int_equal(desk->ready_total, 2);
}

/* Four requests, three shards: two that are slow hold three of them at most. */
TEST_IN(orders_desk, desk, slow_shards_leave_the_last_one_its_share)
{
    aq_prefetch_config four = config;
    const aq_prefetch_owner owner = {
        .user = desk, .ready = on_ready, .progress = on_progress, .trouble = on_trouble};
    four.in_flight = 4;
    aq_prefetch_destroy(desk->prefetch);
    assert_int_equal(aq_prefetch_create(&four, &desk->kit.layout, &owner, &desk->prefetch), 0);
    for (int i = 0; i < SHARDS; i++) {
        add_shard(desk, i);
    }
    aq_prefetch_tick(desk->prefetch, ++desk->now_ns);
    for (int round = 0; round < 5; round++) {
        assert_true(desk->shards[2].count >= 1);
        assert_int_equal(calls_out(desk), 4);
        end_call(desk, 2, 0, ENDING_FULL);
        aq_prefetch_give_back(desk->prefetch, desk->ready[--desk->ready_count]);
        desk->now_ns += 30 * AQ_NS_PER_MS; /* the others should have answered by now */
        aq_prefetch_tick(desk->prefetch, desk->now_ns);
    }
}
