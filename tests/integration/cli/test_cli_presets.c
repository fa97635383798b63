/*
 * Presets, as those who train meet them.
 */
#include "tests/integration/cli/program.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

#define TASK "gym:Pendulum-v1"

/* What a command line comes to says `line`. */
#define assert_comes_to(line, ...)                                                                 \
    assert_says(program_run("train", TASK, "--print-config", __VA_ARGS__, NULL)->out,              \
                "\n  " line "\n")

TEST(the_configuration_shows_what_a_preset_makes_of_it)
{
    assert_comes_to("algorithm: td3", "-q");
    assert_comes_to("tau: 0.01", "-q");
    assert_comes_to("tau: 0", "--preset=none");
    assert_comes_to("tau: 0.5", "--set", "learner.tau=0.5");
    assert_comes_to("hidden: \"256,256\"", "--preset=pendulum-td3-256");
    assert_comes_to("value_max: 0", "--set", "learner.algorithm=d4pg");
}

/* They know nothing of observations that the learner normalizes. */
TEST(gradients_of_actors_begin_with_a_preset_that_suits_them)
{
    assert_comes_to("normalize_obs: true", "--set", "learner.algorithm=a2c");
    assert_comes_to("normalize_obs: false", "--set", "learner.algorithm=a2c", "--gradients");
}

TEST(all_presets_are_listed)
{
    const char *const commands[] = {"train", "compare"};
    for (size_t i = 0; i < 2; i++) {
        const program_result *result = program_run(commands[i], "--preset", "list", NULL);
        assert_int_equal(result->exit_status, 0);
        assert_says(result->out, "  pendulum-td3 ");
        assert_says(result->out, "  paper-dqn ");
    }
}

TEST_IN_FOLDER(a_run_says_and_keeps_what_was_chosen)
{
    const char *folder = cli_path(state, "run");
    const program_result *result =
        program_run("train", TASK, "--run", folder, "--set", "limits.env_steps=1500", NULL);
    assert_int_equal(result->exit_status, 0);
    assert_says(result->err, "preset pendulum-td3, algorithm td3");
    assert_says(file_text(file_in(folder, "config.yaml")), "\n  algorithm: td3\n");
    assert_says(file_text(file_in(folder, "logs/learner.log")),
                "preset=pendulum-td3 algorithm=td3");
}
