/*
 * How far the run is and when it ends: environment steps over restarts of shards and of the
 * learner, evaluations, limits.
 */
#include "common/config/table_spec.h"
#include "common/policy/format.h"
#include "learner/run/coordinator.h"
#include "tests/support/test.h"

static aq_coordinator *create_by(const aq_coordinator_config *limits)
{
    aq_coordinator_config config = *limits;
    aq_coordinator *coordinator = NULL;
    config.member_timeout_ns = AQ_NS_PER_S;
    assert_int_equal(aq_coordinator_create(&config, 0, &coordinator), 0);
    return coordinator;
}

static aq_coordinator *create(double threshold, double wall_limit_s)
{
    return create_by(&(aq_coordinator_config){
        .env_steps_limit = 1000, .threshold = threshold, .wall_limit_s = wall_limit_s});
}

#define TEST_OF_RUN(name) TEST_OF(name, aq_coordinator *run, create(475, 0), aq_coordinator_destroy)

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

TEST_OF_RUN(steps_are_the_sum_over_shards)
{
    assert_int_equal(aq_coordinator_env_steps(run), 0);
    join_shard(run, 1, 100);
    join_shard(run, 2, 200);
    aq_coordinator_progress(run, 1, 100);
    aq_coordinator_progress(run, 2, 30);
    assert_int_equal(aq_coordinator_env_steps(run), 130);
}

TEST_OF_RUN(a_restarted_shard_goes_on_with_the_total_of_its_store)
{
    join_shard(run, 1, 100);
    aq_coordinator_progress(run, 1, 70);
    join_shard(run, 2, 100); /* started again: the same store */
    assert_int_equal(aq_coordinator_env_steps(run), 70);
    aq_coordinator_progress(run, 2, 75); /* all its lives together */
    assert_int_equal(aq_coordinator_env_steps(run), 75);
}

TEST_OF_RUN(a_shard_in_memory_adds_to_what_its_earlier_life_brought)
{
    const aq_member_record *shard = join_shard(run, 1, 100);
    aq_coordinator_progress(run, 1, 70);
    leave(run, shard);
    join_shard(run, 2, 200);
    aq_coordinator_progress(run, 2, 5);
    assert_int_equal(aq_coordinator_env_steps(run), 75);
}

TEST_OF_RUN(what_a_shard_brought_that_left_stays)
{
    const aq_member_record *shard = join_shard(run, 1, 100);
    aq_coordinator_progress(run, 1, 70);
    leave(run, shard);
    assert_int_equal(aq_coordinator_env_steps(run), 70);
    aq_coordinator_progress(run, 1, 80); /* an answer that came too late */
    assert_int_equal(aq_coordinator_env_steps(run), 70);
    join_shard(run, 2, 100);
    aq_coordinator_progress(run, 2, 80);
    assert_int_equal(aq_coordinator_env_steps(run), 80);
}

TEST_OF_RUN(nothing_to_restore_is_fine)
{
    aq_coordinator_restore_counts(run, NULL, 0, 40);
    assert_int_equal(aq_coordinator_env_steps(run), 40);
}

TEST_OF_RUN(as_many_live_shards_as_there_can_be_are_all_counted)
{
    for (uint64_t dead = 1000; dead < 1100; dead++) {
        const aq_member_record *shard = join_shard(run, dead, dead);
        aq_coordinator_progress(run, dead, 1);
        leave(run, shard);
    }
    for (uint64_t i = 1; i <= AQ_SHARDS_MAX; i++) {
        join_shard(run, i, i);
        aq_coordinator_progress(run, i, 10);
    }
    for (uint64_t i = 1; i <= AQ_SHARDS_MAX; i++) {
        aq_coordinator_progress(run, i, 20);
    }
    assert_int_equal(aq_coordinator_env_steps(run), 100 + 20 * AQ_SHARDS_MAX);
}

/* ---- evaluations --------------------------------------------------------------------------- */

static aq_evaluation_result result(uint64_t version, double mean, bool confirmed)
{
    return (aq_evaluation_result){.version = version,
                                  .format = AQ_FORMAT_F32,
                                  .episodes = 10,
                                  .return_mean = mean,
                                  .confirmed = confirmed};
}

static bool evaluate(aq_coordinator *coordinator, uint64_t version, double mean, bool confirmed)
{
    aq_evaluation_result made = result(version, mean, confirmed);
    return aq_coordinator_evaluated(coordinator, &made, true);
}

