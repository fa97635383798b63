/*
 * The environments do what the originals did, in every recording of tests/golden/recordings.
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

#include "bench/env_replay/playback.h"
#include "bench/env_replay/playback_subject.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { CARTPOLE_NUMBERS = 4 };

/* What is compared is the recording's double with our float: half a unit of a float apart. */
#define FLOAT_ERROR 6e-8

static const char *path_of(const char *name)
{
    static char path[CLI_PATH_MAX];
    (void)snprintf(path, sizeof(path), "%s/recordings/%s.json", AQ_GOLDEN_DIR, name);
    return path;
}

TEST_ENDING(free_recording, aq_recording_free);

static aq_recording *read_original(const char *name)
{
    aq_recording *recording = NULL;
    assert_succeeds(aq_recording_read(path_of(name), &recording, &refusal));
    at_end(free_recording, recording);
    return recording;
}

/* `most` is that of states, `most_shown` of observations and rewards. */
static aq_playback_report check(const aq_recording *recording, bool per_step, double most,
                                double most_shown)
{
    aq_playback_report report;
    const aq_env *env = cli_env(recording->task);
    assert_succeeds(
        aq_playback(env, aq_original_of(env->class), recording, per_step, &report, &refusal));
    assert_true(report.obs.compared > 0 && report.reward.compared > 0 && report.state.compared > 0);
    assert_near(report.obs.error, 0, most_shown);
    assert_near(report.reward.error, 0, most_shown);
    assert_near(report.state.error, 0, most);
    assert_int_equal(report.mismatched_flags, 0);
    return report;
}

/* ---- descriptions --------------------------------------------------------------------------- */

static double bound_of(const json_t *value)
{
    return json_is_string(value) ? strtod(json_string_value(value), NULL)
                                 : json_number_value(value);
}

static void check_bounds(const aq_space *space, const float *ours, const json_t *recorded)
{
    assert_int_equal(json_array_size(recorded), aq_space_elements(space));
    for (size_t i = 0; i < json_array_size(recorded); i++) {
        assert_true((double)ours[i] == bound_of(json_array_get(recorded, i)));
    }
}

/* What Gymnasium says of the task; it keeps the small lake's threshold for the large one. */
static void check_description(const char *name, const aq_env *env)
{
    const json_t *root = cli_json(json_load_file(path_of(name), 0, NULL));
    const json_t *threshold = json_object_get(root, "reward_threshold");
    const bool has_threshold = json_is_number(threshold) && strstr(name, "8x8") == NULL;
    const json_t *bounds = json_object_get(root, "observation_space");
    assert_true((double)env->step_limit ==
                json_number_value(json_object_get(root, "max_episode_steps")));
    assert_true(has_threshold ? env->reward_threshold == json_number_value(threshold)
                              : isnan(env->reward_threshold));
    if (bounds != NULL) {
        const aq_space *space = &env->schema.obs;
        check_bounds(space, space->low, json_object_get(bounds, "low"));
        check_bounds(space, space->high, json_object_get(bounds, "high"));
    }
}

/* ---- classics ------------------------------------------------------------------------------- */

static size_t count_of(const aq_number_matrix *flags)
{
    size_t count = 0;
    for (size_t i = 0; i < flags->rows; i++) {
        count += flags->numbers[i] != 0;
    }
    return count;
}

TEST(classics_agree)
{
    static const struct {
        const char *name;
        bool per_step;
        size_t steps, terminations, truncations;
        double most, most_shown;
    } rows[] = {
        {"gym/Acrobot-v1_1", false, 200, 0, 0, 1e-12, 1e-12 + FLOAT_ERROR},
        {"gym/MountainCar-v0_1", false, 200, 0, 1, 1e-14, 1e-14 + FLOAT_ERROR},
        {"gym/MountainCar-v0_heuristic_1", false, 620, 5, 0, 1e-14, 1e-14 + FLOAT_ERROR},
        /* Its state is float: a bit of ours may round to the neighbour. */
        {"gym/MountainCarContinuous-v0_1", false, 200, 0, 0, 1e-7, 1e-7 + FLOAT_ERROR},
        {"gym/Pendulum-v1_1", false, 200, 0, 1, 1e-10, 1e-10 + FLOAT_ERROR},
        {"gym/CartPole-v1_1", false, 200, 10, 0, 3e-15, 0},
        {"gym/CartPole-v1_1", true, 200, 10, 0, DBL_EPSILON, 0},
        {"gym/CartPole-v1_heuristic_1", true, 620, 0, 1, DBL_EPSILON, 0},
    };
    EACH_ROW(i, rows) {
        const aq_recording *recording = read_original(rows[i].name);
        assert_int_equal(recording->step_count, rows[i].steps);
        assert_int_equal(count_of(&recording->terminated), rows[i].terminations);
        assert_int_equal(count_of(&recording->truncated), rows[i].truncations);
        (void)check(recording, rows[i].per_step, rows[i].most, rows[i].most_shown);
        check_description(rows[i].name, cli_env(recording->task));
    }
}

