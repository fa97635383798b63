/*
 * Whatever is typed, the answer is help, a result, or one sentence and exit status 1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tests/integration/cli/program.h"

static void test_no_command_shows_the_commands(void **state)
{
    (void)state;
    const program_result *result = program_run(NULL, NULL);
    assert_int_equal(result->exit_status, 1);
    assert_non_null(strstr(result->err, "Usage: actorq COMMAND"));
    assert_string_equal(result->out, "");
}

static void test_help_lists_every_command(void **state)
{
    static const char *const commands[] = {"train", "eval", "inspect",  "status",
                                           "call",  "envs", "quantize", "bench"};
    (void)state;
    program_run("--help", NULL);
    program_assert_success();
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        program_assert_out(commands[i]);
    }
}

static void test_every_command_has_help(void **state)
{
    static const char *const commands[] = {"train", "eval", "inspect",  "status",
                                           "call",  "envs", "quantize", "bench"};
    (void)state;
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

static void test_help_wins_over_other_mistakes_of_values(void **state)
{
    (void)state;
    program_run("eval", "--episodes", "0", "--help", NULL);
    program_assert_success();
}

static void test_versions_are_told(void **state)
{
    (void)state;
    program_run("--version", NULL);
    program_assert_success();
    program_assert_out("actorq " AQ_VERSION "\n");
    program_run("eval", "--version", NULL);
    program_assert_success();
    program_assert_out("actorq " AQ_VERSION "\n");
}

static void test_an_unknown_command_is_answered_with_the_nearest(void **state)
{
    (void)state;
    program_run("inspct", NULL);
    program_assert_failure(1, "did you mean 'inspect'?");
}

static void test_an_unknown_option_is_answered_with_the_nearest(void **state)
{
    (void)state;
    program_run("eval", "--episode", "5", NULL);
    program_assert_failure(1, "actorq eval: unknown option --episode; did you mean --episodes?");
    program_run("status", "--wtach", NULL);
    program_assert_failure(1, "did you mean --watch?");
}

static void test_missing_arguments_are_named(void **state)
{
    (void)state;
    program_run("eval", NULL);
    program_assert_failure(1, "actorq eval: RUN_OR_POLICY is missing");
    program_run("inspect", "--json", NULL);
    program_assert_failure(1, "actorq inspect: PATH is missing");
    program_run("status", NULL);
    program_assert_failure(1, "actorq status: ENDPOINT is missing");
    program_run("call", NULL);
    program_assert_failure(1, "actorq call: ENDPOINT and METHOD are missing");
}

static void test_a_missing_value_is_named(void **state)
{
    (void)state;
    program_run("eval", "x.aq", "--seed", NULL);
    program_assert_failure(1, "--seed needs a value");
}

static void test_arguments_too_many_are_named(void **state)
{
    (void)state;
    program_run("eval", "a.aq", "b.aq", NULL);
    program_assert_failure(1, "'b.aq' is one argument too many after 'a.aq'");
    program_run("call", "tcp://x:1", "Operations/Status", "{}", "more", NULL);
    program_assert_failure(1, "'more' is one argument too many");
    program_run("envs", "gym:CartPole-v1", "more", NULL);
    program_assert_failure(1, "'more' is one argument too many after 'gym:CartPole-v1'");
}

static void test_values_out_of_bounds_are_refused_with_the_bounds(void **state)
{
    (void)state;
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

static void test_a_result_that_cannot_be_written_is_a_failure(void **state)
{
    static const char *const options[] = {"--json", "--help", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        program_send_out_to("/dev/full");
        program_run("envs", options[i], NULL);
        program_assert_failure(1, "actorq envs: the result could not be written");
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_command_shows_the_commands),
        cmocka_unit_test(test_help_lists_every_command),
        cmocka_unit_test(test_every_command_has_help),
        cmocka_unit_test(test_help_wins_over_other_mistakes_of_values),
        cmocka_unit_test(test_versions_are_told),
        cmocka_unit_test(test_an_unknown_command_is_answered_with_the_nearest),
        cmocka_unit_test(test_an_unknown_option_is_answered_with_the_nearest),
        cmocka_unit_test(test_missing_arguments_are_named),
        cmocka_unit_test(test_a_missing_value_is_named),
        cmocka_unit_test(test_arguments_too_many_are_named),
        cmocka_unit_test(test_values_out_of_bounds_are_refused_with_the_bounds),
        cmocka_unit_test(test_a_result_that_cannot_be_written_is_a_failure),
    };
    program_choose(argc > 1 ? argv[1] : "actorq");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