TEST_OF_RUN(there_is_no_best_before_the_first_evaluation)
{
    assert_null(aq_coordinator_latest(run));
    assert_null(aq_coordinator_best(run));
    assert_int_equal(aq_coordinator_evaluations(run), 0);
}

TEST_OF_RUN(the_greater_mean_is_the_best_and_the_last_is_the_latest)
{
    assert_true(evaluate(run, 1, -5, false));
    assert_true(evaluate(run, 2, 20, false));
    assert_false(evaluate(run, 3, 10, false));
    assert_false(evaluate(run, 4, 20, false)); /* no better than what is kept */
    assert_int_equal(aq_coordinator_best(run)->version, 2);
    assert_int_equal(aq_coordinator_latest(run)->version, 4);
    assert_int_equal(aq_coordinator_evaluations(run), 4);
}

TEST_OF_RUN(a_confirmed_one_beats_any_screening)
{
    assert_true(evaluate(run, 1, 400, false));
    assert_true(evaluate(run, 2, 100, true));
    assert_false(evaluate(run, 3, 450, false));
    assert_int_equal(aq_coordinator_best(run)->version, 2);
    assert_true(evaluate(run, 4, 101, true));
    assert_int_equal(aq_coordinator_best(run)->version, 4);
}

TEST_OF_RUN(only_a_confirmed_mean_at_the_threshold_solves)
{
    evaluate(run, 1, 500, false);
    evaluate(run, 2, 474.9, true);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_RUNNING);
    assert_true(evaluate(run, 3, 475, true));
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_SOLVED);
    assert_int_equal(aq_coordinator_tick(run, 0), AQ_RUN_SOLVED);
}

TEST_OF_RUN(a_mean_that_may_lie_above_the_threshold_by_luck_does_not_solve)
{
    aq_evaluation_result lucky = result(1, 484, true);
    lucky.episodes = 100;
    lucky.return_std = 31;                                    /* three standard errors are 9.3 */
    assert_true(aq_coordinator_evaluated(run, &lucky, true)); /* it is the best so far */
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_RUNNING);
    lucky.return_std = 30; /* and here they are 9 */
    aq_coordinator_evaluated(run, &lucky, true);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_SOLVED);
}

TEST_OF_RUN(what_is_good_in_one_form_alone_does_not_solve)
{
    aq_evaluation_result both = result(1, 480, true);
    both.in_both = true;
    both.fp32_mean = 474;
    aq_coordinator_evaluated(run, &both, true);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_RUNNING);
    both.version = 2;
    both.fp32_mean = 475;
    aq_coordinator_evaluated(run, &both, true);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_SOLVED);
}

/* The evaluator was interrupted before it had the other form. */
TEST_OF_RUN(what_was_not_played_in_fp32_does_not_solve)
{
    aq_evaluation_result alone = result(1, 480, true);
    alone.format = AQ_FORMAT_INT8_CHANNEL;
    assert_true(aq_coordinator_evaluated(run, &alone, true)); /* it is the best so far */
    alone.format = AQ_FORMAT_MIXED;
    aq_coordinator_evaluated(run, &alone, true);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_RUNNING);
    alone.in_both = true;
    alone.fp32_mean = 475;
    aq_coordinator_evaluated(run, &alone, true);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_SOLVED);
}

TEST_OF_RUN(a_result_that_only_ranks_neither_solves_nor_is_the_latest)
{
    aq_evaluation_result ranked = result(1, 500, true);
    ranked.ranks_only = true;
    evaluate(run, 1, 470, false);
    assert_true(aq_coordinator_evaluated(run, &ranked, true));
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_RUNNING);
    assert_true(aq_coordinator_best(run)->confirmed);
    assert_true(aq_coordinator_latest(run)->return_mean == 470);
    assert_int_equal(aq_coordinator_evaluations(run), 1);
}

TEST_OF_RUN(the_leader_is_a_screening_that_leads_or_the_best)
{
    const aq_evaluation_result low = result(8, 90, false), high = result(9, 110, false);
    assert_int_equal(aq_coordinator_leader(run, &low, false), 0);
    assert_int_equal(aq_coordinator_leader(run, &low, true), 8);
    evaluate(run, 7, 100, true);
    assert_int_equal(aq_coordinator_leader(run, &low, true), 7);
    assert_int_equal(aq_coordinator_leader(run, &high, true), 9);
    assert_int_equal(aq_coordinator_leader(run, &high, false), 7); /* it cannot be kept */
}

