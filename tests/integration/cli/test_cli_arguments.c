/*
 * Whatever is typed, the answer is help, a result, or one sentence and exit status 1.
 */
#include <stdio.h>
#include <string.h>

#include "tests/integration/cli/program.h"
#include "tests/support/test.h"

TEST(no_command_shows_the_commands)
{
    const program_result *result = program_run(NULL, NULL);
    assert_int_equal(result->exit_status, 1);
    assert_non_null(strstr(result->err, "Usage: actorq COMMAND"));
    assert_string_equal(result->out, "");
}

TEST(help_lists_every_command)
{
    static const char *const commands[] = {"train", "eval", "inspect",  "status",
                                           "call",  "envs", "quantize", "bench"};
    program_run("--help", NULL);
    program_assert_success();
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        program_assert_out(commands[i]);
    }
}

TEST(every_command_has_help)
{
    static const char *const commands[] = {"train", "eval", "inspect",  "status",
                                           "call",  "envs", "quantize", "bench"};
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        char usage[64];
        program_run(commands[i], "--help", NULL);
        program_assert_success();
        (void)snprintf(usage, sizeof(usage), "Usage: actorq %s ", commands[i]);
        program_assert_out(usage);
        program_assert_out("--json");
        program_assert_out("Example");
    }
}

TEST(help_wins_over_other_mistakes_of_values)
{
    program_run("eval", "--episodes", "0", "--help", NULL);
    program_assert_success();
}

TEST(versions_are_told)
{
    program_run("--version", NULL);
    program_assert_success();
    program_assert_out("actorq " AQ_VERSION "\n");
    program_run("eval", "--version", NULL);
    program_assert_success();
    program_assert_out("actorq " AQ_VERSION "\n");
}

TEST(an_unknown_command_is_answered_with_the_nearest)
{
    program_run("inspct", NULL);
    program_assert_failure(1, "did you mean 'inspect'?");
}

TEST(an_unknown_option_is_answered_with_the_nearest)
{
    program_run("eval", "--episode", "5", NULL);
    program_assert_failure(1, "actorq eval: unknown option --episode; did you mean --episodes?");
    program_run("status", "--wtach", NULL);
    program_assert_failure(1, "did you mean --watch?");
}

TEST(missing_arguments_are_named)
{
    program_run("eval", NULL);
    program_assert_failure(1, "actorq eval: RUN_OR_POLICY is missing");
    program_run("inspect", "--json", NULL);
    program_assert_failure(1, "actorq inspect: PATH is missing");
    program_run("status", NULL);
    program_assert_failure(1, "actorq status: ENDPOINT is missing");
    program_run("call", NULL);
    program_assert_failure(1, "actorq call: ENDPOINT and METHOD are missing");
}

TEST(a_missing_value_is_named)
{
    program_run("eval", "x.aq", "--seed", NULL);
    program_assert_failure(1, "--seed needs a value");
}

TEST(arguments_too_many_are_named)
{
    program_run("eval", "a.aq", "b.aq", NULL);
    program_assert_failure(1, "'b.aq' is one argument too many after 'a.aq'");
    program_run("call", "tcp://x:1", "Operations/Status", "{}", "more", NULL);
    program_assert_failure(1, "'more' is one argument too many");
    program_run("envs", "gym:CartPole-v1", "more", NULL);
    program_assert_failure(1, "'more' is one argument too many after 'gym:CartPole-v1'");
}

TEST(values_out_of_bounds_are_refused_with_the_bounds)
{
    program_run("eval", "x.aq", "--episodes", "0", NULL);
    program_assert_failure(1, "--episodes: '0' is not a whole number from 1 to 1000000");
    program_run("eval", "x.aq", "--episodes", "1000001", NULL);
    program_assert_failure(1, "from 1 to 1000000");
    program_run("eval", "x.aq", "--seed", "-1", NULL);
    program_assert_failure(1, "--seed: '-1' is not a whole number from 0 to 9007199254740991");
    program_run("eval", "x.aq", "--precision", "int3", NULL);
    program_assert_failure(1, "--precision: 'int3' is no format; there are fp32, int8, ");
    program_run("status", "tcp://x:1", "--timeout-ms", "0", NULL);
    program_assert_failure(1, "--timeout-ms: '0' is not a whole number from 1 to 600000");
    program_run("call", "tcp://x:1", "Operations/Status", "--timeout-ms", "soon", NULL);
    program_assert_failure(1, "from 1 to 600000");
}

TEST(a_result_that_cannot_be_written_is_a_failure)
{
    static const char *const options[] = {"--json", "--help", NULL};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        program_send_out_to("/dev/full");
        program_run("envs", options[i], NULL);
        program_assert_failure(1, "actorq envs: the result could not be written");
    }
}

int main(int argc, char **argv)
{
    program_choose(argc > 1 ? argv[1] : "actorq");
    return aq_test_run(NULL);
}
