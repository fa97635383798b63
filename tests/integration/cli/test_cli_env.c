/*
 * `actorq env replay` and `actorq env bench` as their users run them. Times are never asserted: the
 * machine is shared.
 */
#include <stdio.h>
#include <string.h>

#include "tests/integration/cli/program.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { PATH_MAX_BYTES = 1024 };

static const char *golden(const char *name)
{
    static char path[PATH_MAX_BYTES];
    (void)snprintf(path, sizeof(path), "%s/replay/%s", AQ_GOLDEN_DIR, name);
    return path;
}

/* ---- env ------------------------------------------------------------------------------------ */

TEST(subcommands_are_listed)
{
    program_run("env", "--help", NULL);
    program_assert_success();
    program_assert_out("Usage: actorq env SUBCOMMAND [options]");
    program_assert_out("bench ");
    program_assert_out("replay ");
    program_assert_out("--json");
    program_assert_out("Example");
}

TEST(mistakes_are_answered_in_words)
{
    program_run("env", NULL);
    program_assert_failure(1, "actorq env: SUBCOMMAND is missing");
    program_run("env", "repaly", NULL);
    program_assert_failure(1, "there is no subcommand 'repaly'; did you mean 'replay'?");
    program_run("env", "replay", NULL);
    program_assert_failure(1, "actorq env replay: FILE.json is missing");
    program_run("env", "replay", "a.json", "b.json", NULL);
    program_assert_failure(1, "'b.json' is one argument too many after 'a.json'");
    program_run("env", "replay", "--per-stp", NULL);
    program_assert_failure(1, "actorq env replay: unknown option --per-stp");
    program_run("env", "bench", NULL);
    program_assert_failure(1, "actorq env bench: TASK is missing");
    program_run("env", "bench", "gym:CartPole-v1", "--seconds", "0", NULL);
    program_assert_failure(1, "--seconds: '0' is not a whole number from 1 to 600");
    program_run("env", "bench", "gym:CartPole-v1", "--envs", "5000", NULL);
    program_assert_failure(1, "--envs: '5000' is not a whole number from 1 to 4096");
    program_run("env", "bench", "gym:CartPole", NULL);
    program_assert_failure(1, "did you mean 'gym:CartPole-v");
}

TEST(subcommands_have_help)
{
    program_run("env", "replay", "--help", NULL);
    program_assert_success();
    program_assert_out("Usage: actorq env replay FILE.json [options]");
    program_assert_out("--per-step");
    program_run("env", "bench", "--help", NULL);
    program_assert_success();
    program_assert_out("Usage: actorq env bench TASK [options]");
    program_assert_out("--envs");
}

/* ---- replay --------------------------------------------------------------------------------- */

/* Runs it and returns its object, whose members are checked; json_decref it. */
static json_t *replay(const char *name, bool per_step)
{
    const char *file, *task, *form;
    json_int_t steps, flags;
    int is_per_step;
    double obs, reward, state_error;
    program_run("env", "replay", golden(name), "--json", per_step ? "--per-step" : NULL, NULL);
    program_assert_success();
    json_t *object = program_json();
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
        json_t *object = replay(name, per_step);
        assert_string_equal(json_string_value(json_object_get(object, "form")), form);
        assert_true(member(object, "max_obs_error") <= tolerance);
        assert_true(member(object, "max_reward_error") <= tolerance);
        assert_true(member(object, "max_state_error") <= tolerance);
        json_decref(object);
    }
}

TEST(recordings_of_gymnasium_agree)
{
    assert_agrees("CartPole-v1_1.json", "episode", 1e-6);
    assert_agrees("Pendulum-v1_1.json", "episode", 5e-4);
    assert_agrees("FrozenLake-v1_4x4_slippery.json", "table", 1e-12);
    assert_agrees("CliffWalking-v1_slippery.json", "table", 1e-12);
}

static bool has_control_suite(void)
{
    program_run("envs", "dmc:walker_walk", NULL);
    return program_run("envs", "dmc:walker_walk", NULL)->exit_status == 0;
}

TEST(recordings_of_the_control_suite_agree)
{
    if (!has_control_suite()) {
        program_run("env", "replay", golden("walker_walk_3.json"), NULL);
        program_assert_failure(1, "this build has no MuJoCo");
        skip();
    }
    assert_agrees("cartpole_swingup_1.json", "episode", 1e-11);
    assert_agrees("finger_turn_hard_1.json", "episode", 1e-11);
    assert_agrees("walker_walk_3.json", "episode", 1e-9);
    assert_agrees("probe_reacher_easy.json", "probes", 1e-11);
}

TEST(people_see_what_differs)
{
    program_run("env", "replay", golden("CartPole-v1_1.json"), "--per-step", NULL);
    program_assert_success();
    program_assert_out("gym:CartPole-v1, 24 steps, each from its recorded state\n");
    program_assert_out("observations ");
    program_assert_out("flags           0 differ\n");
}

