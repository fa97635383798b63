/*
 * The rules of the lander, by what an episode shows: what engines, wind and ground do to the craft,
 * what that earns, and how it ends.
 */
#include "envs/box2d/lander.h"
#include "tests/support/test.h"
#include "tests/unit/envs/env_lane.h"

enum { X, Y, X_SPEED, Y_SPEED, ANGLE, SPIN, LEG_1, LEG_2 };

#define DISCRETE   "gym:LunarLander-v3"
#define CONTINUOUS "gym:LunarLanderContinuous-v3"

static void fini(void *lane)
{
    env_lane_fini(lane);
    aq_free(lane);
}

/* A lane at the beginning of an episode, which ends with the test. */
static env_lane *flight_of(const char *task, uint64_t seed)
{
    env_lane *lane = aq_alloc(1, sizeof(*lane));
    assert_non_null(lane);
    env_lane_init(lane, env_lane_open(task), seed);
    at_end(fini, lane);
    return lane;
}

static env_lane *flight(const char *task)
{
    return flight_of(task, 3);
}

static const float *seen(const env_lane *lane)
{
    return (const float *)(const void *)lane->obs;
}

static void fly(env_lane *lane, const void *action)
{
    const aq_env *env = lane->env;
    lane->end =
        env->class->step(env->params, lane->state, &lane->rng, action, lane->obs, &lane->reward);
}

static void choose(env_lane *lane, int32_t choice)
{
    fly(lane, &choice);
}

static void set(env_lane *lane, float main, float side)
{
    const float action[] = {main, side};
    fly(lane, action);
}

/* What one step with that choice changes, beside one of the same moment without any. */
static void gain(int32_t choice, float out[AQ_LANDER_OBS])
{
    env_lane *with = flight(DISCRETE), *without = flight(DISCRETE);
    choose(with, choice);
    choose(without, AQ_LANDER_NOTHING);
    for (int i = 0; i < AQ_LANDER_OBS; i++) {
        out[i] = seen(with)[i] - seen(without)[i];
    }
}

TEST(each_engine_pushes_its_way)
{
    static const struct {
        int32_t choice;
        int x, y, spin; /* signs; 2: any */
    } rows[] = {
        {AQ_LANDER_LEFT, -1, 2, 1},
        {AQ_LANDER_MAIN, 2, 1, 2},
        {AQ_LANDER_RIGHT, 1, 2, -1},
    };
    EACH_ROW(i, rows) {
        const int signs[] = {rows[i].x, rows[i].y, rows[i].spin};
        const int places[] = {X_SPEED, Y_SPEED, SPIN};
        float change[AQ_LANDER_OBS];
        gain(rows[i].choice, change);
        for (int k = 0; k < 3; k++) {
            assert_true(signs[k] == 2 || change[places[k]] * (float)signs[k] > 1e-4f);
        }
    }
}

/* Falls by g a second: in a step of 1/50 s 0.2 m/s, of which a seventh and a half is shown. */
TEST(gravity_is_the_tasks)
{
    static const struct {
        const char *task;
        double change;
    } rows[] = {
        {DISCRETE, -10.0 / 50 * 20 / 150},
        {DISCRETE "?gravity=-2", -2.0 / 50 * 20 / 150},
    };
    EACH_ROW(i, rows) {
        env_lane *lane = flight(rows[i].task);
        const float before = seen(lane)[Y_SPEED];
        for (int k = 0; k < 10; k++) {
            choose(lane, AQ_LANDER_NOTHING);
        }
        assert_near((double)(seen(lane)[Y_SPEED] - before), 10 * rows[i].change, 1e-3);
    }
}

static double worth(const float *obs)
{
    return -100 * (hypot((double)obs[X], (double)obs[Y]) +
                   hypot((double)obs[X_SPEED], (double)obs[Y_SPEED]) + fabs((double)obs[ANGLE])) +
           10 * (double)(obs[LEG_1] + obs[LEG_2]);
}

TEST(the_reward_is_what_the_state_has_become_worth_less_fuel)
{
    static const struct {
        float main, side;
        double cost;
    } rows[] = {
        {0.0f, 0.5f, 0.0},     {-1.0f, -0.5f, 0.0}, {0.5f, 0.0f, 0.225}, {1.0f, 0.0f, 0.3},
        {0.0f, 0.75f, 0.0225}, {0.0f, -1.0f, 0.03}, {2.0f, -9.0f, 0.33}, /* held to 1 */
    };
    EACH_ROW(i, rows) {
        env_lane *lane = flight(CONTINUOUS);
        const double before = worth(seen(lane));
        set(lane, rows[i].main, rows[i].side);
        assert_near((double)lane->reward, worth(seen(lane)) - before - rows[i].cost, 1e-3);
    }
}

