/*
 * env_replay as it is run by hand and by tools/env_tables.py.
 */
#include "tests/integration/cli/program.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { PATH_MAX_BYTES = 1024 };

static const char *golden(const char *name)
{
    static char path[PATH_MAX_BYTES];
    (void)snprintf(path, sizeof(path), "%s/recordings/%s", AQ_GOLDEN_DIR, name);
    return path;
}

TEST(mistakes_are_answered_in_words)
{
    program_refuses("env_replay: FILE.json is missing", NULL, NULL);
    program_refuses("env_replay: 'b.json' is one argument too many after 'a.json'", "a.json",
                    "b.json", NULL);
    program_refuses("env_replay: unknown option --per-stp", "--per-stp", NULL);
}

TEST(it_has_help)
{
    program_succeeds("--help", NULL);
    program_assert_out("Usage: env_replay FILE.json [options]");
    program_assert_out("--per-step");
}

/* Runs it and returns its object, whose members are checked; it is the test's. */
static json_t *play(const char *name, bool per_step)
{
    const char *file, *task, *form;
    json_int_t steps, flags;
    int is_per_step;
    double obs, reward, state_error;
    json_t *object = program_gives(golden(name), "--json", per_step ? "--per-step" : NULL, NULL);
    assert_int_equal(json_unpack(object, "{s:s, s:s, s:s, s:b, s:I, s:F, s:F, s:F, s:I}", "file",
                                 &file, "task", &task, "form", &form, "per_step", &is_per_step,
                                 "steps", &steps, "max_obs_error", &obs, "max_reward_error",
                                 &reward, "max_state_error", &state_error, "mismatched_flags",
                                 &flags),
                     0);
    assert_string_equal(file, golden(name));
    assert_int_equal(flags, 0);
    assert_true(steps > 0);
    assert_true(is_per_step == (per_step && strcmp(form, "episode") == 0));
    return object;
}

static double member(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static void assert_agrees(const char *name, const char *form, double tolerance)
{
    for (int per_step = 0; per_step < 2; per_step++) {
        json_t *object = play(name, per_step);
        assert_string_equal(json_string_value(json_object_get(object, "form")), form);
        assert_true(member(object, "max_obs_error") <= tolerance);
        assert_true(member(object, "max_reward_error") <= tolerance);
        assert_true(member(object, "max_state_error") <= tolerance);
    }
}

TEST(recordings_of_gymnasium_agree)
{
    assert_agrees("gym/CartPole-v1_1.json", "episode", 1e-6);
    assert_agrees("gym/Pendulum-v1_1.json", "episode", 5e-4);
    assert_agrees("gym/FrozenLake-v1_4x4_slippery.json", "table", 1e-12);
    assert_agrees("gym/CliffWalking-v1_slippery.json", "table", 1e-12);
}

TEST(recordings_of_the_control_suite_agree)
{
    if (program_run(golden("dmc/walker_walk_1.json"), NULL)->exit_status != 0) {
        program_assert_failure(1, "this build has no MuJoCo");
        skip();
    }
    assert_agrees("dmc/cartpole_swingup_1.json", "episode", 1e-11);
    assert_agrees("dmc/finger_turn_hard_1.json", "episode", 1e-11);
    assert_agrees("dmc/walker_walk_1.json", "episode", 1e-9);
    assert_agrees("dmc/probe/reacher_easy.json", "probes", 1e-11);
}

TEST(people_see_what_differs)
{
    program_succeeds(golden("gym/CartPole-v1_1.json"), "--per-step", NULL);
    program_assert_out("gym:CartPole-v1, 200 steps, each from its recorded state\n");
    program_assert_out("observations ");
    program_assert_out("flags           0 differ\n");
}

TEST(another_task_can_be_compared)
{
    json_t *object = program_gives(golden("gym/CartPole-v1_1.json"), "--task", "gym:CartPole-v0",
                                   "--json", NULL);
    assert_string_equal(json_string_value(json_object_get(object, "task")), "gym:CartPole-v0");
    program_refuses("an observation of gym:MountainCar-v0 has 2 numbers, a recorded one "
                    "4",
                    golden("gym/CartPole-v1_1.json"), "--task", "gym:MountainCar-v0", NULL);
}

TEST(files_that_are_no_recordings_are_refused)
{
    const char *path = cli_path(state, "recording.json");
    program_refuses("none.json", cli_path(state, "none.json"), NULL);
    file_put_text(path, "{\"id\": \"CartPole-v1\", \"states\": [[0");
    program_refuses("line 1 is no JSON", path, NULL);
    file_put_text(path, "{\"what\": \"ever\"}");
    program_refuses("recording.json: no recording: it has neither 'id' with", path, NULL);
    file_put_text(path, "{\"id\": \"CartPole-v1\", \"states\": [[0, 0, 0, 0]], \"actions\": [1], "
                        "\"observations\": []}");
    program_refuses("'observations' has 0 rows, not 1", path, NULL);
    file_put_text(path, "{\"id\": \"FrozenLake-v7\", \"P\": [[[[1, 0, 0, true]]]]}");
    program_refuses("the task 'gym:FrozenLake-v7' is not known; did you mean "
                    "'gym:FrozenLake-v1'?",
                    path, "--json", NULL);
}

TEST(a_recording_of_something_else_differs)
{
    const char *path = cli_path(state, "changed.json");
    char *text = file_text(golden("gym/CartPole-v1_1.json"));
    char *number = strstr(strstr(text, "\"observations\":"), "0.");
    number[2] ^= 1; /* a tenth more or less */
    file_put_text(path, text);
    const json_t *object = program_gives(path, "--json", NULL);
    assert_near(member(object, "max_obs_error"), 0.1, 1e-6);
}

TEST_GROUP(cli_fixture_setup, cli_fixture_teardown);
