/*
 * How far the run is and when it ends: environment steps over restarts of shards and of the
 * learner, evaluations, limits.
 */
#include <math.h>
#include <stdio.h>

#include "common/base/clock.h"
#include "learner/run/coordinator.h"
#include "tests/support/test.h"

static aq_coordinator *create(double threshold, double wall_limit_s)
{
    aq_coordinator_config config = {.member_timeout_ns = AQ_NS_PER_S,
                                    .env_steps_limit = 1000,
                                    .wall_limit_s = wall_limit_s,
                                    .threshold = threshold};
    aq_coordinator *coordinator = NULL;
    assert_int_equal(aq_coordinator_create(&config, 0, &coordinator), 0);
    return coordinator;
}

static int setup(void **state)
{
    *state = create(475, 0);
    return 0;
}

static int teardown(void **state)
{
    aq_coordinator_destroy(*state);
    return 0;
}

/* The process `incarnation` with that store, as a member. */
static const aq_member_record *join_shard(aq_coordinator *coordinator, uint64_t incarnation,
                                          uint64_t store)
{
    aq_member_record record = {.role = AQ_ROLE_REPLAY, .incarnation = incarnation, .store = store};
    const aq_member_record *joined = NULL;
    uint64_t replaced[AQ_REPLACED_MAX];
    snprintf(record.rpc_url, sizeof(record.rpc_url), "tcp://a:%u", (unsigned)incarnation);
    assert_int_equal(aq_coordinator_join(coordinator, 0, &record, &joined, replaced, NULL), 0);
    return joined;
}

static void leave(aq_coordinator *coordinator, const aq_member_record *record)
{
    assert_true(aq_coordinator_leave(coordinator, record->member, record->incarnation));
}

/* ---- steps --------------------------------------------------------------------------------- */

TEST_WITH(steps_are_the_sum_over_shards, setup, teardown)
{
    assert_int_equal(aq_coordinator_env_steps(*state), 0);
    join_shard(*state, 1, 100);
    join_shard(*state, 2, 200);
    aq_coordinator_progress(*state, 1, 100);
    aq_coordinator_progress(*state, 2, 30);
    assert_int_equal(aq_coordinator_env_steps(*state), 130);
}

TEST_WITH(the_count_of_a_shard_only_grows, setup, teardown)
{
    join_shard(*state, 1, 100);
    aq_coordinator_progress(*state, 1, 100);
    aq_coordinator_progress(*state, 1, 90); /* an answer that was overtaken */
    assert_int_equal(aq_coordinator_env_steps(*state), 100);
    aq_coordinator_progress(*state, 1, 110);
    assert_int_equal(aq_coordinator_env_steps(*state), 110);
}

TEST_WITH(what_is_said_by_nobody_in_the_run_does_not_count, setup, teardown)
{
    aq_coordinator_progress(*state, 1, 100);
    assert_int_equal(aq_coordinator_env_steps(*state), 0);
}

TEST_WITH(a_restarted_shard_goes_on_with_the_total_of_its_store, setup, teardown)
{
    join_shard(*state, 1, 100);
    aq_coordinator_progress(*state, 1, 70);
    join_shard(*state, 2, 100); /* started again: the same store */
    assert_int_equal(aq_coordinator_env_steps(*state), 70);
    aq_coordinator_progress(*state, 2, 75); /* all its lives together */
    assert_int_equal(aq_coordinator_env_steps(*state), 75);
}

TEST_WITH(a_shard_in_memory_adds_to_what_its_earlier_life_brought, setup, teardown)
{
    const aq_member_record *shard = join_shard(*state, 1, 100);
    aq_coordinator_progress(*state, 1, 70);
    leave(*state, shard);
    join_shard(*state, 2, 200);
    aq_coordinator_progress(*state, 2, 5);
    assert_int_equal(aq_coordinator_env_steps(*state), 75);
}

TEST_WITH(what_a_shard_brought_that_left_stays, setup, teardown)
{
    const aq_member_record *shard = join_shard(*state, 1, 100);
    aq_coordinator_progress(*state, 1, 70);
    leave(*state, shard);
    assert_int_equal(aq_coordinator_env_steps(*state), 70);
    aq_coordinator_progress(*state, 1, 80); /* an answer that came too late */
    assert_int_equal(aq_coordinator_env_steps(*state), 70);
    join_shard(*state, 2, 100);
    aq_coordinator_progress(*state, 2, 80);
    assert_int_equal(aq_coordinator_env_steps(*state), 80);
}

