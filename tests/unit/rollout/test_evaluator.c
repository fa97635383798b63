/*
 * Trials and the evaluator: which episodes are played, what becomes of their returns, and when a
 * version is confirmed.
 */
#include "rollout/evaluator_core.h"
#include "rollout/trial.h"
#include "rollout/vec_env.h"
#include "tests/support/test.h"
#include "tests/unit/rollout/tally_env.h"

enum { EPISODES = 100, SCREEN = 10 };
#define SEED UINT64_C(5)

static aq_env *tally; /* open while the tests run */
static aq_env_task acted_in;

static int open_tally(void **state)
{
    (void)state;
    acted_in = tally_task("");
    tally = acted_in.env;
    return 0;
}

static int close_tally(void **state)
{
    (void)state;
    aq_env_task_fini(&acted_in);
    return 0;
}

/* Always plays `choice`. */
static aq_engine *engine_of(uint32_t choice, uint64_t version)
{
    return tally_engine(tally, choice, version, EPISODES);
}

/* The return of episode `number` under a constant choice, played alone. */
static double played_alone(uint64_t seed, uint64_t number, int32_t choice)
{
    aq_env_task task = tally_task("");
    aq_vec_env *vec = NULL;
    assert_int_equal(aq_vec_env_create(&task, 1, seed, &vec, NULL), 0);
    aq_env_task_fini(&task);
    aq_vec_env_restart(vec, 0, seed, number);
    do {
        (void)aq_vec_env_step(vec, &choice, 0);
    } while (!aq_vec_env_ended(vec, 0));
    double result = vec->episode_return[0];
    aq_vec_env_destroy(vec);
    return result;
}

static aq_trial_result trial_in(uint32_t lanes, uint32_t episodes)
{
    return tally_trial(tally, engine_of(1, 1), lanes, episodes, SEED);
}

TEST(a_trial_plays_exactly_the_episodes_of_its_seed)
{
    double sum = 0.0, squares = 0.0, least = INFINITY, most = -INFINITY;
    aq_trial_result result = trial_in(7, EPISODES);
    for (uint32_t i = 0; i < EPISODES; i++) {
        double one = played_alone(SEED, i, 1);
        sum += one;
        least = fmin(least, one);
        most = fmax(most, one);
    }
    for (uint32_t i = 0; i < EPISODES; i++) {
        double off = played_alone(SEED, i, 1) - sum / EPISODES;
        squares += off * off;
    }
    assert_int_equal(result.episodes, EPISODES);
    assert_true(result.return_mean == sum / EPISODES);
    assert_true(fabs(result.return_std - sqrt(squares / (EPISODES - 1))) < 1e-12);
    assert_true(result.return_min == least);
    assert_true(result.return_max == most);
    assert_true(least < most);
}

TEST(the_result_does_not_depend_on_the_lanes)
{
    aq_engine *const engines[] = {engine_of(1, 1), NULL /* actions at random */};
    EACH_ROW(i, engines) {
        aq_trial_result one = tally_trial(tally, engines[i], 1, EPISODES, SEED);
        for (uint32_t lanes = 2; lanes <= EPISODES; lanes += 7) {
            aq_trial_result other = tally_trial(tally, engines[i], lanes, EPISODES, SEED);
            assert_int_equal(one.episodes, other.episodes);
            assert_true(one.return_mean == other.return_mean && one.return_std == other.return_std);
            assert_true(one.return_min == other.return_min && one.return_max == other.return_max);
        }
    }
}

/* Taking whichever episodes finish first would favour short ones, whose return is low here. */
TEST(short_episodes_are_not_favoured)
{
    for (uint32_t episodes = 1; episodes <= 20; episodes++) {
        double sum = 0.0;
        for (uint32_t i = 0; i < episodes; i++) {
            sum += played_alone(SEED, i, 1);
        }
        assert_true(trial_in(20, episodes).return_mean == sum / episodes);
    }
}

/* The short episodes end, the others go on for ever. */
static enum aq_step_end step_on(const void *params, void *state, aq_rng *rng, const void *action,
                                void *obs, float *reward)
{
    const enum aq_step_end end = tally_env.step(params, state, rng, action, obs, reward);
    return end == AQ_STEP_TERMINATED && ((const float *)obs)[1] > 5.0f ? AQ_STEP_GOES_ON : end;
}

