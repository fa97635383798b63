/*
 * Recordings are read in each of their forms, and what is none is refused in words.
 */
#include "bench/env_replay/recording.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST_ENDING(free_recording, aq_recording_free);

static aq_recording *read_golden(const char *name)
{
    char path[CLI_PATH_MAX];
    aq_recording *recording = NULL;
    (void)snprintf(path, sizeof(path), "%s/recordings/%s", AQ_GOLDEN_DIR, name);
    assert_succeeds(aq_recording_read(path, &recording, &refusal));
    at_end(free_recording, recording);
    return recording;
}

static void refuse(void **state, const char *text, int code, const char *words)
{
    aq_recording *recording = NULL;
    const char *path = cli_path(state, "recording.json");
    file_put_text(path, text);
    assert_int_equal(aq_recording_read(path, &recording, &refusal), code);
    assert_null(recording);
    assert_says(refusal.text, words);
}

/* ---- forms ---------------------------------------------------------------------------------- */

TEST(an_episode_of_gymnasium_has_states_and_resets)
{
    aq_golden_values values;
    size_t reset;
    aq_recording *recording = read_golden("gym/CartPole-v1_1.json");
    assert_int_equal(recording->form, AQ_RECORDING_EPISODE);
    assert_string_equal(recording->task, "gym:CartPole-v1");
    assert_int_equal(recording->step_count, 200);
    assert_int_equal(recording->observations.width, 4);
    assert_false(aq_recording_reset_after(recording, 11, &reset));
    assert_true(aq_recording_reset_after(recording, 12, &reset));
    assert_true(recording->terminated.numbers[12] == 1.0);

    aq_recording_at_start(recording, &values);
    const double *first = aq_golden_find(&values, "state", 4);
    assert_non_null(first);
    assert_true(first[0] == 0.0011821624700256717);
    aq_recording_at_step(recording, 0, &values);
    assert_true(aq_golden_find(&values, "state", 4)[0] == 0.0020830898626775425);
    aq_recording_at_reset(recording, reset, &values);
    assert_true(aq_golden_find(&values, "state", 4)[0] == -0.018816854798951455);
    assert_null(aq_golden_find(&values, "state", 3));
}

TEST(an_episode_of_the_suite_has_the_physics_own_state)
{
    aq_golden_values values;
    aq_recording *recording = read_golden("dmc/walker_walk_3.json");
    assert_string_equal(recording->task, "dmc:walker_walk");
    assert_int_equal(recording->form, AQ_RECORDING_EPISODE);
    aq_recording_at_start(recording, &values);
    assert_non_null(aq_golden_find(&values, "qpos", 9));
    assert_non_null(aq_golden_find(&values, "qacc_warmstart", 9));
    assert_null(aq_golden_find(&values, "act", 0)); /* nothing is left out */
    aq_recording_at_step(recording, 249, &values);
    assert_non_null(aq_golden_find(&values, "qvel", 9));
    assert_non_null(aq_golden_find(&values, "qacc_warmstart", 9));
    for (size_t i = 0; i < recording->step_count; i++) {
        assert_true(recording->terminated.numbers[i] == 0);
        assert_true(recording->truncated.numbers[i] == 0);
    }
}

TEST(a_target_among_the_changes_of_the_model_holds_for_all_steps)
{
    aq_golden_values values;
    aq_recording *recording = read_golden("dmc/finger_turn_hard_1.json");
    for (int place = 0; place < 2; place++) {
        if (place == 0) {
            aq_recording_at_start(recording, &values);
        } else {
            aq_recording_at_step(recording, 5, &values);
        }
        const double *target = aq_golden_find(&values, "target_site_pos", 3);
        assert_non_null(target);
        assert_true(target[0] == 0.13525152143779762);
        assert_true(target[1] == 0.0);
        assert_true(target[2] == 0.5127281443290894);
    }
}