TEST_OF_RUN(a_screening_far_above_the_best_is_its_heir_until_it_was_played_afresh)
{
    aq_evaluation_result far = result(8, 130, false);
    evaluate(run, 7, 100, true);
    assert_null(aq_coordinator_heir(run));
    far.episodes = 100;
    far.return_std = 101; /* three standard errors are 30.3 */
    aq_coordinator_evaluated(run, &far, true);
    assert_null(aq_coordinator_heir(run));
    far.return_std = 99; /* and here they are 29.7 */
    aq_coordinator_evaluated(run, &far, false);
    assert_null(aq_coordinator_heir(run)); /* it cannot be kept */
    aq_coordinator_evaluated(run, &far, true);
    assert_int_equal(aq_coordinator_heir(run)->version, 8);
    evaluate(run, 9, 90, false); /* does not lead */
    assert_int_equal(aq_coordinator_heir(run)->version, 8);
    evaluate(run, 8, 80, true);
    assert_null(aq_coordinator_heir(run));
    assert_int_equal(aq_coordinator_best(run)->version, 7);
}

/* Another evaluator's, which is no such heir, takes nothing from it. */
TEST_OF_RUN(the_greatest_of_the_screenings_that_lead_is_the_heir)
{
    evaluate(run, 7, 100, true);
    evaluate(run, 8, 400, false);
    evaluate(run, 9, 110, false);
    assert_int_equal(aq_coordinator_heir(run)->version, 8);
    evaluate(run, 8, 390, true);
    assert_int_equal(aq_coordinator_best(run)->version, 8);
}

/* Whoever could play it afresh is gone. */
TEST_OF_RUN(a_screening_that_an_end_left_gives_way_to_a_greater_mean_alone)
{
    const aq_evaluation_result left = result(8, 76, false);
    aq_coordinator_restore_best(run, &left);
    assert_false(evaluate(run, 9, 10, true));
    assert_int_equal(aq_coordinator_best(run)->version, 8);
    assert_true(evaluate(run, 10, 80, true));
    assert_true(evaluate(run, 11, 81, true));
}

TEST_OF_RUN(one_episode_solves_nothing)
{
    aq_evaluation_result made = result(1, 500, true);
    made.episodes = 1;
    aq_coordinator_evaluated(run, &made, true);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_RUNNING);
}

TEST_OF_RUN(what_solved_a_run_has_no_heir)
{
    evaluate(run, 1, 100, true);
    evaluate(run, 2, 600, false);
    assert_non_null(aq_coordinator_heir(run));
    evaluate(run, 3, 475, true);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_SOLVED);
    assert_null(aq_coordinator_heir(run));
}

TEST_OF(without_a_threshold_nothing_solves, aq_coordinator *coordinator, create(NAN, 0),
        aq_coordinator_destroy)
{
    assert_true(evaluate(coordinator, 1, 1e9, true));
    assert_int_equal(aq_coordinator_state(coordinator), AQ_RUN_RUNNING);
}

TEST_OF_RUN(a_policy_that_is_gone_is_neither_the_best_nor_the_end)
{
    aq_evaluation_result gone = result(2, 500, true);
    evaluate(run, 1, 10, false);
    assert_false(aq_coordinator_evaluated(run, &gone, false));
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_RUNNING);
    assert_int_equal(aq_coordinator_best(run)->version, 1);
    assert_int_equal(aq_coordinator_latest(run)->version, 2);
    assert_int_equal(aq_coordinator_evaluations(run), 2);
    assert_true(evaluate(run, 3, 11, false)); /* a later, lesser one can still be kept */
}

TEST_OF_RUN(nothing_counts_after_the_end)
{
    evaluate(run, 1, 475, true);
    assert_false(evaluate(run, 2, 500, true));
    assert_int_equal(aq_coordinator_best(run)->version, 1);
    assert_int_equal(aq_coordinator_latest(run)->version, 1);
    assert_int_equal(aq_coordinator_evaluations(run), 1);
}

