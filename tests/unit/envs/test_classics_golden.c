/*
 * Gymnasium's classics against recordings of them: flags and resets as recorded, states played
 * freely from one reset to the next.
 *
 * The recordings of the two cars can be followed to the last bit but for the cosine's. Those of
 * Acrobot, Pendulum and CartPole were made with NumPy's vector sine and cosine, a few units in the
 * last place off (ours, in sincos.h, are correct to less than one), which 200 steps make into 1e-14
 * and 1e-11. With NumPy's cosine moved by at most three units (and its sine by one), every one of
 * CartPole's 820 recorded steps comes out of our equations bit for bit. So from a recorded state
 * one step of it agrees
 *   - to the bit in position and angle, which are moved by the old velocities alone,
 *   - within DBL_EPSILON in the velocities,
 *   - to the bit in the observation, which is float.
 * Its balanced episode of 500 steps forgets its past, and can only be followed step by step.
 */
#include <float.h>

#include "envs/env_golden.h"
#include "envs/env_open.h"
#include "tests/support/test.h"
#include "tests/unit/envs/golden_gym.h"

/* Places of a "step" record. */
enum { ACTION = 0, REWARD = 1, TERMINATED = 2, TRUNCATED = 3, STATE = 4 };

enum { NUMBERS_MAX = 8, STATE_BYTES_MAX = 64 };

/* What is compared is the recording's double with our float: half a unit of a float apart. */
#define FLOAT_ERROR 6e-8

typedef struct game {
    aq_env *env;
    bool is_free;   /* the state goes on as it is; else as it was recorded */
    size_t numbers; /* of the state */
    size_t obs_elements;
    _Alignas(16) uint8_t state[STATE_BYTES_MAX];
    float obs[NUMBERS_MAX];
    double worst_state, worst_obs, worst_reward; /* scaled by the number, when larger than 1 */
    double worst[NUMBERS_MAX];                   /* of each number of the state, unscaled */
    uint32_t steps, terminations, truncations;
    uint32_t episode_steps;
} game;

static double error_of(double ours, double recorded)
{
    return fabs(ours - recorded) / fmax(1.0, fabs(recorded));
}

static void put(game *g, const double *numbers)
{
    const aq_golden_values values = {
        .count = 1, .rows = {{.name = "state", .count = g->numbers, .numbers = numbers}}};
    assert_succeeds(g->env->class->golden->set(g->env->params, g->state, &values, &refusal));
}

static void begin(game *g, const golden_record *record)
{
    if (g->env == NULL) {
        char name[AQ_TASK_NAME_MAX] = "gym:";
        strncat(name, record->name, sizeof(name) - sizeof("gym:"));
        assert_succeeds(aq_env_open(name, &g->env, &refusal));
        assert_true(g->env->class->state_bytes <= STATE_BYTES_MAX);
        g->numbers = g->env->class->state_bytes / sizeof(double);
        g->obs_elements = aq_space_elements(&g->env->schema.obs);
        assert_true(g->obs_elements <= NUMBERS_MAX);
    }
    assert_int_equal(record->count, 2);
    assert_true((double)g->env->step_limit == record->values[0]);
    const double threshold = g->env->reward_threshold;
    assert_true(isnan(record->values[1]) ? isnan(threshold) : threshold == record->values[1]);
}

static void check_bounds(const game *g, const golden_record *record, const float *bounds)
{
    assert_int_equal(record->count, g->obs_elements);
    for (size_t i = 0; i < g->obs_elements; i++) {
        assert_true((double)bounds[i] == record->values[i]);
    }
}

static void step(game *g, const golden_record *record)
{
    const aq_env *env = g->env;
    const double *values = record->values, *obs = &values[STATE + g->numbers];
    const int32_t choice = (int32_t)values[ACTION];
    const float push = (float)values[ACTION];
    const bool is_choice = env->schema.action.kind == AQ_SPACE_DISCRETE;
    double numbers[NUMBERS_MAX];
    float reward;
    assert_int_equal(record->count, STATE + g->numbers + g->obs_elements);
    enum aq_step_end end = env->class->step(
        env->params, g->state, NULL, is_choice ? (const void *)&choice : &push, g->obs, &reward);
    assert_int_equal(end, values[TERMINATED] != 0.0 ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON);
    assert_int_equal(env->class->golden->get(env->params, g->state, "state", numbers, NUMBERS_MAX),
                     g->numbers);
    for (size_t i = 0; i < g->numbers; i++) {
        g->worst_state = fmax(g->worst_state, error_of(numbers[i], values[STATE + i]));
        g->worst[i] = fmax(g->worst[i], fabs(numbers[i] - values[STATE + i]));
    }
    for (size_t i = 0; i < g->obs_elements; i++) {
        g->worst_obs = fmax(g->worst_obs, error_of((double)g->obs[i], obs[i]));
    }
    g->worst_reward = fmax(g->worst_reward, error_of((double)reward, values[REWARD]));
    g->steps++;
    g->episode_steps++;
    g->terminations += values[TERMINATED] != 0.0;
    if (values[TRUNCATED] != 0.0) { /* the step limit's doing: the environment itself goes on */
        assert_int_equal(g->episode_steps, env->step_limit);
        assert_true(values[TERMINATED] == 0.0);
        g->truncations++;
    }
    if (!g->is_free) {
        put(g, &values[STATE]);
    }
}