TEST(probes_are_states_without_actions)
{
    aq_golden_values values;
    aq_recording *recording = read_golden("dmc/probe/reacher_easy.json");
    assert_int_equal(recording->form, AQ_RECORDING_PROBES);
    assert_string_equal(recording->task, "dmc:reacher_easy");
    assert_int_equal(recording->step_count, 48);
    assert_null(recording->actions.numbers);
    aq_recording_at_step(recording, 0, &values);
    assert_non_null(aq_golden_find(&values, "ctrl", 2));
    assert_non_null(aq_golden_find(&values, "target_geom_pos", 3));
}

TEST(a_table_names_its_task_with_options)
{
    aq_recording *recording = read_golden("gym/FrozenLake-v1_4x4_slippery.json");
    const aq_recorded_table *table = &recording->table;
    assert_int_equal(recording->form, AQ_RECORDING_TABLE);
    assert_string_equal(recording->task, "gym:FrozenLake-v1?map=4x4&slippery=yes");
    assert_int_equal(table->cells, 16);
    assert_int_equal(table->actions, 4);
    assert_int_equal(table->offsets[0], 0);
    assert_int_equal(table->offsets[1], 3);
    assert_int_equal(table->outcomes[2].next, 4);
    assert_true(table->start_chances.numbers[0] == 1.0);
    assert_int_equal(table->episode_count, 2);
    assert_int_equal(table->episodes[0].step_count, 60);
    recording = read_golden("gym/CliffWalking-v1_slippery.json");
    assert_string_equal(recording->task, "gym:CliffWalking-v1?slippery=yes");
}

/* ---- refusals ------------------------------------------------------------------------------- */

TEST(what_is_no_json_is_refused_by_line)
{
    refuse(state, "{\n\"id\":", AQ_E_CORRUPT, "line 2 is no JSON");
    refuse(state, "", AQ_E_CORRUPT, "is no JSON");
    refuse(state, "{\"id\": \"a\", \"id\": \"b\"}", AQ_E_CORRUPT, "duplicate");
    refuse(state, "{\"id\": NaN}", AQ_E_CORRUPT, "is no JSON");
}

TEST(other_json_is_not_a_recording)
{
    refuse(state, "{}", AQ_E_FOREIGN, "no recording");
    refuse(state, "[1]", AQ_E_FOREIGN, "no recording");
    refuse(state, "{\"id\": \"CartPole-v1\"}", AQ_E_FOREIGN, "no recording");
    refuse(state, "{\"domain\": \"walker\", \"task\": \"walk\"}", AQ_E_FOREIGN, "no recording");
}

TEST(a_missing_file_is_said_to_be_missing)
{
    aq_recording *recording = NULL;
    assert_int_equal(aq_recording_read(cli_path(state, "none.json"), &recording, &refusal),
                     AQ_E_NOT_FOUND);
}

#define GYM "{\"id\": \"X\", \"states\": [[1], [2]], "

TEST(broken_episodes_are_refused_by_member)
{
    refuse(state, GYM "\"actions\": 3}", AQ_E_CORRUPT, "'actions' is missing or no array");
    refuse(state, GYM "\"actions\": []}", AQ_E_CORRUPT, "'actions' has 0 rows");
    refuse(state, GYM "\"actions\": [0, 1], \"observations\": [[1]]}", AQ_E_CORRUPT,
           "'observations' has 1 rows, not 2");
    refuse(state,
           GYM "\"actions\": [0, 1], \"observations\": [[1], [2]], \"rewards\": "
               "[[1, 2], [1, 2]]}",
           AQ_E_CORRUPT, "'rewards' holds more than a number a step");
    refuse(state,
           GYM "\"actions\": [0, 1], \"observations\": [[1], [2]], \"rewards\": [1, 2], "
               "\"initial_observation\": [1, 2]}",
           AQ_E_CORRUPT, "'initial_observation' has another width");
    refuse(state,
           GYM "\"actions\": [0, 1], \"observations\": [[1], [2]], \"rewards\": [1, 2], "
               "\"initial_observation\": [1], \"terminated\": [false, false], "
               "\"truncated\": [false, false], \"initial_state\": [1, 2]}",
           AQ_E_CORRUPT, "'state' has not always the same count of numbers");
    refuse(state,
           GYM "\"actions\": [0, 1], \"observations\": [[1], [2]], \"rewards\": [1, 2], "
               "\"initial_observation\": [1], \"terminated\": [false, false], "
               "\"truncated\": [false, false], \"initial_state\": [1], "
               "\"resets\": [{\"after_step\": 0}]}",
           AQ_E_CORRUPT, "reset 0 has no 'state'");
}