/* The learner's checkpoint is of a moment when the store had less; then both die. */
TEST_WITH(nothing_is_lost_when_learner_and_shard_die_together, setup, teardown)
{
    aq_coordinator *later = create(475, 0);
    aq_shard_count counts[AQ_SHARDS_MAX];
    uint64_t base = 7;
    join_shard(*state, 1, 100);
    join_shard(*state, 2, 200);
    aq_coordinator_progress(*state, 1, 60);
    aq_coordinator_progress(*state, 2, 30);
    size_t count = aq_coordinator_shard_counts(*state, counts, &base);
    assert_int_equal(count, 2);
    assert_int_equal(base, 0);
    aq_coordinator_progress(*state, 1, 90); /* not in the checkpoint */

    aq_coordinator_restore_counts(later, counts, count, base);
    assert_int_equal(aq_coordinator_env_steps(later), 90);
    assert_int_equal(join_shard(later, 12, 200)->slot, 1); /* each at its slot */
    assert_int_equal(join_shard(later, 11, 100)->slot, 0);
    aq_coordinator_progress(later, 11, 95);
    assert_int_equal(aq_coordinator_env_steps(later), 125);
    aq_coordinator_destroy(later);
}

TEST_WITH(nothing_to_restore_is_fine, setup, teardown)
{
    aq_coordinator_restore_counts(*state, NULL, 0, 40);
    assert_int_equal(aq_coordinator_env_steps(*state), 40);
}

TEST_WITH(the_total_survives_any_number_of_restarts, setup, teardown)
{
    aq_shard_count counts[AQ_SHARDS_MAX];
    uint64_t base = 0;
    uint64_t expected = 0;
    join_shard(*state, 1, 1);
    aq_coordinator_progress(*state, 1, 1);
    for (uint64_t life = 2; life <= 300; life++) { /* in memory: each has a store of its own */
        const aq_member_record *shard = join_shard(*state, life, life);
        aq_coordinator_progress(*state, life, life);
        leave(*state, shard);
        expected += life;
    }
    assert_int_equal(aq_coordinator_env_steps(*state), 1 + expected);
    /* The one that lives was never merged with the dead. */
    aq_coordinator_progress(*state, 1, 50);
    assert_int_equal(aq_coordinator_env_steps(*state), 50 + expected);
    assert_int_equal(aq_coordinator_shard_counts(*state, counts, &base), AQ_SHARDS_MAX);
    assert_true(base > 0);
    assert_int_equal(counts[0].store, 1);
}

TEST_WITH(as_many_live_shards_as_there_can_be_are_all_counted, setup, teardown)
{
    for (uint64_t dead = 1000; dead < 1100; dead++) {
        const aq_member_record *shard = join_shard(*state, dead, dead);
        aq_coordinator_progress(*state, dead, 1);
        leave(*state, shard);
    }
    for (uint64_t i = 1; i <= AQ_SHARDS_MAX; i++) {
        join_shard(*state, i, i);
        aq_coordinator_progress(*state, i, 10);
    }
    for (uint64_t i = 1; i <= AQ_SHARDS_MAX; i++) {
        aq_coordinator_progress(*state, i, 20);
    }
    assert_int_equal(aq_coordinator_env_steps(*state), 100 + 20 * AQ_SHARDS_MAX);
}

TEST_WITH(a_count_that_can_not_be_is_passed_over, setup, teardown)
{
    join_shard(*state, 1, 1);
    join_shard(*state, 2, 2);
    aq_coordinator_progress(*state, 1, 10);
    aq_coordinator_progress(*state, 1, UINT64_MAX);
    aq_coordinator_progress(*state, 2, AQ_SHARD_INSERTED_MAX + 1);
    assert_int_equal(aq_coordinator_env_steps(*state), 10);
    assert_int_equal(aq_coordinator_tick(*state, 0), AQ_RUN_RUNNING);
    aq_coordinator_progress(*state, 1, AQ_SHARD_INSERTED_MAX);
    assert_true(aq_coordinator_env_steps(*state) == AQ_SHARD_INSERTED_MAX);
}

/* ---- evaluations --------------------------------------------------------------------------- */