static game play_as(const char *name, bool is_free)
{
    FILE *file = golden_open(name);
    golden_record record;
    game g = {.is_free = is_free};
    while (golden_next(file, &record)) {
        if (strcmp(record.kind, "env") == 0) {
            begin(&g, &record);
        } else if (strcmp(record.kind, "low") == 0) {
            check_bounds(&g, &record, g.env->schema.obs.low);
        } else if (strcmp(record.kind, "high") == 0) {
            check_bounds(&g, &record, g.env->schema.obs.high);
        } else if (strcmp(record.kind, "reset") == 0) {
            assert_int_equal(record.count, g.numbers);
            put(&g, record.values);
            g.episode_steps = 0;
        } else {
            assert_string_equal(record.kind, "step");
            step(&g, &record);
        }
    }
    fclose(file);
    aq_env_unref(g.env);
    return g;
}

static game play(const char *name)
{
    return play_as(name, true);
}

static void check_worst(const game *g, double state_error)
{
    assert_true(g->worst_state <= state_error);
    assert_true(g->worst_obs <= state_error + FLOAT_ERROR);
    assert_true(g->worst_reward <= state_error + FLOAT_ERROR);
}

TEST(acrobot_agrees)
{
    const game g = play("gym/Acrobot-v1_1.csv");
    assert_int_equal(g.steps, 200);
    check_worst(&g, 1e-12);
}

TEST(the_mountain_car_agrees_on_random_actions)
{
    const game g = play("gym/MountainCar-v0_1.csv");
    assert_int_equal(g.steps, 200);
    assert_int_equal(g.truncations, 1);
    check_worst(&g, 1e-14);
}

TEST(the_mountain_car_agrees_up_to_the_flag)
{
    const game g = play("gym/MountainCar-v0_heuristic_1.csv");
    assert_int_equal(g.steps, 250);
    assert_int_equal(g.terminations, 2);
    check_worst(&g, 1e-14);
}

TEST(the_continuous_mountain_car_agrees)
{
    const game g = play("gym/MountainCarContinuous-v0_1.csv");
    assert_int_equal(g.steps, 200);
    check_worst(&g, 1e-7); /* its state is float: a bit of ours may round to the neighbour */
}

TEST(the_pendulum_agrees)
{
    const game g = play("gym/Pendulum-v1_1.csv");
    assert_int_equal(g.steps, 200);
    assert_int_equal(g.truncations, 1);
    check_worst(&g, 1e-10);
}

static void check_cartpole_by_steps(const char *name, uint32_t steps, uint32_t truncations)
{
    const game g = play_as(name, false);
    assert_int_equal(g.numbers, 4);
    assert_int_equal(g.steps, steps);
    assert_int_equal(g.truncations, truncations);
    assert_true(g.worst[0] == 0 && g.worst[2] == 0);
    assert_true(g.worst[1] <= DBL_EPSILON && g.worst[3] <= DBL_EPSILON);
    assert_true(g.worst_obs == 0 && g.worst_reward == 0);
}

TEST(each_step_of_cartpole_agrees)
{
    check_cartpole_by_steps("gym/CartPole-v1_1.csv", 200, 0);
    check_cartpole_by_steps("gym/CartPole-v1_heuristic_1.csv", 620, 1);
}

TEST(random_episodes_of_cartpole_agree_from_reset_to_end)
{
    const game g = play("gym/CartPole-v1_1.csv");
    assert_int_equal(g.steps, 200);
    for (size_t i = 0; i < g.numbers; i++) {
        assert_true(g.worst[i] <= 3e-15);
    }
    assert_true(g.worst_obs == 0 && g.worst_reward == 0);
}
