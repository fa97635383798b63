/*
 * `actorq env` as its users run it. Times are never asserted: the machine is shared.
 */
#include "tests/integration/cli/program.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST(commands_are_listed)
{
    program_run("env", "--help", NULL);
    program_assert_success();
    program_assert_out("Usage: actorq env COMMAND [options]");
    program_assert_out("bench ");
}

TEST(mistakes_are_answered_in_words)
{
    program_run("env", "benhc", NULL);
    program_assert_failure(1, "actorq env: there is no command 'benhc'; did you mean 'bench'?");
    program_run("env", "replay", "walker_walk_1.json", NULL);
    program_assert_failure(1,
                           "actorq env: there is no command 'replay'; 'actorq env --help' lists");
    program_run("env", "bench", NULL);
    program_assert_failure(1, "actorq env bench: TASK is missing");
    program_run("env", "bench", "gym:CartPole-v1", "--seconds", "0", NULL);
    program_assert_failure(1, "--seconds: '0' is not a whole number from 1 to 600");
    program_run("env", "bench", "gym:CartPole-v1", "--envs", "5000", NULL);
    program_assert_failure(1, "--envs: '5000' is not a whole number from 1 to 4096");
    program_run("env", "bench", "gym:CartPole", NULL);
    program_assert_failure(1, "did you mean 'gym:CartPole-v");
}

TEST(commands_have_help)
{
    program_run("env", "bench", "--help", NULL);
    program_assert_success();
    program_assert_out("Usage: actorq env bench TASK [options]");
    program_assert_out("--envs");
}

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
    if (program_run("envs", "dmc:pendulum_swingup", NULL)->exit_status == 0) {
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
