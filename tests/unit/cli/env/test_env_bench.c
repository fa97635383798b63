/*
 * What a measurement does to an environment; how long it takes is the machine's.
 */
#include "cli/env/bench_lanes.h"
#include "cli/env/env_bench.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/sum_env.h"

#define SECONDS 0.05

static aq_env_bench_report bench(const aq_env_class *class, uint32_t lanes)
{
    aq_env_bench_report report;
    aq_env *env = sum_env_open(class, "");
    assert_succeeds(aq_env_bench(env, SECONDS, lanes, 1, &report, &refusal));
    assert_int_equal(sum_env_counts.begins, report.lanes);
    assert_int_equal(sum_env_counts.ends, report.lanes);
    return report;
}

TEST(figures_belong_together)
{
    aq_env_bench_report report = bench(&sum_env_plain, 3);
    assert_int_equal(report.lanes, 3);
    assert_true(report.slices > 0);
    assert_true(report.steps > 0 && report.steps <= sum_env_counts.steps);
    assert_in_range(report.episodes, report.steps / 8 - 3, report.steps / 8 + 3); /* the limit */
    assert_true(report.steps_per_s > 0);
    assert_true(report.steps_per_s_low <= report.steps_per_s);
    assert_true(report.steps_per_s <= report.steps_per_s_high);
    assert_true(report.step_ns > 0 && report.reset_ns > 0);
    assert_false(report.has_physics);
    assert_false(report.by_wall_clock);
}

TEST(lanes_have_a_default)
{
    assert_int_equal(bench(&sum_env_plain, 0).lanes, AQ_ENV_BENCH_LANES);
    assert_int_equal(bench(&sum_env_exact, 0).lanes, AQ_ENV_BENCH_LANES_PHYSICS);
}

TEST(physics_is_given_the_same_actions)
{
    aq_env_bench_report report = bench(&sum_env_exact, 1);
    assert_true(report.has_physics);
    assert_true(report.physics_steps_per_s > 0 && report.physics_ratio > 0);
    assert_int_equal(sum_env_counts.physics_steps, report.steps);
    assert_int_equal(sum_env_counts.steps, report.steps);
    assert_int_equal(sum_env_counts.physics_starts, report.slices);
    assert_true(sum_env_counts.actions == sum_env_counts.physics_actions);
}

/* All of it but the last step would be nothing. */
TEST(an_episode_of_one_step_has_its_physics_too)
{
    aq_env_bench_report report;
    aq_env *env = sum_env_open(&sum_env_exact, "?time_limit=1");
    assert_int_equal(env->step_limit, 1);
    assert_succeeds(aq_env_bench(env, SECONDS, 1, 1, &report, &refusal));
    assert_int_equal(report.steps, report.slices);
    assert_true(isfinite(report.step_ns) && isfinite(report.physics_steps_per_s));
}

/* The longest that there can be: an episode would take minutes. */
TEST(an_episode_that_takes_too_long_is_not_waited_for)
{
    aq_env_bench_report report;
    aq_env *env = sum_env_open(&sum_env_plain, "?time_limit=1073741824");
    assert_succeeds(aq_env_bench(env, SECONDS, 1, 1, &report, &refusal));
    assert_true(report.steps < 1073741824);
}

/* ---- what lanes draw ------------------------------------------------------------------------ */

static aq_env_class drawing; /* as the test wants it */
static uint64_t resets, unforeseen;

/* Behind the state lies what the lane's next episode should be drawn from: an environment in Python
 * begins it ahead. */
static bool reset_foreseen(const void *params, void *state, aq_rng *rng, void *obs)
{
    static const aq_rng unknown = {{0}};
    aq_rng *foreseen = (aq_rng *)(void *)((uint8_t *)state + sum_env_plain.state_bytes);
    resets++;
    unforeseen +=
        memcmp(foreseen, &unknown, sizeof(*rng)) != 0 && memcmp(foreseen, rng, sizeof(*rng)) != 0;
    (void)aq_rng_next(rng);
    *foreseen = *rng;
    return sum_env_plain.reset(params, state, rng, obs);
}