TEST(an_episode_without_a_limit_is_cut_off_and_counted)
{
    aq_env_class endless = tally_env;
    endless.name = "test:Endless";
    endless.step_limit = 0;
    endless.step = step_on;
    aq_env *env = tally_open(&endless, "");
    aq_engine *engine = tally_engine(env, 1, 7, EPISODES);
    const aq_trial_result result = tally_trial(env, engine, EPISODES, EPISODES, SEED);
    assert_in_range(result.cut_off, 1, EPISODES - 1);
    assert_near(result.return_max, /* 1 and a quarter of its number each step */
                AQ_TRIAL_EPISODE_STEPS_MAX +
                    0.125 * AQ_TRIAL_EPISODE_STEPS_MAX * (AQ_TRIAL_EPISODE_STEPS_MAX + 1.0),
                1);
    aq_env_unref(env);
    engine = engine_of(1, 7); /* the task's own limit is no cut */
    assert_int_equal(tally_trial(tally, engine, EPISODES, EPISODES, SEED).cut_off, 0);
}

static uint32_t resets;

static bool count_reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    resets++;
    return tally_env.reset(params, state, rng, obs);
}

TEST(an_episode_is_begun_once)
{
    aq_env_class counted = tally_env;
    counted.reset = count_reset;
    aq_env *env = tally_open(&counted, "");
    resets = 0;
    (void)tally_trial(env, engine_of(1, 1), SCREEN, EPISODES, SEED);
    assert_int_equal(resets, SCREEN + EPISODES); /* a vec begins its lanes when it is made, too */
    aq_env_unref(env);
}

TEST(one_episode_has_no_spread)
{
    assert_true(trial_in(4, 1).return_std == 0.0);
}

TEST(evaluate_is_a_function_of_policy_seed_and_number)
{
    aq_engine *engine = engine_of(2, 9);
    aq_evaluation first, again, other_seed;
    assert_int_equal(aq_evaluate(tally, engine, EPISODES, SEED, &first, NULL), 0);
    assert_int_equal(aq_evaluate(tally, engine, EPISODES, SEED, &again, NULL), 0);
    assert_int_equal(aq_evaluate(tally, engine, EPISODES, SEED + 1, &other_seed, NULL), 0);
    assert_true(first.return_mean == again.return_mean);
    assert_true(first.return_std == again.return_std);
    assert_true(first.return_mean != other_seed.return_mean);
    assert_int_equal(first.version, 9);
    assert_int_equal(first.episodes, EPISODES);
    assert_false(first.confirmed);
}

TEST(without_a_policy_actions_are_random)
{
    aq_evaluation first, again, greedy;
    assert_int_equal(aq_evaluate(tally, NULL, EPISODES, SEED, &first, NULL), 0);
    assert_int_equal(aq_evaluate(tally, NULL, EPISODES, SEED, &again, NULL), 0);
    assert_int_equal(aq_evaluate(tally, engine_of(2, 9), EPISODES, SEED, &greedy, NULL), 0);
    assert_true(first.return_mean == again.return_mean);
    assert_true(first.return_mean != greedy.return_mean);
    assert_int_equal(first.version, 0);
    assert_int_equal(first.episodes, EPISODES);
}

TEST(a_script_plays_what_it_sees_where_there_is_one)
{
    aq_evaluation scripted, untouched = {.version = 77};
    aq_env *game = NULL, *stacked = NULL;
    assert_int_equal(aq_env_open("game:breakout", &game, NULL), 0);
    assert_int_equal(aq_env_open("game:breakout?frame_stack=4", &stacked, NULL), 0);
    assert_int_equal(aq_evaluate_script(game, EPISODES, SEED, &scripted, NULL), 0);
    assert_int_equal(scripted.episodes, EPISODES);
    assert_true(scripted.return_min >= 1); /* whoever moves by chance drops the first ball */
    assert_refused(aq_evaluate_script(tally, EPISODES, SEED, &untouched, &refusal),
                   AQ_E_UNSUPPORTED, "has no script");
    assert_refused(aq_evaluate_script(stacked, EPISODES, SEED, &untouched, &refusal),
                   AQ_E_UNSUPPORTED, "have one, without frame_stack");
    assert_int_equal(untouched.version, 77);
    aq_env_unref(game);
    aq_env_unref(stacked);
}