TEST(a_value_that_is_not_known_or_finds_no_room_is_not_given)
{
    static const char *const rows[] = {"gym:Acrobot-v1", "gym:MountainCar-v0"};
    EACH_ROW(i, rows) {
        const aq_env *env = cli_env(rows[i]);
        const aq_original *original = aq_original_of(env->class);
        const double zeros[CARTPOLE_NUMBERS] = {0};
        double out[CARTPOLE_NUMBERS];
        assert_int_equal(original->get(env->params, zeros, "state", out, 1), 0);
        assert_int_equal(original->get(env->params, zeros, "qpos", out, CARTPOLE_NUMBERS), 0);
    }
    assert_null(aq_original_of(cli_env("game:breakout")->class));
}

static void set_after(aq_playback_subject *subject, const aq_recording *recording, size_t step,
                      bool per_step)
{
    aq_golden_values values;
    size_t reset;
    const bool is_reset = aq_recording_reset_after(recording, step, &reset);
    if (is_reset) {
        aq_recording_at_reset(recording, reset, &values);
    } else {
        aq_recording_at_step(recording, step, &values);
    }
    if (is_reset || per_step) {
        assert_succeeds(aq_playback_subject_set(subject, &values, is_reset, &refusal));
    }
}

/* The largest error of each number of the state, unscaled. */
static void play_cartpole(const char *name, bool per_step, double ret_worst[CARTPOLE_NUMBERS])
{
    aq_playback_subject subject;
    aq_golden_values values;
    const aq_recording *recording = read_original(name);
    const aq_env *env = cli_env(recording->task);
    memset(ret_worst, 0, CARTPOLE_NUMBERS * sizeof(*ret_worst));
    assert_succeeds(aq_playback_subject_init(&subject, env, aq_original_of(env->class), &refusal));
    aq_recording_at_start(recording, &values);
    assert_succeeds(aq_playback_subject_set(&subject, &values, true, &refusal));
    for (size_t step = 0; step < recording->step_count; step++) {
        double ours[CARTPOLE_NUMBERS];
        const double *recorded = aq_number_matrix_row(&recording->series[0].steps, step);
        const double *action = aq_number_matrix_row(&recording->actions, step);
        assert_succeeds(aq_playback_subject_step(&subject, action, &refusal));
        assert_int_equal(
            subject.original->get(env->params, subject.state, "state", ours, CARTPOLE_NUMBERS),
            CARTPOLE_NUMBERS);
        for (size_t i = 0; i < CARTPOLE_NUMBERS; i++) {
            ret_worst[i] = fmax(ret_worst[i], fabs(ours[i] - recorded[i]));
        }
        set_after(&subject, recording, step, per_step);
    }
    aq_playback_subject_fini(&subject);
}

TEST(a_step_of_cartpole_moves_position_and_angle_to_the_bit)
{
    static const char *const rows[] = {"gym/CartPole-v1_1", "gym/CartPole-v1_heuristic_1"};
    EACH_ROW(i, rows) {
        double worst[CARTPOLE_NUMBERS];
        play_cartpole(rows[i], true, worst);
        assert_true(worst[0] == 0 && worst[2] == 0);
        assert_true(worst[1] <= DBL_EPSILON && worst[3] <= DBL_EPSILON);
    }
}

TEST(random_episodes_of_cartpole_agree_in_each_number)
{
    double worst[CARTPOLE_NUMBERS];
    play_cartpole("gym/CartPole-v1_1", false, worst);
    for (size_t i = 0; i < CARTPOLE_NUMBERS; i++) {
        assert_true(worst[i] <= 3e-15);
    }
}

/* ---- toy text ------------------------------------------------------------------------------- */

/* Outcome for outcome, in their order. */
static void check_outcomes(const aq_env *env, const aq_recorded_table *table)
{
    for (uint32_t pair = 0; pair < table->cells * table->actions; pair++) {
        aq_tabular_outcome ours[AQ_ORIGINAL_OUTCOMES_MAX];
        const aq_tabular_outcome *recorded = table->outcomes + table->offsets[pair];
        const size_t count =
            aq_original_of(env->class)
                ->outcomes(env->params, pair / table->actions, pair % table->actions, ours);
        assert_int_equal(count, table->offsets[pair + 1] - table->offsets[pair]);
        for (size_t i = 0; i < count; i++) {
            assert_true(ours[i].chance == recorded[i].chance);
            assert_int_equal(ours[i].next, recorded[i].next);
            assert_true(ours[i].reward == recorded[i].reward);
            assert_int_equal(ours[i].terminated, recorded[i].terminated);
        }
    }
}