TEST(half_the_lever_is_three_quarters_of_the_power)
{
    env_lane *half = flight(CONTINUOUS), *full = flight(CONTINUOUS);
    set(half, 0.5f, 0.0f);
    set(full, 1.0f, 0.0f);
    env_lane *none = flight(CONTINUOUS);
    set(none, 0.0f, 0.0f);
    const float rest = seen(none)[Y_SPEED];
    assert_near((double)(seen(full)[Y_SPEED] - rest) * 0.75, (double)(seen(half)[Y_SPEED] - rest),
                1e-5);
}

TEST(a_crash_and_leaving_cost_a_hundred)
{
    env_lane *lane = flight(DISCRETE);
    while (lane->end == AQ_STEP_GOES_ON) {
        choose(lane, AQ_LANDER_NOTHING);
    }
    assert_int_equal(lane->end, AQ_STEP_TERMINATED);
    assert_true(lane->reward == -100.0f);
    assert_true(fabsf(seen(lane)[X]) < 1.0f);
    lane = flight(CONTINUOUS);
    while (lane->end == AQ_STEP_GOES_ON) { /* up, leaning to the right */
        set(lane, 1.0f, seen(lane)[ANGLE] + seen(lane)[SPIN] > -0.3f ? 1.0f : -1.0f);
    }
    assert_int_equal(lane->end, AQ_STEP_TERMINATED);
    assert_true(lane->reward == -100.0f);
    assert_true(seen(lane)[X] >= 1.0f);
}

TEST(the_script_comes_to_rest_on_both_legs_and_earns_a_hundred)
{
    static const char *const tasks[] = {DISCRETE, CONTINUOUS};
    EACH_ROW(i, tasks) {
        env_lane *lane = flight(tasks[i]);
        while (lane->end == AQ_STEP_GOES_ON) {
            lane->env->class->script(lane->env->params, lane->obs, lane->action);
            fly(lane, lane->action);
        }
        assert_int_equal(lane->end, AQ_STEP_TERMINATED);
        assert_true(lane->reward == 100.0f);
        assert_true(seen(lane)[LEG_1] == 1.0f);
        assert_true(seen(lane)[LEG_2] == 1.0f);
        assert_true(fabsf(seen(lane)[X]) < 0.2f); /* between the flags */
    }
}

TEST(wind_blows_where_it_is_asked_for)
{
    static const struct {
        const char *task;
        bool differs;
    } rows[] = {
        {DISCRETE "?wind=yes", true},
        {DISCRETE "?wind=no&wind_power=20", false},
        {DISCRETE "?wind=yes&wind_power=0&turbulence_power=0", false},
    };
    EACH_ROW(i, rows) {
        env_lane *windy = flight(rows[i].task), *calm = flight(DISCRETE);
        for (int k = 0; k < 20; k++) {
            choose(windy, AQ_LANDER_NOTHING);
            choose(calm, AQ_LANDER_NOTHING);
        }
        assert_true((memcmp(windy->obs, calm->obs, windy->obs_bytes) != 0) == rows[i].differs);
    }
}

TEST(the_pad_is_flat_and_in_the_middle_and_an_episode_begins_above_it)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        env_lane *lane = flight_of(DISCRETE, seed);
        const aq_lander_state *s = (const aq_lander_state *)(const void *)lane->state;
        for (int k = 4; k <= 6; k++) {
            assert_near(s->ground[k], 0.99 * AQ_LANDER_PAD_Y, 1e-9);
        }
        assert_near((double)seen(lane)[X], 0.0, 0.02);
        assert_near((double)seen(lane)[Y], 1.4, 0.03);
    }
}

/* Keeps the craft where it is. */
static void hover(env_lane *lane)
{
    const float *obs = seen(lane);
    const float lean = fmaxf(-0.3f, fminf(0.3f, 1.2f * (obs[X_SPEED] + 0.6f * obs[X])));
    set(lane, 10.0f * (1.0f - obs[Y] - obs[Y_SPEED]),
        -10.0f * (lean - obs[ANGLE] - 0.8f * obs[SPIN]));
}

TEST(an_episode_goes_on_for_as_long_as_its_limit_says)
{
    env_lane *lane = flight(CONTINUOUS "?time_limit=2000");
    for (int i = 1; i < 2000; i++) {
        hover(lane);
        assert_int_equal(lane->end, AQ_STEP_GOES_ON);
    }
    assert_int_equal(lane->env->step_limit, 2000);
    assert_int_equal(env_lane_open(CONTINUOUS)->step_limit, 1000);
}