TEST(evaluate_refuses_what_cannot_be_played)
{
    aq_engine *engine = engine_of(0, 1);
    aq_evaluation untouched = {.version = 77};
    aq_env *boundless = tally_open(&tally_env_boundless, ""), *cartpole = NULL;
    assert_int_equal(aq_env_open("gym:CartPole-v1", &cartpole, NULL), 0);
    assert_int_equal(aq_evaluate(tally, engine, 0, SEED, &untouched, &refusal), AQ_E_INVALID);
    assert_int_equal(
        aq_evaluate(tally, engine, AQ_EVALUATION_EPISODES_MAX + 1, SEED, &untouched, &refusal),
        AQ_E_INVALID);
    assert_int_equal(aq_evaluate(boundless, engine, 1, SEED, &untouched, &refusal),
                     AQ_E_UNSUPPORTED);
    assert_refused(aq_evaluate(cartpole, engine, 1, SEED, &untouched, &refusal), AQ_E_SCHEMA,
                   "gym:CartPole-v1");
    assert_int_equal(untouched.version, 77);
    aq_env_unref(boundless);
    aq_env_unref(cartpole);
}

TEST(evaluate_refuses_an_engine_for_too_few_rows)
{
    const float bias[TALLY_CHOICES] = {0.0f};
    aq_snapshot *snapshot = tally_policy(bias);
    aq_engine *engine = NULL;
    aq_evaluation result;
    assert_int_equal(aq_engine_create(snapshot, 2, 0, &engine, NULL), 0);
    assert_int_equal(aq_evaluate(tally, engine, 2, SEED, &result, NULL), 0);
    assert_int_equal(aq_evaluate(tally, engine, 3, SEED, &result, NULL), AQ_E_INVALID);
    aq_engine_destroy(engine);
}

/* ---- screening and confirming --------------------------------------------------------------- */

static aq_evaluator_core *evaluator_of(double threshold)
{
    aq_evaluator_core *core = NULL;
    assert_int_equal(
        aq_evaluator_core_create(&acted_in, SCREEN, EPISODES, threshold, SEED, &core, NULL), 0);
    return core;
}

#define TEST_OF_EVALUATOR(name, threshold)                                                         \
    TEST_OF(name, aq_evaluator_core *core, evaluator_of(threshold), aq_evaluator_core_destroy)

/* Runs to the next result; asserts that it comes. */
static aq_evaluation next_result(aq_evaluator_core *core)
{
    aq_evaluation result;
    for (int i = 0; i < 30000; i++) {
        if (aq_evaluator_core_run(core, 0, &result)) {
            return result;
        }
    }
    fail();
    return (aq_evaluation){0};
}

TEST_OF_EVALUATOR(a_new_evaluator_is_idle, 0.0)
{
    aq_evaluation result;
    assert_true(aq_evaluator_core_idle(core));
    assert_false(aq_evaluator_core_run(core, 0, &result));
}

TEST_OF_EVALUATOR(a_version_below_the_threshold_is_screened_only, 1e6)
{
    aq_engine *engine = engine_of(1, 4);
    assert_null(aq_evaluator_core_set_engine(core, engine));
    assert_false(aq_evaluator_core_idle(core));
    aq_evaluation result = next_result(core);
    assert_int_equal(result.version, 4);
    assert_int_equal(result.episodes, SCREEN);
    assert_false(result.confirmed);
    assert_true(aq_evaluator_core_idle(core));
    assert_ptr_equal(aq_evaluator_core_set_engine(core, NULL), engine);
}

TEST_OF_EVALUATOR(a_version_at_the_threshold_is_confirmed_over_fresh_episodes, 0.0)
{
    aq_engine *engine = engine_of(1, 4);
    aq_evaluation same_seed;
    (void)aq_evaluator_core_set_engine(core, engine);
    aq_evaluation screened = next_result(core);
    assert_false(screened.confirmed);
    assert_int_equal(screened.episodes, SCREEN);
    assert_false(aq_evaluator_core_idle(core));
    aq_evaluation confirmed = next_result(core);
    assert_true(confirmed.confirmed);
    assert_int_equal(confirmed.version, 4);
    assert_int_equal(confirmed.episodes, EPISODES);
    assert_true(aq_evaluator_core_idle(core));
    /* Fresh: were they the screening's and more, the first SCREEN of them would be the same. */
    assert_int_equal(aq_evaluate(tally, engine, SCREEN, SEED, &same_seed, NULL), 0);
    assert_true(confirmed.return_mean != screened.return_mean);
    assert_true(same_seed.return_mean != screened.return_mean);
    aq_evaluator_core *wide = NULL; /* its screening goes on from this one's */
    assert_succeeds(
        aq_evaluator_core_create(&acted_in, EPISODES, 1, (double)NAN, SEED, &wide, &refusal));
    (void)aq_evaluator_core_set_engine(wide, engine);
    assert_true(next_result(wide).return_mean != confirmed.return_mean);
    (void)aq_evaluator_core_set_engine(wide, NULL);
    aq_evaluator_core_destroy(wide);
}