TEST(toy_text_agrees_number_for_number)
{
    static const char *const rows[] = {
        "gym/CliffWalking-v1",
        "gym/CliffWalking-v1_slippery",
        "gym/FrozenLake-v1_4x4_deterministic",
        "gym/FrozenLake-v1_4x4_slippery",
        "gym/FrozenLake-v1_8x8_deterministic",
        "gym/FrozenLake-v1_8x8_slippery",
        "gym/Taxi-v3",
        "gym/Taxi-v4",
    };
    EACH_ROW(i, rows) {
        const aq_recording *recording = read_original(rows[i]);
        const aq_recorded_table *table = &recording->table;
        const aq_env *env = cli_env(recording->task);
        const aq_playback_report report = check(recording, false, 0, 0);
        assert_int_equal(report.state.compared, table->cells);
        assert_int_equal(report.steps, (uint64_t)table->cells * table->actions);
        assert_int_equal(table->episode_count, 2);
        assert_int_equal(table->episodes[0].step_count + table->episodes[1].step_count, 120);
        check_outcomes(env, table);
        check_description(rows[i], env);
    }
}

/* ---- the control suite ---------------------------------------------------------------------- */

typedef struct suite_row {
    const char *name;
    double most;
} suite_row;

static void check_suite(const suite_row *row, bool per_step, size_t steps)
{
    const aq_recording *recording = read_original(row->name);
    assert_int_equal(recording->step_count, steps);
    const aq_playback_report report = check(recording, per_step, row->most, row->most);
    assert_int_equal(report.reward.compared, report.steps);
}

static void skip_without_mujoco(void)
{
    aq_env *env = NULL;
    if (aq_env_open("dmc:cartpole_balance", &env, &refusal) != 0) {
        assert_says(refusal.text, "this build has no MuJoCo");
        skip();
    }
    aq_env_unref(env);
}

TEST(every_body_moves_as_the_original)
{
    static const suite_row rows[] = {
        {"dmc/acrobot_swingup_1", 1e-11},  {"dmc/ball_in_cup_catch_1", 1e-11},
        {"dmc/cartpole_balance_1", 1e-11}, {"dmc/cartpole_balance_sparse_1", 1e-11},
        {"dmc/cartpole_swingup_1", 1e-11}, {"dmc/cartpole_swingup_sparse_1", 1e-11},
        {"dmc/cheetah_run_1", 1e-11},      {"dmc/finger_spin_1", 1e-11},
        {"dmc/finger_turn_easy_1", 1e-11}, {"dmc/finger_turn_hard_1", 1e-11},
        {"dmc/hopper_hop_1", 1e-11},       {"dmc/hopper_stand_1", 1e-11},
        {"dmc/humanoid_run_1", 1e-7},      {"dmc/humanoid_stand_1", 1e-7},
        {"dmc/humanoid_walk_1", 1e-7},     {"dmc/pendulum_swingup_1", 1e-11},
        {"dmc/point_mass_easy_1", 1e-11},  {"dmc/reacher_easy_1", 1e-11},
        {"dmc/reacher_hard_1", 1e-11},     {"dmc/walker_run_1", 1e-9},
        {"dmc/walker_stand_1", 1e-9},      {"dmc/walker_walk_1", 1e-9},
    };
    skip_without_mujoco();
    EACH_ROW(i, rows) {
        check_suite(&rows[i], false, 100);
    }
}

TEST(each_step_in_contact_is_the_originals)
{
    static const suite_row rows[] = {
        {"dmc/ball_in_cup_catch_3", 1e-9},
        {"dmc/cheetah_run_3", 1e-9},
        {"dmc/finger_spin_3", 1e-9},
        {"dmc/walker_walk_3", 1e-9},
    };
    skip_without_mujoco();
    EACH_ROW(i, rows) {
        check_suite(&rows[i], true, 250);
    }
}

TEST(every_body_sees_and_earns_what_the_original_does)
{
    static const suite_row rows[] = {
        {"dmc/probe/acrobot_swingup", 1e-11},  {"dmc/probe/ball_in_cup_catch", 1e-11},
        {"dmc/probe/cartpole_swingup", 1e-11}, {"dmc/probe/cheetah_run", 1e-11},
        {"dmc/probe/finger_turn_easy", 1e-11}, {"dmc/probe/hopper_stand", 1e-11},
        {"dmc/probe/humanoid_walk", 1e-9},     {"dmc/probe/pendulum_swingup", 1e-11},
        {"dmc/probe/reacher_easy", 1e-11},     {"dmc/probe/walker_walk", 1e-11},
    };
    skip_without_mujoco();
    EACH_ROW(i, rows) {
        check_suite(&rows[i], false, 48);
    }
}