TEST(each_lane_draws_for_itself_as_in_an_actor)
{
    drawing = sum_env_plain;
    drawing.state_bytes += sizeof(aq_rng);
    drawing.reset = reset_foreseen;
    resets = 0;
    unforeseen = 0;
    (void)bench(&drawing, 3);
    assert_true(resets > 2 * 3);
    assert_int_equal(unforeseen, 0);
}

/* Resets come in twos then, after the first of all: with the physics around them, and for it. */
static bool reset_twice(const void *params, void *state, aq_rng *rng, void *obs)
{
    static aq_rng before;
    unforeseen += ++resets % 2 != 0 && resets > 1 && memcmp(&before, rng, sizeof(before)) != 0;
    before = *rng;
    (void)aq_rng_next(rng);
    return sum_env_exact.reset(params, state, rng, obs);
}

TEST(physics_begins_with_the_same_episodes)
{
    drawing = sum_env_exact;
    drawing.reset = reset_twice;
    resets = 0;
    unforeseen = 0;
    const aq_env_bench_report report = bench(&drawing, 1);
    assert_int_equal(resets, 1 + 2 * report.slices);
    assert_int_equal(unforeseen, 0);
}

/* ---- time ----------------------------------------------------------------------------------- */

static enum aq_step_end step_late(const void *params, void *state, aq_rng *rng, const void *action,
                                  void *obs, float *reward)
{
    aq_clock_wait_until(aq_clock_monotonic_ns() + AQ_NS_PER_MS);
    return sum_env_plain.step(params, state, rng, action, obs, reward);
}

static bool reset_late(const void *params, void *state, aq_rng *rng, void *obs)
{
    resets++;
    aq_clock_wait_until(aq_clock_monotonic_ns() + AQ_NS_PER_MS);
    return sum_env_plain.reset(params, state, rng, obs);
}

/* A millisecond each; by the processor's time alone there would be thousands. */
TEST(an_environment_that_waits_is_not_waited_for_beyond_the_time)
{
    drawing = sum_env_plain;
    drawing.step = step_late;
    drawing.reset = reset_late;
    resets = 0;
    const aq_env_bench_report report = bench(&drawing, 1);
    assert_false(report.by_wall_clock);
    assert_in_range(sum_env_counts.steps, report.steps, 200);
    assert_in_range(resets, 1, 200);
}

TEST(actions_fill_their_box)
{
    aq_bench_lanes lanes;
    float low = 1, high = -1;
    aq_env *env = sum_env_open(&sum_env_exact, "");
    assert_succeeds(aq_bench_lanes_init(&lanes, env, 2, 7, &refusal));
    aq_bench_lanes_draw(&lanes);
    const float *actions = (const float *)lanes.actions;
    for (size_t i = 0; i < (size_t)AQ_BENCH_ACTIONS * 2 * 2; i++) {
        low = actions[i] < low ? actions[i] : low;
        high = actions[i] > high ? actions[i] : high;
    }
    assert_true(low >= -1 && low < -0.9f);
    assert_true(high <= 1 && high > 0.9f);
    aq_bench_lanes_fini(&lanes);
}

TEST(failures_are_told_with_their_reason)
{
    static const char *const options[] = {"?fail_step=3", "?fail_resets=yes"};
    static const char *const words[] = {"sum:Plain?fail_step=3: a step failed: it was asked to",
                                        "a reset failed: it was asked to"};
    for (int i = 0; i < 2; i++) {
        aq_env_bench_report report = {.steps = 77};
        aq_env *env = sum_env_open(&sum_env_plain, options[i]);
        assert_refused(aq_env_bench(env, SECONDS, 2, 1, &report, &refusal), AQ_E_PEER, words[i]);
        assert_int_equal(report.steps, 77);
        assert_int_equal(sum_env_counts.begins, sum_env_counts.ends);
    }
}

TEST(a_failing_allocation_leaves_nothing_behind)
{
    for (int i = 0; i < 2; i++) {
        aq_env *env = sum_env_open(i == 0 ? &sum_env_plain : &sum_env_exact, "");
        int rc = AQ_E_NOMEM;
        EACH_ALLOCATION_FAILS(rc) {
            aq_env_bench_report report;
            rc = aq_env_bench(env, SECONDS / 10, 2, 1, &report, &refusal);
            assert_int_equal(sum_env_counts.begins, sum_env_counts.ends);
        }
    }
}
