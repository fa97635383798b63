/*
 * Priorities go back to the start of the shard that numbered the items, and to nobody else.
 */
#include "tests/support/test.h"
#include "tests/unit/learner/prefetch_stand.h"

/* A group of that shard, trained on: row i has the priority i + `first`. */
static aq_batch *train(prefetch_stand *stand, size_t shard, float first)
{
    prefetch_stand_pass(stand, 1);
    aq_batch *group = prefetch_stand_fill(stand, shard);
    for (uint32_t i = 0; i < group->rows; i++) {
        group->priority[i] = first + (float)i;
    }
    return group;
}

static aq_priority_counts counts_of(const prefetch_stand *stand)
{
    return aq_prefetch_counts_of(stand->prefetch).priorities;
}

static void assert_counts(const prefetch_stand *stand, uint64_t sent, uint64_t applied,
                          uint64_t stale, uint64_t dropped)
{
    aq_priority_counts counts = counts_of(stand);
    assert_int_equal(counts.sent, sent);
    assert_int_equal(counts.applied, applied);
    assert_int_equal(counts.stale, stale);
    assert_int_equal(counts.dropped, dropped);
}

TEST_IN(prefetch_stand, stand, items_and_priorities_arrive_as_training_wrote_them)
{
    prefetch_stand_add(stand, 0);
    train(stand, 0, 0.5f);
    prefetch_stand_give_back(stand);
    assert_int_equal(stand->shards[0].update_count, 1);
    const sample_call *update = stand->shards[0].updates[0];
    assert_true(update->run_id == KIT_RUN_ID);
    assert_int_equal(update->incarnation, 1);
    assert_string_equal(update->table, "main");
    assert_int_equal(update->rows, STAND_ROWS);
    for (uint32_t i = 0; i < STAND_ROWS; i++) {
        assert_int_equal(update->items[i], i);
        assert_true(update->priorities[i] == 0.5f + (float)i);
    }
    sample_shard_apply(&stand->shards[0], STAND_ROWS - 3); /* three items had left */
    assert_counts(stand, STAND_ROWS, STAND_ROWS - 3, 3, 0);
    assert_int_equal(stand->troubles, 0);
}

TEST_IN(prefetch_stand, stand, the_group_is_free_before_the_answer)
{
    prefetch_stand_add(stand, 0);
    for (int i = 0; i < STAND_IN_FLIGHT; i++) {
        train(stand, 0, 1);
        prefetch_stand_give_back(stand);
        memset(stand->good->item, i, STAND_ROWS * sizeof(uint64_t));
    }
    assert_int_equal(stand->shards[0].update_count, STAND_IN_FLIGHT);
    prefetch_stand_pass(stand, 1);
    assert_int_equal(stand->shards[0].count, STAND_IN_FLIGHT); /* all are asked for again */
}

TEST_IN(prefetch_stand, stand, each_group_goes_back_to_its_own_shard)
{
    for (size_t i = 0; i < 3; i++) {
        prefetch_stand_add(stand, i);
    }
    prefetch_stand_pass(stand, 1);
    for (size_t i = 0; i < 3; i++) {
        train(stand, i, 10.0f * (float)i);
    }
    while (stand->ready_count > 0) {
        prefetch_stand_give_back(stand);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stand->shards[i].update_count, 1);
        assert_int_equal(stand->shards[i].updates[0]->incarnation, i + 1);
        assert_true(stand->shards[i].updates[0]->priorities[0] == 10.0f * (float)i);
    }
}

/* The process that answered is not the one that the members' list names. */
TEST_IN(prefetch_stand, stand, the_start_that_numbered_the_items_is_named)
{
    prefetch_stand_add(stand, 0);
    stand->shards[0].incarnation = 4711;
    train(stand, 0, 1);
    prefetch_stand_give_back(stand);
    assert_int_equal(stand->shards[0].updates[0]->incarnation, 4711);
    sample_shard_refuse_update(&stand->shards[0], AQ_RPC_FAILED_PRECONDITION);
    assert_counts(stand, STAND_ROWS, 0, STAND_ROWS, 0);
    assert_int_equal(stand->troubles, 0); /* a restart is none */
    prefetch_stand_pass(stand, 1);
    assert_int_equal(stand->shards[0].count, STAND_IN_FLIGHT);
}