TEST(broken_tables_are_refused)
{
    refuse(state, "{\"id\": \"X\", \"P\": []}", AQ_E_CORRUPT, "no table of states");
    refuse(state, "{\"id\": \"X\", \"P\": [[[[1, 1, 0, false]]]]}", AQ_E_CORRUPT,
           "state 0, action 0: 'P' leads to a state 1 that there is not");
    refuse(state, "{\"id\": \"X\", \"P\": [[[[1, 0, 0]]]]}", AQ_E_CORRUPT,
           "has not 1 to 16 outcomes of 4 numbers");
    refuse(state, "{\"id\": \"X\", \"P\": [[[[1, 0, 0, true]]], []]}", AQ_E_CORRUPT,
           "state 1 in 'P' has 0 actions, not 1");
    refuse(state, "{\"id\": \"X_muddy\", \"P\": [[[[1, 0, 0, true]]]]}", AQ_E_CORRUPT,
           "'muddy' in 'id'");
    refuse(state,
           "{\"id\": \"X\", \"P\": [[[[1, 0, 0, true]]]], \"initial_state_distrib\": "
           "[0.5, 0.5]}",
           AQ_E_CORRUPT, "has 2 numbers for 1 states");
    refuse(state,
           "{\"id\": \"X\", \"P\": [[[[1, 0, 0, true]]]], \"episodes\": "
           "[{\"initial_state\": 0, \"steps\": [[0, 0, 0, true, false, 1]]}]}",
           AQ_E_CORRUPT, "episode 0: the end of an episode does not say");
    refuse(state,
           "{\"id\": \"X\", \"P\": [[[[1, 0, 0, true]]]], \"episodes\": "
           "[{\"initial_state\": 0, \"steps\": [[3, 0, 0, true, false, 1, 0]]}]}",
           AQ_E_CORRUPT, "leaves the table");
}

TEST(broken_probes_are_refused)
{
    refuse(state, "{\"domain\": \"d\", \"task\": \"t\", \"probes\": []}", AQ_E_CORRUPT,
           "'probes' is no array of one to");
    refuse(state, "{\"domain\": \"d\", \"task\": \"t\", \"probes\": [{\"qpos\": [1]}, {}]}",
           AQ_E_CORRUPT, "probe 1 has no 'qpos'");
    refuse(state, "{\"domain\": \"d\", \"task\": \"t\", \"probes\": [{\"qpos\": [1]}]}",
           AQ_E_CORRUPT, "a probe has an 'observation' and a 'reward'");
}

TEST(a_failing_allocation_leaves_nothing)
{
    static const char *const names[] = {"gym/CartPole-v1_1.json", "dmc/finger_turn_hard_1.json",
                                        "dmc/probe/reacher_easy.json"};
    EACH_ROW(i, names) {
        char path[CLI_PATH_MAX];
        aq_recording *recording = NULL;
        int rc = 0;
        (void)snprintf(path, sizeof(path), "%s/recordings/%s", AQ_GOLDEN_DIR, names[i]);
        EACH_ALLOCATION_FAILS(rc) {
            rc = aq_recording_read(path, &recording, &refusal);
            assert_true((rc == 0) == (recording != NULL));
        }
        aq_recording_free(recording);
    }
    aq_recording_free(NULL);
}

TEST(a_table_that_finds_no_memory_leaves_nothing)
{
    const char *path = cli_path(state, "small.json");
    aq_recording *recording = NULL;
    file_put_text(path, "{\"id\": \"X\", \"P\": [[[[1, 0, 0, true]]]], \"episodes\": "
                        "[{\"initial_state\": 0, \"steps\": [[0, 0, 0, true, false, 1, 0]]}]}");
    assert_made_despite_failures(recording, aq_recording_read(path, &recording, &refusal));
    aq_recording_free(recording);
}

TEST_GROUP(cli_fixture_setup, cli_fixture_teardown);
