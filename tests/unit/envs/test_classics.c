/*
 * What holds for all of Gymnasium's classics, beyond what all environments have: how episodes
 * begin, where they end, and lanes that are stepped together like those stepped one by one.
 */
#include "envs/classic/acrobot.h"
#include "envs/classic/mountain_car.h"
#include "envs/classic/pendulum.h"
#include "envs/env_golden.h"
#include "tests/support/test.h"
#include "tests/unit/envs/env_lane.h"

#define PI 3.141592653589793

enum { NUMBERS_MAX = 8, OBS_MAX = 8, STATE_BYTES_MAX = 64, NAMES = 6 };

static const char *const names[NAMES] = {
    "gym:Acrobot-v1",     "gym:CartPole-v0", "gym:CartPole-v1",
    "gym:MountainCar-v0", "gym:Pendulum-v1", "gym:MountainCarContinuous-v0",
};

static aq_env *open_env(const char *name)
{
    aq_env *env = env_lane_open(name);
    assert_true(env->class->state_bytes <= STATE_BYTES_MAX);
    return env;
}

/* A random action's row. */
static uint32_t drawn_action(const aq_env *env, aq_rng *rng)
{
    uint32_t row;
    if (env->schema.action.kind == AQ_SPACE_DISCRETE) {
        return (uint32_t)aq_rng_below(rng, env->schema.action.choice_count);
    }
    const float value = (float)aq_rng_range(rng, (double)env->schema.action.low[0],
                                            (double)env->schema.action.high[0]);
    memcpy(&row, &value, sizeof(row));
    return row;
}

/* ---- resets --------------------------------------------------------------------------------- */

/* 10,000 resets: each number of the state is uniform from low to high. The mean of n draws has a
 * standard error of width / sqrt(12 n); the smallest and largest are width / n from the ends on
 * average, and exceed 16 times that once in 10^7. Where low == high the number is fixed. */
