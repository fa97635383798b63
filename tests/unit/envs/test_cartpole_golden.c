/*
 * CartPole against recordings of Gymnasium's.
 *
 * The recordings took sine and cosine from NumPy's vector routines, which may be a few units in the
 * last place off; ours (sincos.h) are correct to less than one. With NumPy's cosine moved by at
 * most three units (and its sine by one), every one of the 820 recorded steps comes out of our
 * equations bit for bit. So from a recorded state one step agrees
 *   - to the bit in position and angle, which are moved by the old velocities alone,
 *   - within DBL_EPSILON in the velocities,
 *   - to the bit in the observation, which is float.
 * Over whole episodes these differences grow as a falling pole does: over the 200 random steps,
 * with their ten resets, they stay far below a float's precision; the balanced episode of 500 steps
 * forgets its past, and can only be followed step by step.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "envs/classic/cartpole.h"
#include "tests/support/test.h"
#include "tests/unit/envs/golden_gym.h"

/* Places of a "step" record. */
enum {
    ACTION = 0,
    REWARD = 1,
    TERMINATED = 2,
    TRUNCATED = 3,
    STATE = 4,
    OBS = 8,
    STEP_VALUES = 12
};

static const char random_file[] = "CartPole-v1_1.csv";
static const char heuristic_file[] = "CartPole-v1_heuristic_1.csv";

static aq_cartpole_state state_from(const double *values)
{
    return (aq_cartpole_state){values[0], values[1], values[2], values[3]};
}

/* What a step must return whatever state it started from. */
static void check_answer(const golden_record *record, bool terminated, const float *obs,
                         float reward)
{
    assert_true(terminated == (record->values[TERMINATED] != 0.0));
    assert_true((double)reward == record->values[REWARD]);
    for (int i = 0; i < AQ_CARTPOLE_OBS; i++) {
        assert_true((double)obs[i] == record->values[OBS + i]);
    }
}

static double worst_difference(const aq_cartpole_state *s, const double *values)
{
    double worst = fmax(fabs(s->x - values[0]), fabs(s->x_dot - values[1]));
    worst = fmax(worst, fabs(s->theta - values[2]));
    return fmax(worst, fabs(s->theta_dot - values[3]));
}

/* Plays a recording; after each step the state goes on as it is (free), or as it was recorded.
 * Returns the number of steps; *ret_worst is the largest difference of any number of the state. */
static int play(const char *name, bool is_free, double *ret_worst)
{
    const aq_env_class *env = &aq_cartpole_v1;
    FILE *file = golden_open(name);
    golden_record record;
    aq_cartpole_params params;
    aq_cartpole_state s = {0};
    float obs[AQ_CARTPOLE_OBS], reward;
    int steps = 0;
    *ret_worst = 0.0;
    assert_int_equal(env->open(&params, "", NULL, NULL, NULL, NULL), 0);
    while (golden_next(file, &record)) {
        if (strcmp(record.kind, "reset") == 0) {
            assert_int_equal(record.count, 4);
            s = state_from(record.values);
        } else if (strcmp(record.kind, "step") == 0) {
            assert_int_equal(record.count, STEP_VALUES);
            int32_t action = (int32_t)record.values[ACTION];
            bool terminated =
                env->step(&params, &s, NULL, &action, obs, &reward) == AQ_STEP_TERMINATED;
            check_answer(&record, terminated, obs, reward);
            aq_cartpole_state recorded = state_from(&record.values[STATE]);
            *ret_worst = fmax(*ret_worst, worst_difference(&s, &record.values[STATE]));
            if (!is_free) {
                assert_true(s.x == recorded.x && s.theta == recorded.theta);
                s = recorded;
            }
            steps++;
        }
    }
    fclose(file);
    return steps;
}

TEST(each_random_step_agrees)
{
    double worst;
    assert_int_equal(play(random_file, false, &worst), 200);
    assert_true(worst <= DBL_EPSILON);
}

TEST(each_heuristic_step_agrees)
{
    double worst;
    assert_int_equal(play(heuristic_file, false, &worst), 620);
    assert_true(worst <= DBL_EPSILON);
}

TEST(random_episodes_agree_from_reset_to_end)
{
    double worst;
    assert_int_equal(play(random_file, true, &worst), 200);
    assert_true(worst <= 3e-15);
}

static void check_description(const char *name)
{
    const aq_env_class *env = &aq_cartpole_v1;
    FILE *file = golden_open(name);
    golden_record record;
    aq_cartpole_params params;
    aq_schema schema;
    assert_int_equal(env->open(&params, "", NULL, NULL, NULL, NULL), 0);
    env->schema(&params, &schema);

    assert_true(golden_next(file, &record));
    assert_string_equal(record.kind, "env");
    assert_ptr_equal(aq_env_find(record.name), env);
    assert_int_equal(env->step_limit, (int)record.values[0]);
    assert_true(env->reward_threshold == record.values[1]);
    assert_true(golden_next(file, &record));
    assert_string_equal(record.kind, "low");
    assert_int_equal(record.count, schema.obs.bound_count);
    for (size_t i = 0; i < record.count; i++) {
        assert_true((double)schema.obs.low[i] == record.values[i]);
    }
    assert_true(golden_next(file, &record));
    assert_string_equal(record.kind, "high");
    assert_int_equal(record.count, schema.obs.bound_count);
    for (size_t i = 0; i < record.count; i++) {
        assert_true((double)schema.obs.high[i] == record.values[i]);
    }
    fclose(file);
}

TEST(limits_threshold_and_bounds_agree)
{
    check_description(random_file);
    check_description(heuristic_file);
}

/* A recorded truncation is the step limit's doing: the environment itself goes on. */
TEST(the_recording_is_truncated_at_the_step_limit_alone)
{
    FILE *file = golden_open(heuristic_file);
    golden_record record;
    uint32_t step = 0, truncations = 0;
    while (golden_next(file, &record)) {
        if (strcmp(record.kind, "step") == 0) {
            step++;
            if (record.values[TRUNCATED] != 0.0) {
                assert_int_equal(step, aq_cartpole_v1.step_limit);
                assert_true(record.values[TERMINATED] == 0.0);
                truncations++;
            }
        }
    }
    fclose(file);
    assert_int_equal(truncations, 1);
}
