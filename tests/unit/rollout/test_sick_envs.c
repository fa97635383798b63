/*
 * Trials and the evaluator in environments that fail: what is played again, and what is given up.
 */
#include "rollout/evaluator_core.h"
#include "tests/support/test.h"
#include "tests/unit/rollout/tally_env.h"

enum { EPISODES = 100, SCREEN = 10 };
#define SEED UINT64_C(5)

static aq_trial_result trial_in(const char *options, uint32_t lanes, bool has_policy)
{
    aq_env *env = tally_open(&tally_env, options);
    aq_engine *engine = has_policy ? tally_engine(env, 1, 1, EPISODES) : NULL;
    aq_trial_result result = tally_trial(env, engine, lanes, EPISODES, SEED);
    aq_env_unref(env);
    return result;
}

/* The second time with actions at random. */
TEST(an_episode_that_failed_is_played_again)
{
    for (int has_policy = 1; has_policy >= 0; has_policy--) {
        aq_trial_result healthy = trial_in("", 3, has_policy);
        for (uint32_t lanes = 1; lanes <= 4; lanes++) {
            aq_trial_result sick = trial_in("?fail_once=3", lanes, has_policy);
            assert_true(sick.return_mean == healthy.return_mean);
            assert_true(sick.return_std == healthy.return_std);
            assert_int_equal(sick.drawn_anew, 0);
        }
    }
}

/* In a step, or before there is any: whatever the lanes, the same others stand in their places. */
TEST(an_episode_that_fails_by_its_numbers_is_drawn_anew)
{
    static const char *const rows[] = {"?fail_percent=20", "?lose_percent=20"};
    EACH_ROW(i, rows) {
        const aq_trial_result one = trial_in(rows[i], 1, true);
        assert_in_range(one.drawn_anew, 8, 35);
        assert_int_equal(one.episodes, EPISODES);
        for (uint32_t lanes = 2; lanes <= 4; lanes++) {
            const aq_trial_result other = trial_in(rows[i], lanes, true);
            assert_true(other.return_mean == one.return_mean);
            assert_true(other.return_std == one.return_std);
            assert_int_equal(other.drawn_anew, one.drawn_anew);
        }
    }
}

TEST(an_environment_that_always_fails_is_given_up)
{
    aq_env *sick = tally_open(&tally_env, "?fail_step=1");
    aq_engine *engine = tally_engine(sick, 1, 1, EPISODES);
    aq_evaluation result = {.version = 77};
    assert_refused(aq_evaluate(sick, engine, EPISODES, SEED, &result, &refusal), AQ_E_PEER,
                   "fails too often");
    assert_says(refusal.text, "test:Tally?fail_step=1");
    assert_int_equal(result.version, 77);
    aq_env_unref(sick);
}

TEST(an_environment_that_does_not_come_back_is_given_up)
{
    aq_env_task task = tally_task("?fail_resets=1000");
    aq_engine *engine = tally_engine(task.env, 1, 1, EPISODES);
    aq_trial *trial = NULL;
    int64_t now_ns = 0;
    enum aq_trial_state outcome;
    assert_int_equal(aq_trial_create(&task, 1, 1, &trial, NULL), 0);
    aq_trial_start(trial, 1, SEED);
    do {
        outcome = aq_trial_step(trial, engine, now_ns);
        now_ns = aq_trial_due_ns(trial);
    } while (outcome == AQ_TRIAL_GOES_ON);
    assert_int_equal(outcome, AQ_TRIAL_FAILED);
    assert_true(now_ns > INT64_C(60000000000) && now_ns < INT64_C(90000000000));
    assert_says(aq_trial_failure(trial), "could not be reset");
    aq_trial_destroy(trial);
    aq_env_task_fini(&task);
}

/* Each call takes longer than lanes may stand still, in steps that fail and before resets, too. */
TEST(a_failure_that_takes_long_is_no_standstill)
{
    static const char *const rows[] = {"?fail_once=3", "?fail_once=3&fail_resets=1"};
    EACH_ROW(i, rows) {
        aq_env_task task = tally_task(rows[i]);
        aq_trial *trial = NULL;
        int64_t now_ns = 0;
        enum aq_trial_state outcome;
        assert_int_equal(aq_trial_create(&task, SCREEN, 1, &trial, NULL), 0);
        aq_env_task_fini(&task);
        aq_trial_start(trial, SCREEN, SEED);
        do {
            outcome = aq_trial_step(trial, NULL, now_ns);
            now_ns += INT64_C(100000000000);
        } while (outcome == AQ_TRIAL_GOES_ON);
        assert_int_equal(outcome, AQ_TRIAL_DONE);
        assert_true(aq_trial_failures(trial) > 0);
        aq_trial_destroy(trial);
    }
}

TEST(an_evaluator_gives_a_version_up_and_takes_the_next)
{
    aq_env_task sick = tally_task("?fail_step=1");
    aq_engine *engine = tally_engine(sick.env, 1, 4, EPISODES);
    aq_evaluator_core *core = NULL;
    aq_evaluation result;
    assert_int_equal(aq_evaluator_core_create(&sick, SCREEN, EPISODES, 0.0, SEED, &core, NULL), 0);
    assert_true(aq_evaluator_core_due_ns(core) == INT64_MAX);
    for (uint64_t round = 1; round <= 2; round++) {
        int64_t now_ns = 0;
        (void)aq_evaluator_core_set_engine(core, engine);
        while (!aq_evaluator_core_idle(core)) {
            assert_false(aq_evaluator_core_run(core, now_ns, &result));
            now_ns += INT64_C(1000000000);
        }
        assert_int_equal(aq_evaluator_core_failures(core), round);
    }
    assert_in_range(aq_trial_failures(aq_evaluator_core_trial(core)), 2 * 8, 2 * 8 * SCREEN);
    assert_says(aq_trial_failure(aq_evaluator_core_trial(core)), "failed in a step");
    (void)aq_evaluator_core_set_engine(core, NULL);
    aq_evaluator_core_destroy(core);
    aq_env_task_fini(&sick);
}