TEST(a_threshold_that_is_just_met_is_met)
{
    aq_evaluator_core *core = evaluator_of((double)NAN);
    (void)aq_evaluator_core_set_engine(core, engine_of(1, 4));
    const double mean = next_result(core).return_mean;
    aq_evaluator_core_destroy(core);
    core = evaluator_of(mean);
    (void)aq_evaluator_core_set_engine(core, engine_of(1, 4));
    (void)next_result(core);
    assert_true(next_result(core).confirmed);
    aq_evaluator_core_destroy(core);
}

TEST_OF_EVALUATOR(without_a_threshold_nothing_is_confirmed, (double)NAN)
{
    aq_engine *engine = engine_of(1, 4);
    (void)aq_evaluator_core_set_engine(core, engine);
    assert_false(next_result(core).confirmed);
    assert_true(aq_evaluator_core_idle(core));
}

TEST_OF_EVALUATOR(a_comparison_plays_the_episodes_of_the_screening, 1e6)
{
    aq_engine *engine = engine_of(1, 4), *same = engine_of(1, 4), *other = engine_of(0, 4);
    (void)aq_evaluator_core_set_engine(core, engine);
    const aq_evaluation screened = next_result(core);
    assert_int_equal(screened.gap.episodes, 0);
    aq_evaluator_core_compare(core, same);
    const aq_evaluation alike = next_result(core);
    assert_int_equal(alike.version, 4);
    assert_int_equal(alike.gap.episodes, SCREEN);
    assert_true(alike.return_mean == screened.return_mean);
    assert_near(alike.gap.return_fp32, screened.return_mean, 1e-9);
    assert_true(alike.gap.mean == 0.0 && alike.gap.std == 0.0);
    assert_true(aq_evaluator_core_idle(core));
    aq_evaluator_core_compare(core, other);
    const aq_evaluation apart = next_result(core);
    assert_true(fabs(apart.gap.mean - (screened.return_mean - apart.gap.return_fp32)) < 1e-9);
    assert_true(apart.gap.mean != 0.0);
}

TEST_OF_EVALUATOR(a_confirmation_is_compared_over_its_own_episodes, 0.0)
{
    aq_engine *engine = engine_of(1, 4), *same = engine_of(1, 4);
    (void)aq_evaluator_core_set_engine(core, engine);
    const aq_evaluation screened = next_result(core), confirmed = next_result(core);
    aq_evaluator_core_compare(core, same);
    const aq_evaluation both = next_result(core);
    assert_true(both.confirmed);
    assert_int_equal(both.gap.episodes, EPISODES);
    assert_true(both.return_mean == confirmed.return_mean);
    assert_true(both.return_mean != screened.return_mean);
    assert_true(both.gap.mean == 0.0);
    assert_near(both.gap.return_fp32_std, confirmed.return_std, 1e-9);
}

TEST(a_gap_is_the_mean_of_differences_and_their_deviation)
{
    const double returns[] = {10, 20, 30}, fp32[] = {12, 19, 26};
    const aq_evaluation_gap gap = aq_evaluation_compare(returns, fp32, 3); /* -2, 1, 4 */
    assert_int_equal(gap.episodes, 3);
    assert_true(fabs(gap.mean - 1.0) < 1e-12 && fabs(gap.std - 3.0) < 1e-12);
    assert_true(fabs(gap.return_fp32 - 19.0) < 1e-12);
    assert_true(aq_evaluation_compare(returns, fp32, 1).std == 0.0);
}

/* Else a policy that always returns the threshold might lie below it. */
TEST(the_mean_of_equal_returns_is_each_of_them)
{
    double returns[100];
    EACH_ROW(i, returns) {
        returns[i] = -13;
    }
    for (uint32_t episodes = 1; episodes <= 100; episodes++) {
        assert_true(aq_evaluation_compare(returns, returns, episodes).return_fp32 == -13);
    }
}

TEST_OF_EVALUATOR(versions_are_screened_on_different_episodes, (double)NAN)
{
    aq_engine *first = engine_of(1, 4);
    aq_engine *second = engine_of(1, 5); /* the same policy */
    (void)aq_evaluator_core_set_engine(core, first);
    double mean = next_result(core).return_mean;
    assert_ptr_equal(aq_evaluator_core_set_engine(core, second), first);
    assert_true(next_result(core).return_mean != mean);
    assert_ptr_equal(aq_evaluator_core_set_engine(core, first), second);
    assert_true(next_result(core).return_mean == mean); /* the same version: the same again */
}