/* Of a run that goes on in another process, which a good one must not end here. */
TEST_OF_RUN(nothing_counts_while_the_last_checkpoint_is_written)
{
    evaluate(run, 1, 470, true);
    aq_coordinator_end_evaluations(run);
    assert_false(evaluate(run, 2, 480, true));
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_RUNNING);
    assert_int_equal(aq_coordinator_best(run)->version, 1);
    assert_int_equal(aq_coordinator_evaluations(run), 1);
    aq_coordinator_stop(run);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_STOPPED);
}

TEST_OF_RUN(the_best_of_an_earlier_process_must_be_beaten)
{
    aq_evaluation_result before = result(7, 300, true);
    aq_coordinator_restore_best(run, &before);
    assert_int_equal(aq_coordinator_best(run)->version, 7);
    assert_null(aq_coordinator_latest(run));
    assert_false(evaluate(run, 1030, 299, true));
    assert_false(evaluate(run, 1031, 400, false));
    assert_true(evaluate(run, 1032, 301, true));
}

/* ---- limits -------------------------------------------------------------------------------- */

TEST_OF_RUN(the_run_ends_with_its_last_step)
{
    join_shard(run, 1, 1);
    aq_coordinator_progress(run, 1, 999);
    assert_int_equal(aq_coordinator_tick(run, 1), AQ_RUN_RUNNING);
    aq_coordinator_progress(run, 1, 1000);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_RUNNING); /* a tick decides */
    assert_int_equal(aq_coordinator_tick(run, 1), AQ_RUN_BUDGET);
}

TEST_OF(the_time_of_earlier_processes_counts, aq_coordinator *coordinator, create(NAN, 10),
        aq_coordinator_destroy)
{
    aq_coordinator_restore_wall(coordinator, 6.5);
    assert_true(aq_coordinator_wall_s(coordinator, 2 * AQ_NS_PER_S) == 8.5);
    assert_int_equal(aq_coordinator_tick(coordinator, 3 * AQ_NS_PER_S), AQ_RUN_RUNNING);
    assert_int_equal(aq_coordinator_tick(coordinator, 35 * AQ_NS_PER_S / 10), AQ_RUN_BUDGET);
}

TEST_OF_RUN(without_a_limit_time_does_not_end_a_run)
{
    assert_int_equal(aq_coordinator_tick(run, INT64_MAX / 2), AQ_RUN_RUNNING);
}

static const aq_coordinator_config fifty_steps = {.learner_steps_limit = 50, .threshold = NAN};

TEST_OF(the_run_ends_with_its_last_gradient_step, aq_coordinator *coordinator,
        create_by(&fifty_steps), aq_coordinator_destroy)
{
    aq_coordinator_trained(coordinator, 49);
    assert_int_equal(aq_coordinator_tick(coordinator, 0), AQ_RUN_RUNNING);
    aq_coordinator_trained(coordinator, 50);
    assert_int_equal(aq_coordinator_tick(coordinator, 0), AQ_RUN_BUDGET);
}

TEST_OF(without_a_limit_steps_do_not_end_a_run, aq_coordinator *coordinator,
        create_by(&fifty_steps), aq_coordinator_destroy)
{
    join_shard(coordinator, 1, 1);
    aq_coordinator_progress(coordinator, 1, UINT64_MAX);
    assert_int_equal(aq_coordinator_tick(coordinator, 0), AQ_RUN_RUNNING);
}

TEST_OF_RUN(without_a_limit_gradient_steps_do_not_end_a_run)
{
    aq_coordinator_trained(run, UINT64_MAX);
    assert_int_equal(aq_coordinator_tick(run, 0), AQ_RUN_RUNNING);
}

TEST_OF_RUN(the_first_end_is_the_one_that_stays)
{
    aq_coordinator_stop(run);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_STOPPED);
    join_shard(run, 1, 1);
    aq_coordinator_progress(run, 1, 5000);
    assert_int_equal(aq_coordinator_tick(run, 1), AQ_RUN_STOPPED);

    aq_coordinator *solved = create(1, 0);
    evaluate(solved, 1, 2, true);
    aq_coordinator_stop(solved);
    assert_int_equal(aq_coordinator_state(solved), AQ_RUN_SOLVED);
    aq_coordinator_destroy(solved);
}

TEST_OF_RUN(a_run_that_diverged_ends_as_such)
{
    aq_coordinator_diverge(run);
    assert_int_equal(aq_coordinator_tick(run, 1), AQ_RUN_DIVERGED);
    aq_coordinator_stop(run);
    assert_int_equal(aq_coordinator_state(run), AQ_RUN_DIVERGED);
}