TEST_IN(prefetch_stand, stand, rows_that_were_not_trained_on_are_left_out)
{
    prefetch_stand_add(stand, 0);
    aq_batch *group = train(stand, 0, 1);
    group->priority[0] = AQ_PRIORITY_NONE;
    group->priority[3] = NAN;
    group->priority[4] = INFINITY;
    prefetch_stand_give_back(stand);
    const sample_call *update = stand->shards[0].updates[0];
    static const uint64_t left[] = {1, 2, 5, 6, 7};
    assert_int_equal(update->rows, 5);
    assert_memory_equal(update->items, left, sizeof(left));
    assert_true(update->priorities[2] == 6);

    prefetch_stand_pass(stand, 1);
    (void)prefetch_stand_fill(stand, 0); /* the same memory: no priority is left in it */
    prefetch_stand_give_back(stand);
    assert_int_equal(stand->shards[0].update_count, 1);
    assert_int_equal(counts_of(stand).sent, 5);
}

TEST_IN(prefetch_stand, stand, priorities_of_a_shard_that_is_gone_are_dropped)
{
    prefetch_stand_add(stand, 0);
    prefetch_stand_add(stand, 1);
    train(stand, 0, 1);
    prefetch_stand_remove(stand, 0);
    prefetch_stand_give_back(stand);
    assert_counts(stand, STAND_ROWS, 0, 0, STAND_ROWS);
    assert_int_equal(stand->shards[0].update_count + stand->shards[1].update_count, 0);

    prefetch_stand_add(stand, 0); /* back over another link: those items are as gone as before */
    assert_int_equal(stand->shards[0].update_count, 0);
    prefetch_stand_pass(stand, 1);
}

TEST_IN(prefetch_stand, stand, a_shard_that_went_with_priorities_under_way_is_no_trouble)
{
    prefetch_stand_add(stand, 0);
    train(stand, 0, 1);
    prefetch_stand_give_back(stand);
    prefetch_stand_remove(stand, 0);
    sample_shard_close(&stand->shards[0]);
    assert_counts(stand, STAND_ROWS, 0, 0, STAND_ROWS);
    assert_int_equal(stand->troubles, 0);
    sample_shard_init(&stand->shards[0]);
}

TEST_IN(prefetch_stand, stand, a_shard_that_refuses_priorities_is_said_and_still_sampled_from)
{
    prefetch_stand_add(stand, 0);
    train(stand, 0, 1);
    prefetch_stand_give_back(stand);
    sample_shard_refuse_update(&stand->shards[0], AQ_RPC_INVALID_ARGUMENT);
    assert_int_equal(stand->troubles, 1);
    assert_says(stand->trouble, "shard-1: refused with INVALID_ARGUMENT");
    assert_counts(stand, STAND_ROWS, 0, 0, STAND_ROWS);
    prefetch_stand_pass(stand, 1);
    assert_int_equal(stand->shards[0].count, STAND_IN_FLIGHT);
}

TEST_IN(prefetch_stand, stand, no_more_calls_are_under_way_than_agreed)
{
    prefetch_stand_add(stand, 0);
    enum { CALLS = 4 * STAND_IN_FLIGHT };
    assert_true(CALLS + STAND_IN_FLIGHT == aq_prefetch_calls_max(STAND_IN_FLIGHT));
    for (int i = 0; i < CALLS + 3; i++) {
        train(stand, 0, 1);
        prefetch_stand_give_back(stand);
    }
    assert_int_equal(stand->shards[0].update_count, CALLS);
    assert_int_equal(counts_of(stand).dropped, 3 * STAND_ROWS);
    while (stand->shards[0].update_count > 0) {
        sample_shard_apply(&stand->shards[0], STAND_ROWS + 1); /* more than there were: cut */
    }
    assert_counts(stand, (CALLS + 3) * STAND_ROWS, CALLS * STAND_ROWS, 0, 3 * STAND_ROWS);
    train(stand, 0, 1);
    prefetch_stand_give_back(stand);
    assert_int_equal(stand->shards[0].update_count, 1);
}