static void check_resets(const char *name, size_t count, const double *low, const double *high)
{
    enum { RESETS = 10000 };
    aq_env *env = open_env(name);
    _Alignas(16) uint8_t state[STATE_BYTES_MAX] = {0};
    double numbers[NUMBERS_MAX], sum[NUMBERS_MAX] = {0};
    double least[NUMBERS_MAX], most[NUMBERS_MAX];
    float obs[OBS_MAX];
    aq_rng rng = rng_of(2026, 4);
    for (int n = 0; n < RESETS; n++) {
        assert_true(env->class->reset(env->params, state, &rng, obs));
        assert_int_equal(env->class->state_bytes, count * sizeof(*numbers));
        memcpy(numbers, state, env->class->state_bytes);
        for (size_t i = 0; i < count; i++) {
            sum[i] += numbers[i];
            least[i] = n == 0 ? numbers[i] : fmin(least[i], numbers[i]);
            most[i] = n == 0 ? numbers[i] : fmax(most[i], numbers[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const double width = high[i] - low[i], gap = 16 * width / RESETS;
        const double standard_error = width / sqrt(12.0 * RESETS);
        assert_true(fabs(sum[i] / RESETS - (low[i] + high[i]) / 2) <= 4 * standard_error);
        assert_true(least[i] >= low[i] - 1e-8 && least[i] <= low[i] + gap);
        assert_true(most[i] <= high[i] + 1e-8 && most[i] >= high[i] - gap);
    }
}

TEST(cartpole_starts_near_the_middle)
{
    const double low[4] = {-0.05, -0.05, -0.05, -0.05}, high[4] = {0.05, 0.05, 0.05, 0.05};
    check_resets("gym:CartPole-v0", 4, low, high);
    check_resets("gym:CartPole-v1", 4, low, high);
}

TEST(acrobot_starts_hanging)
{
    const double low[4] = {-0.1, -0.1, -0.1, -0.1}, high[4] = {0.1, 0.1, 0.1, 0.1};
    check_resets("gym:Acrobot-v1", 4, low, high);
}

TEST(cars_start_in_the_valley_standing)
{
    const double low[2] = {-0.6, 0.0}, high[2] = {-0.4, 0.0};
    check_resets("gym:MountainCar-v0", 2, low, high);
    check_resets("gym:MountainCarContinuous-v0", 2, low, high);
}

TEST(the_pendulum_starts_anywhere)
{
    const double low[2] = {-PI, -1.0}, high[2] = {PI, 1.0};
    check_resets("gym:Pendulum-v1", 2, low, high);
}

TEST(acrobot_starts_at_floats)
{
    aq_env *env = open_env("gym:Acrobot-v1");
    aq_acrobot_state s;
    float obs[AQ_ACROBOT_OBS];
    aq_rng rng = rng_of(1, 0);
    for (int i = 0; i < 100; i++) {
        env->class->reset(env->params, &s, &rng, obs);
        assert_true(s.angle[0] == (double)(float)s.angle[0]);
        assert_true(s.spin[1] == (double)(float)s.spin[1]);
    }
}

/* ---- ends ----------------------------------------------------------------------------------- */

static float reward; /* of the last step */

static enum aq_step_end step_once(const char *name, void *state, const void *action)
{
    aq_env *env = open_env(name);
    float obs[OBS_MAX];
    return env->class->step(env->params, state, NULL, action, obs, &reward);
}

TEST(acrobot_ends_above_the_line_and_pays_nothing_then)
{
    aq_acrobot_state upright = {.angle = {PI, 0.0}}, hanging = {.angle = {0.0, 0.0}};
    const int32_t idle = 1;
    assert_int_equal(step_once("gym:Acrobot-v1", &upright, &idle), AQ_STEP_TERMINATED);
    assert_true(reward == 0.0f);
    assert_int_equal(step_once("gym:Acrobot-v1", &hanging, &idle), AQ_STEP_GOES_ON);
    assert_true(reward == -1.0f);
}

TEST(acrobot_keeps_to_its_limits)
{
    aq_acrobot_state s = {.angle = {3.0, -3.0}, .spin = {40.0, -90.0}};
    const int32_t action = 2;
    (void)step_once("gym:Acrobot-v1", &s, &action);
    for (int i = 0; i < 2; i++) {
        assert_true(fabs(s.angle[i]) <= PI);
    }
    assert_true(fabs(s.spin[0]) <= 4 * PI && fabs(s.spin[1]) <= 9 * PI);
}

TEST(acrobot_brings_an_angle_from_far_away_back)
{
    aq_acrobot_state s = {.angle = {1e9, -1e9}};
    const int32_t action = 1;
    (void)step_once("gym:Acrobot-v1", &s, &action);
    assert_true(fabs(s.angle[0]) <= PI && fabs(s.angle[1]) <= PI);
}

TEST(the_car_ends_at_the_flag)
{
    aq_mountain_car_state s = {.position = 0.49, .velocity = 0.05};
    const int32_t right = 2;
    assert_int_equal(step_once("gym:MountainCar-v0", &s, &right), AQ_STEP_TERMINATED);
    assert_true(reward == -1.0f);
}

TEST(the_continuous_car_is_paid_at_the_flag)
{
    aq_mountain_car_state s = {.position = 0.44, .velocity = 0.05};
    const float push = 0.5f;
    assert_int_equal(step_once("gym:MountainCarContinuous-v0", &s, &push), AQ_STEP_TERMINATED);
    assert_true(reward == (float)(100.0 - 0.25 * 0.1));
    assert_true(s.position == (double)(float)s.position);
}

TEST(the_left_end_takes_all_speed)
{
    aq_mountain_car_state s = {.position = -1.19, .velocity = -0.06};
    const int32_t left = 0;
    assert_int_equal(step_once("gym:MountainCar-v0", &s, &left), AQ_STEP_GOES_ON);
    assert_true(s.position == -1.2 && s.velocity == 0.0);
}

TEST(a_velocity_can_be_asked_for_at_the_flag)
{
    aq_mountain_car_state s = {.position = 0.49, .velocity = 0.05}, fast = s;
    const int32_t right = 2;
    assert_int_equal(step_once("gym:MountainCar-v0?goal_velocity=0.06", &s, &right),
                     AQ_STEP_GOES_ON);
    assert_int_equal(step_once("gym:MountainCar-v0?goal_velocity=0.04", &fast, &right),
                     AQ_STEP_TERMINATED);
}

TEST(the_pendulum_pays_for_angle_speed_and_torque)
{
    aq_pendulum_state s = {.theta = 2 * PI + 0.5, .theta_dot = -2.0};
    const float torque = 1.5f;
    assert_int_equal(step_once("gym:Pendulum-v1", &s, &torque), AQ_STEP_GOES_ON);
    assert_true(fabs((double)reward + (0.25 + 0.1 * 4.0 + 0.001 * 2.25)) < 1e-6);
    assert_true(fabs(s.theta_dot - (-2.0 + (15.0 * sin(0.5) + 3.0 * 1.5) * 0.05)) < 1e-12);
}

TEST(the_pendulum_keeps_to_its_speed)
{
    aq_pendulum_state s = {.theta = 1.5, .theta_dot = 7.99};
    const float torque = 2.0f;
    (void)step_once("gym:Pendulum-v1", &s, &torque);
    assert_true(s.theta_dot == 8.0);
}

TEST(without_gravity_the_pendulum_stays)
{
    aq_pendulum_state s = {.theta = 1.0};
    const float torque = 0.0f;
    (void)step_once("gym:Pendulum-v1?g=0", &s, &torque);
    assert_true(s.theta == 1.0 && s.theta_dot == 0.0);
}

/* ---- state ---------------------------------------------------------------------------------- */

TEST(a_recorded_state_of_another_length_is_refused)
{
    const double numbers[3] = {0};
    const aq_golden_values values = {.count = 1,
                                     .rows = {{.name = "state", .count = 3, .numbers = numbers}}};
    for (int n = 0; n < NAMES; n++) {
        aq_env *env = open_env(names[n]);
        _Alignas(16) uint8_t s[STATE_BYTES_MAX] = {0};
        assert_int_equal(env->class->put(env->params, s, &values, &refusal), AQ_E_INVALID);
    }
}

/* ---- lanes stepped together ----------------------------------------------------------------- */

enum { LANES = 131, GUARD = 0x5a };

typedef struct lanes {
    _Alignas(16) uint8_t states[LANES * STATE_BYTES_MAX];
    uint32_t state_at[LANES];
    uint32_t actions[LANES];
    float obs[LANES * OBS_MAX + 1];
    float rewards[LANES + 1];
    uint8_t ends[LANES + 1];
} lanes;

static void check_row(const aq_env *env, const lanes *before, const lanes *after, uint32_t lane)
{
    const size_t width = aq_space_elements(&env->schema.obs);
    const size_t at = before->state_at[lane] * (size_t)STATE_BYTES_MAX;
    _Alignas(16) uint8_t state[STATE_BYTES_MAX];
    float obs[OBS_MAX];
    memcpy(state, before->states + at, sizeof(state));
    enum aq_step_end end =
        env->class->step(env->params, state, NULL, &before->actions[lane], obs, &reward);
    assert_int_equal(after->ends[lane], end);
    assert_memory_equal(&after->rewards[lane], &reward, sizeof(reward));
    assert_memory_equal(&after->obs[lane * width], obs, width * sizeof(*obs));
    assert_memory_equal(after->states + at, state, sizeof(state));
}

static void check_together(const aq_env *env, uint32_t count)
{
    static lanes before, after;
    const size_t obs_end = count * aq_space_elements(&env->schema.obs);
    float obs[OBS_MAX];
    aq_rng rng = rng_of(count, 0);
    memset(&before, GUARD, sizeof(before));
    for (uint32_t lane = 0; lane < count; lane++) {
        before.state_at[lane] = count - 1 - lane;
        before.actions[lane] = drawn_action(env, &rng);
        env->class->reset(env->params, before.states + lane * STATE_BYTES_MAX, &rng, obs);
    }
    after = before;
    const aq_step_rows rows = {
        .count = count,
        .states = after.states,
        .state_stride = STATE_BYTES_MAX,
        .state_at = after.state_at,
        .actions = after.actions,
        .obs = after.obs,
        .rewards = after.rewards,
        .ends = after.ends,
    };
    for (int step = 0; step < 20; step++) {
        before = after;
        env->class->step_rows(env->params, &rows);
        for (uint32_t lane = 0; lane < count; lane++) {
            check_row(env, &before, &after, lane);
        }
    }
    assert_memory_equal(&after.obs[obs_end], &before.obs[obs_end], sizeof(float));
    assert_int_equal(after.ends[count], GUARD);
}

TEST(lanes_stepped_together_have_the_bits_of_single_steps)
{
    const uint32_t counts[] = {1, 2, 63, 64, 65, 130};
    uint32_t classes = 0;
    for (int n = 0; n < NAMES; n++) {
        aq_env *env = open_env(names[n]);
        if (env->class->step_rows != NULL) {
            for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
                check_together(env, counts[i]);
            }
            classes++;
        }
    }
    assert_int_equal(classes, 3); /* both CartPoles and Pendulum */
}

/* ---- pictures ------------------------------------------------------------------------------- */

TEST(a_picture_shows_another_state_differently)
{
    enum { SIDE = 48, BYTES = SIDE * SIDE * 3 };
    for (int n = 0; n < NAMES; n++) {
        aq_env *env = open_env(names[n]);
        _Alignas(16) uint8_t s[STATE_BYTES_MAX] = {0};
        uint8_t first[BYTES] = {0}, later[BYTES] = {0};
        aq_canvas canvas = {.width = SIDE, .height = SIDE, .pixels = first};
        env->class->draw(env->params, s, &canvas);
        canvas.pixels = later;
        ((double *)(void *)s)[0] = 0.3;
        env->class->draw(env->params, s, &canvas);
        assert_memory_not_equal(first, later, BYTES);
    }
}