TEST(another_task_can_be_compared)
{
    program_run("env", "replay", golden("CartPole-v1_1.json"), "--task", "gym:CartPole-v0",
                "--json", NULL);
    program_assert_success();
    json_t *object = program_json();
    assert_string_equal(json_string_value(json_object_get(object, "task")), "gym:CartPole-v0");
    json_decref(object);
    program_run("env", "replay", golden("CartPole-v1_1.json"), "--task", "gym:MountainCar-v0",
                NULL);
    program_assert_failure(1, "an observation of gym:MountainCar-v0 has 2 numbers, a recorded one "
                              "4");
}

TEST(files_that_cannot_be_replayed_are_refused)
{
    const char *path = cli_path(state, "recording.json");
    program_run("env", "replay", cli_path(state, "none.json"), NULL);
    program_assert_failure(1, "none.json");
    cli_write_text(path, "{\"id\": \"CartPole-v1\", \"states\": [[0");
    program_run("env", "replay", path, NULL);
    program_assert_failure(1, "line 1 is no JSON");
    cli_write_text(path, "{\"what\": \"ever\"}");
    program_run("env", "replay", path, NULL);
    program_assert_failure(1, "recording.json: no recording: it has neither 'id' with");
    cli_write_text(path, "{\"id\": \"CartPole-v1\", \"states\": [[0, 0, 0, 0]], \"actions\": [1], "
                         "\"observations\": []}");
    program_run("env", "replay", path, NULL);
    program_assert_failure(1, "'observations' has 0 rows, not 1");
    cli_write_text(path, "{\"id\": \"FrozenLake-v7\", \"P\": [[[[1, 0, 0, true]]]]}");
    program_run("env", "replay", path, "--json", NULL);
    program_assert_failure(1, "the task 'gym:FrozenLake-v7' is not known; did you mean "
                              "'gym:FrozenLake-v1'?");
}

TEST(a_recording_with_a_flipped_bit_is_refused_or_differs)
{
    static char bytes[1 << 16];
    const char *path = cli_path(state, "flipped.json");
    size_t size = cli_read(golden("CartPole-v1_1.json"), bytes, sizeof(bytes));
    for (size_t place = 7; place < size; place += size / 23) {
        cli_write(path, bytes, size);
        cli_damage(path, (long)place);
        const program_result *result = program_run("env", "replay", path, "--json", NULL);
        assert_true(result->exit_status == 0 || result->exit_status == 1);
    }
}

/* ---- bench ---------------------------------------------------------------------------------- */

static void assert_bench(const char *task, bool has_physics)
{
    const char *name, *clock;
    json_int_t envs, seconds, seed, slices, steps, episodes;
    double rate, low, high, step_ns, reset_ns;
    program_run("env", "bench", task, "--seconds", "1", "--json", NULL);
    program_assert_success();
    json_t *object = program_json();
    assert_int_equal(
        json_unpack(object, "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:F, s:F, s:F, s:F, s:F}",
                    "task", &name, "clock", &clock, "envs", &envs, "seconds", &seconds, "seed",
                    &seed, "slices", &slices, "steps", &steps, "episodes", &episodes, "steps_per_s",
                    &rate, "steps_per_s_low", &low, "steps_per_s_high", &high, "step_ns", &step_ns,
                    "reset_ns", &reset_ns),
        0);
    assert_string_equal(name, task);
    assert_string_equal(clock, "processor");
    assert_true(envs > 0 && slices > 0 && steps > 0 && episodes > 0);
    assert_true(low > 0 && low <= rate && rate <= high);
    const json_t *physics = json_object_get(object, "physics_steps_per_s");
    const json_t *ratio = json_object_get(object, "physics_ratio");
    assert_true(has_physics ? json_is_real(physics) : json_is_null(physics));
    assert_true(has_physics ? json_is_real(ratio) : json_is_null(ratio));
    json_decref(object);
}

TEST(programs_get_rates)
{
    assert_bench("gym:CartPole-v1", false);
    if (has_control_suite()) {
        assert_bench("dmc:pendulum_swingup", true);
    }
}

TEST(people_see_a_rate)
{
    program_run("env", "bench", "CliffWalking-v1", "-s", "1", "-k", "3", NULL);
    program_assert_success();
    program_assert_out("gym:CliffWalking-v1: 3 environments, ");
    program_assert_out("/s (");
    program_assert_out("a reset ");
}

TEST_GROUP(cli_fixture_setup, cli_fixture_teardown);

int main(int argc, char **argv)
{
    program_choose(argc > 1 ? argv[1] : "actorq");
    return aq_test_run(NULL);
}