TEST_IN(prefetch_stand, stand, a_table_without_priorities_hears_of_none)
{
    static const aq_table_spec uniform = {.name = "main", .selector = AQ_SELECTOR_UNIFORM};
    static const aq_table_spec removed_by_priority = {
        .name = "main", .selector = AQ_SELECTOR_UNIFORM, .remover = AQ_REMOVER_LOWEST_PRIORITY};
    prefetch_stand_create(stand, &uniform, 0.4);
    prefetch_stand_add(stand, 0);
    train(stand, 0, 1);
    prefetch_stand_give_back(stand);
    assert_int_equal(stand->shards[0].update_count, 0);
    assert_counts(stand, 0, 0, 0, 0);

    prefetch_stand_remove(stand, 0);
    sample_shard_close(&stand->shards[0]);
    sample_shard_init(&stand->shards[0]);
    stand->shards[0].incarnation = 1;
    prefetch_stand_create(stand, &removed_by_priority, 0.4);
    prefetch_stand_add(stand, 0);
    train(stand, 0, 1);
    prefetch_stand_give_back(stand);
    assert_int_equal(stand->shards[0].update_count, 1);
}

TEST_IN(prefetch_stand, stand, requests_name_the_table)
{
    static const aq_table_spec recent = {.name = "recent", .selector = AQ_SELECTOR_PRIORITIZED};
    prefetch_stand_create(stand, &recent, 0.4);
    prefetch_stand_add(stand, 0);
    prefetch_stand_pass(stand, 1);
    assert_string_equal(stand->shards[0].calls[0]->table, "recent");
    train(stand, 0, 1);
    prefetch_stand_give_back(stand);
    assert_string_equal(stand->shards[0].updates[0]->table, "recent");
}

/* ---- sequences ----------------------------------------------------------------------------- */

TEST_IN(prefetch_stand, stand, a_table_of_sequences_brings_sequences)
{
    enum { STEPS_MAX = 3, STEPS = 2 };
    static const aq_table_spec table = {
        .name = "main", .selector = AQ_SELECTOR_PRIORITIZED, .sequence_length = STEPS_MAX};
    aq_batch *sequences = NULL;
    assert_int_equal(aq_batch_create(&stand->kit.layout, STEPS_MAX, STAND_ROWS, &sequences), 0);
    aq_batch_fit(sequences, STEPS);
    sequences->rows = STAND_ROWS;
    for (uint32_t row = 0; row < STAND_ROWS; row++) {
        sequences->length[row] = STEPS;
        sequences->weight[row] = 0.5f;
        sequences->item[row] = row;
        sequences->reward[row * STEPS + 1] = 7;
    }
    prefetch_stand_create(stand, &table, 0.4);
    prefetch_stand_add(stand, 0);
    prefetch_stand_pass(stand, 1);
    sample_shard_answer(&stand->shards[0], 0, sequences, 1);
    assert_int_equal(stand->troubles, 0);
    assert_int_equal(stand->ready_count, 1);
    assert_int_equal(stand->ready[0]->steps, STEPS);
    assert_int_equal(stand->ready[0]->length[STAND_ROWS - 1], STEPS);
    assert_true(stand->ready[0]->reward[(STAND_ROWS - 1) * STEPS + 1] == 7);
    aq_batch_destroy(sequences);
}

TEST_IN(prefetch_stand, stand, create_survives_every_failed_allocation)
{
    static const aq_table_spec table = {.name = "main", .selector = AQ_SELECTOR_PRIORITIZED};
    const aq_prefetch_owner owner = {.user = stand};
    const aq_prefetch_config config = {.table = table,
                                       .batch_rows = 1,
                                       .batch_count = 1,
                                       .in_flight = 2,
                                       .wait_ms = 1,
                                       .timeout_ms = 2};
    uint64_t nth = 0;
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        aq_prefetch *const untouched = (aq_prefetch *)(void *)&nth;
        aq_prefetch *prefetch = untouched;
        nth++;
        rc = aq_prefetch_create(&config, &stand->kit.layout, &owner, &prefetch);
        assert_int_equal(prefetch == untouched, rc != 0);
        aq_prefetch_destroy(rc == 0 ? prefetch : NULL);
    }
    assert_int_equal(nth, 4 + 4 + 1 + 1); /* itself and its lists, groups, priorities */
    aq_prefetch_destroy(NULL);
}