static aq_evaluation_result result(uint64_t version, double mean, bool confirmed)
{
    return (aq_evaluation_result){
        .version = version, .episodes = 10, .return_mean = mean, .confirmed = confirmed};
}

static bool evaluate(aq_coordinator *coordinator, uint64_t version, double mean, bool confirmed)
{
    aq_evaluation_result made = result(version, mean, confirmed);
    return aq_coordinator_evaluated(coordinator, &made, true);
}

TEST_WITH(there_is_no_best_before_the_first_evaluation, setup, teardown)
{
    assert_null(aq_coordinator_latest(*state));
    assert_null(aq_coordinator_best(*state));
    assert_int_equal(aq_coordinator_evaluations(*state), 0);
}

TEST_WITH(the_greater_mean_is_the_best_and_the_last_is_the_latest, setup, teardown)
{
    assert_true(evaluate(*state, 1, -5, false));
    assert_true(evaluate(*state, 2, 20, false));
    assert_false(evaluate(*state, 3, 10, false));
    assert_false(evaluate(*state, 4, 20, false)); /* no better than what is kept */
    assert_int_equal(aq_coordinator_best(*state)->version, 2);
    assert_int_equal(aq_coordinator_latest(*state)->version, 4);
    assert_int_equal(aq_coordinator_evaluations(*state), 4);
}

TEST_WITH(a_confirmed_one_beats_any_screening, setup, teardown)
{
    assert_true(evaluate(*state, 1, 400, false));
    assert_true(evaluate(*state, 2, 100, true));
    assert_false(evaluate(*state, 3, 450, false));
    assert_int_equal(aq_coordinator_best(*state)->version, 2);
    assert_true(evaluate(*state, 4, 101, true));
    assert_int_equal(aq_coordinator_best(*state)->version, 4);
}

TEST_WITH(only_a_confirmed_mean_at_the_threshold_solves, setup, teardown)
{
    evaluate(*state, 1, 500, false);
    evaluate(*state, 2, 474.9, true);
    assert_int_equal(aq_coordinator_state(*state), AQ_RUN_RUNNING);
    assert_true(evaluate(*state, 3, 475, true));
    assert_int_equal(aq_coordinator_state(*state), AQ_RUN_SOLVED);
    assert_int_equal(aq_coordinator_tick(*state, 0), AQ_RUN_SOLVED);
}

TEST_WITH(a_mean_that_may_lie_above_the_threshold_by_luck_does_not_solve, setup, teardown)
{
    aq_evaluation_result lucky = result(1, 484, true);
    lucky.episodes = 100;
    lucky.return_std = 31;                                       /* three standard errors are 9.3 */
    assert_true(aq_coordinator_evaluated(*state, &lucky, true)); /* it is the best so far */
    assert_int_equal(aq_coordinator_state(*state), AQ_RUN_RUNNING);
    lucky.return_std = 30; /* and here they are 9 */
    aq_coordinator_evaluated(*state, &lucky, true);
    assert_int_equal(aq_coordinator_state(*state), AQ_RUN_SOLVED);
}

TEST_WITH(without_a_threshold_nothing_solves, setup, teardown)
{
    aq_coordinator *coordinator = create(NAN, 0);
    assert_true(evaluate(coordinator, 1, 1e9, true));
    assert_int_equal(aq_coordinator_state(coordinator), AQ_RUN_RUNNING);
    aq_coordinator_destroy(coordinator);
}

TEST_WITH(a_policy_that_is_gone_is_neither_the_best_nor_the_end, setup, teardown)
{
    aq_evaluation_result gone = result(2, 500, true);
    evaluate(*state, 1, 10, false);
    assert_false(aq_coordinator_evaluated(*state, &gone, false));
    assert_int_equal(aq_coordinator_state(*state), AQ_RUN_RUNNING);
    assert_int_equal(aq_coordinator_best(*state)->version, 1);
    assert_int_equal(aq_coordinator_latest(*state)->version, 2);
    assert_int_equal(aq_coordinator_evaluations(*state), 2);
    assert_true(evaluate(*state, 3, 11, false)); /* a later, lesser one can still be kept */
}

TEST_WITH(nothing_counts_after_the_end, setup, teardown)
{
    evaluate(*state, 1, 475, true);
    assert_false(evaluate(*state, 2, 500, true));
    assert_int_equal(aq_coordinator_best(*state)->version, 1);
    assert_int_equal(aq_coordinator_latest(*state)->version, 1);
    assert_int_equal(aq_coordinator_evaluations(*state), 1);
}

