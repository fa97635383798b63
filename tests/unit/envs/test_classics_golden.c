/*
 * Gymnasium's classics against recordings of them: flags and resets as recorded, states played
 * freely from one reset to the next.
 *
 * The recordings of the two cars can be followed to the last bit but for the cosine's. Those of
 * Acrobot and Pendulum were made with NumPy's vector sine and cosine, a few units in the last place
 * off, which 200 steps make into 1e-14 and 1e-11. (CartPole has tests of its own.)
 */
#include <math.h>
#include <string.h>

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
    size_t numbers; /* of the state */
    size_t obs_elements;
    _Alignas(16) uint8_t state[STATE_BYTES_MAX];
    float obs[NUMBERS_MAX];
    double worst_state, worst_obs, worst_reward; /* scaled by the number, when larger than 1 */
    uint32_t steps, terminations, truncations;
} game;

static double error_of(double ours, double recorded)
{
    return fabs(ours - recorded) / fmax(1.0, fabs(recorded));
}

static void put(game *g, const double *numbers)
{
    const aq_golden_values values = {
        .count = 1, .rows = {{.name = "state", .count = g->numbers, .numbers = numbers}}};
    aq_error error;
    assert_int_equal(g->env->class->golden->set(g->env->params, g->state, &values, &error), 0);
}

static void begin(game *g, const golden_record *record)
{
    if (g->env == NULL) {
        aq_error error;
        char name[AQ_TASK_NAME_MAX] = "gym:";
        strncat(name, record->name, sizeof(name) - sizeof("gym:"));
        assert_int_equal(aq_env_open(name, &g->env, &error), 0);
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
    }
    for (size_t i = 0; i < g->obs_elements; i++) {
        g->worst_obs = fmax(g->worst_obs, error_of((double)g->obs[i], obs[i]));
    }
    g->worst_reward = fmax(g->worst_reward, error_of((double)reward, values[REWARD]));
    g->steps++;
    g->terminations += values[TERMINATED] != 0.0;
    g->truncations += values[TRUNCATED] != 0.0;
}

static game play(const char *name)
{
    FILE *file = golden_open(name);
    golden_record record;
    game g = {0};
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
        } else {
            assert_string_equal(record.kind, "step");
            step(&g, &record);
        }
    }
    fclose(file);
    aq_env_unref(g.env);
    return g;
}

static void check_worst(const game *g, double state_error)
{
    assert_true(g->worst_state <= state_error);
    assert_true(g->worst_obs <= state_error + FLOAT_ERROR);
    assert_true(g->worst_reward <= state_error + FLOAT_ERROR);
}

TEST(acrobot_agrees)
{
    const game g = play("Acrobot-v1_1.csv");
    assert_int_equal(g.steps, 200);
    check_worst(&g, 1e-12);
}

TEST(the_mountain_car_agrees_on_random_actions)
{
    const game g = play("MountainCar-v0_1.csv");
    assert_int_equal(g.steps, 200);
    assert_int_equal(g.truncations, 1);
    check_worst(&g, 1e-14);
}

TEST(the_mountain_car_agrees_up_to_the_flag)
{
    const game g = play("MountainCar-v0_heuristic_1.csv");
    assert_int_equal(g.steps, 250);
    assert_int_equal(g.terminations, 2);
    check_worst(&g, 1e-14);
}

TEST(the_continuous_mountain_car_agrees)
{
    const game g = play("MountainCarContinuous-v0_1.csv");
    assert_int_equal(g.steps, 200);
    check_worst(&g, 1e-7); /* its state is float: a bit of ours may round to the neighbour */
}

TEST(the_pendulum_agrees)
{
    const game g = play("Pendulum-v1_1.csv");
    assert_int_equal(g.steps, 200);
    assert_int_equal(g.truncations, 1);
    check_worst(&g, 1e-10);
}