TEST_OF_EVALUATOR(an_engine_may_be_replaced_in_the_middle, (double)NAN)
{
    aq_engine *first = engine_of(0, 1);
    aq_engine *second = engine_of(2, 2);
    aq_evaluation result;
    (void)aq_evaluator_core_set_engine(core, first);
    assert_false(aq_evaluator_core_run(core, 0, &result));
    assert_false(aq_evaluator_core_run(core, 0, &result));
    assert_ptr_equal(aq_evaluator_core_set_engine(core, second), first);
    assert_int_equal(next_result(core).version, 2);
    assert_ptr_equal(aq_evaluator_core_set_engine(core, first), second);
    assert_ptr_equal(aq_evaluator_core_set_engine(core, NULL), first);
    assert_true(aq_evaluator_core_idle(core));
}

TEST_OF_EVALUATOR(the_leader_is_played_on_over_fresh_episodes, (double)NAN)
{
    aq_engine *first = engine_of(1, 4), *second = engine_of(1, 5), *third = engine_of(1, 6);
    (void)aq_evaluator_core_set_engine(core, first);
    double means[4] = {next_result(core).return_mean};
    assert_false(aq_evaluator_core_rank(core)); /* nobody leads */
    aq_evaluator_core_set_leader(core, 4);
    assert_true(aq_evaluator_core_rank(core));
    const aq_evaluation ranked = next_result(core);
    assert_true(ranked.ranks_only && !ranked.confirmed && ranked.version == 4);
    assert_int_equal(ranked.episodes, SCREEN);
    assert_null(aq_evaluator_core_set_engine(core, second)); /* the first is kept */
    means[1] = ranked.return_mean;
    means[2] = next_result(core).return_mean;
    assert_true(aq_evaluator_core_rank(core));
    const aq_evaluation again = next_result(core);
    assert_int_equal(again.version, 4);
    means[3] = again.return_mean;
    for (int i = 0; i < 4; i++) {
        assert_true(i == 0 || means[i] != means[i - 1]);
    }
    assert_true(means[1] != means[3]);
    aq_evaluator_core_compare(core, engine_of(1, 5)); /* with what was screened last */
    const aq_evaluation compared = next_result(core);
    assert_true(compared.version == 5 && compared.gap.mean == 0);
    assert_true(compared.return_mean == means[2]);
    aq_evaluator_core_set_leader(core, 5);
    assert_ptr_equal(aq_evaluator_core_set_engine(core, third), first);
    assert_ptr_equal(aq_evaluator_core_set_engine(core, NULL), third);
    assert_ptr_equal(aq_evaluator_core_set_engine(core, NULL), second);
    assert_null(aq_evaluator_core_set_engine(core, NULL));
}

TEST_OF_EVALUATOR(evaluating_allocates_nothing, 0.0)
{
    aq_engine *engine = engine_of(1, 4);
    uint64_t before = aq_memory_allocation_count();
    (void)aq_evaluator_core_set_engine(core, engine);
    (void)next_result(core);
    (void)next_result(core);
    assert_int_equal(aq_memory_allocation_count(), before);
    assert_true(aq_trial_steps(aq_evaluator_core_trial(core)) >= SCREEN + EPISODES);
}

TEST(numbers_of_episodes_are_checked)
{
    aq_evaluator_core *core = NULL;
    assert_int_equal(aq_evaluator_core_create(&acted_in, 0, 1, 0.0, 0, &core, NULL), AQ_E_INVALID);
    assert_int_equal(aq_evaluator_core_create(&acted_in, 1, 0, 0.0, 0, &core, NULL), AQ_E_INVALID);
    assert_null(core);
}

TEST(create_survives_every_failed_allocation_and_destroy_takes_null)
{
    aq_evaluator_core *core = NULL;
    assert_made_despite_failures(core,
                                 aq_evaluator_core_create(&acted_in, 1, 2, 0.0, 0, &core, NULL));
    aq_evaluator_core_destroy(core);
    aq_evaluator_core_destroy(NULL);
    aq_trial_destroy(NULL);
}

TEST(evaluate_survives_every_failed_allocation)
{
    aq_engine *engine = engine_of(1, 4);
    aq_evaluation result = {.version = 77};
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        assert_int_equal(result.version, 77);
        rc = aq_evaluate(tally, engine, 3, SEED, &result, NULL);
    }
}

TEST_GROUP(open_tally, close_tally);
