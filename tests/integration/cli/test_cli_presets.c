/*
 * Presets, as those who train meet them.
 */
#include "tests/integration/cli/program.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

#define TASK "gym:Pendulum-v1"

static char folder[CLI_PATH_MAX];

static int setup(void **state)
{
    int rc = cli_fixture_setup(state);
    (void)snprintf(folder, sizeof(folder), "%s", cli_path(state, "run"));
    return rc;
}

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

TEST_WITH(a_run_says_and_keeps_what_was_chosen, setup, cli_fixture_teardown)
{
    static char config[1 << 16];
    const program_result *result =
        program_run("train", TASK, "--run", folder, "--set", "limits.env_steps=1500", NULL);
    assert_int_equal(result->exit_status, 0);
    assert_says(result->err, "preset pendulum-td3, algorithm td3");
    char path[sizeof(folder) + 32];
    (void)snprintf(path, sizeof(path), "%s/config.yaml", folder);
    config[file_get(path, config, sizeof(config) - 1)] = '\0';
    assert_says(config, "\n  algorithm: td3\n");
    (void)snprintf(path, sizeof(path), "%s/logs/learner.log", folder);
    config[file_get(path, config, sizeof(config) - 1)] = '\0';
    assert_says(config, "preset=pendulum-td3 algorithm=td3");
}