TEST_WITH(the_best_of_an_earlier_process_must_be_beaten, setup, teardown)
{
    aq_evaluation_result before = result(7, 300, true);
    aq_coordinator_restore_best(*state, &before);
    assert_int_equal(aq_coordinator_best(*state)->version, 7);
    assert_null(aq_coordinator_latest(*state));
    assert_false(evaluate(*state, 1030, 299, true));
    assert_false(evaluate(*state, 1031, 400, false));
    assert_true(evaluate(*state, 1032, 301, true));
}

/* ---- limits -------------------------------------------------------------------------------- */

TEST_WITH(the_run_ends_with_its_last_step, setup, teardown)
{
    join_shard(*state, 1, 1);
    aq_coordinator_progress(*state, 1, 999);
    assert_int_equal(aq_coordinator_tick(*state, 1), AQ_RUN_RUNNING);
    aq_coordinator_progress(*state, 1, 1000);
    assert_int_equal(aq_coordinator_state(*state), AQ_RUN_RUNNING); /* a tick decides */
    assert_int_equal(aq_coordinator_tick(*state, 1), AQ_RUN_BUDGET);
}

TEST_WITH(the_time_of_earlier_processes_counts, setup, teardown)
{
    aq_coordinator *coordinator = create(NAN, 10);
    aq_coordinator_restore_wall(coordinator, 6.5);
    assert_true(aq_coordinator_wall_s(coordinator, 2 * AQ_NS_PER_S) == 8.5);
    assert_int_equal(aq_coordinator_tick(coordinator, 3 * AQ_NS_PER_S), AQ_RUN_RUNNING);
    assert_int_equal(aq_coordinator_tick(coordinator, 35 * AQ_NS_PER_S / 10), AQ_RUN_BUDGET);
    aq_coordinator_destroy(coordinator);
}

TEST_WITH(without_a_limit_time_does_not_end_a_run, setup, teardown)
{
    assert_int_equal(aq_coordinator_tick(*state, INT64_MAX / 2), AQ_RUN_RUNNING);
}

TEST(the_run_ends_with_its_last_gradient_step)
{
    aq_coordinator_config config = {.member_timeout_ns = AQ_NS_PER_S,
                                    .env_steps_limit = 1000,
                                    .learner_steps_limit = 50,
                                    .threshold = NAN};
    aq_coordinator *coordinator = NULL;
    assert_int_equal(aq_coordinator_create(&config, 0, &coordinator), 0);
    aq_coordinator_trained(coordinator, 49);
    assert_int_equal(aq_coordinator_tick(coordinator, 0), AQ_RUN_RUNNING);
    aq_coordinator_trained(coordinator, 50);
    assert_int_equal(aq_coordinator_tick(coordinator, 0), AQ_RUN_BUDGET);
    aq_coordinator_destroy(coordinator);
}

TEST_WITH(without_a_limit_gradient_steps_do_not_end_a_run, setup, teardown)
{
    aq_coordinator_trained(*state, UINT64_MAX);
    assert_int_equal(aq_coordinator_tick(*state, 0), AQ_RUN_RUNNING);
}

TEST_WITH(the_first_end_is_the_one_that_stays, setup, teardown)
{
    aq_coordinator_stop(*state);
    assert_int_equal(aq_coordinator_state(*state), AQ_RUN_STOPPED);
    join_shard(*state, 1, 1);
    aq_coordinator_progress(*state, 1, 5000);
    assert_int_equal(aq_coordinator_tick(*state, 1), AQ_RUN_STOPPED);

    aq_coordinator *solved = create(1, 0);
    evaluate(solved, 1, 2, true);
    aq_coordinator_stop(solved);
    assert_int_equal(aq_coordinator_state(solved), AQ_RUN_SOLVED);
    aq_coordinator_destroy(solved);
}

TEST_WITH(a_run_that_diverged_ends_as_such, setup, teardown)
{
    aq_coordinator_diverge(*state);
    assert_int_equal(aq_coordinator_tick(*state, 1), AQ_RUN_DIVERGED);
    aq_coordinator_stop(*state);
    assert_int_equal(aq_coordinator_state(*state), AQ_RUN_DIVERGED);
}
