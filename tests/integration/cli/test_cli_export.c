/*
 * actorq export: the file is written whole or not at all, and what it cannot hold is said.
 */
#include <string.h>
#include <unistd.h>

#include "common/base/parse.h"
#include "common/sys/file.h"
#include "tests/integration/cli/program.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { TEXT_MAX = 1 << 18 };

static double number_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

TEST_WITH(a_run_becomes_a_file_of_c, cli_fixture_setup, cli_fixture_teardown)
{
    static char text[TEXT_MAX];
    const char *file = cli_path(state, "pole.c");
    cli_write_run(*state);
    program_run("export", *state, "--format", "c", "--output", file, "--name", "pole", "--json",
                NULL);
    program_assert_success();
    const size_t size = cli_read(file, text, sizeof(text) - 1);
    text[size] = '\0';
    cli_assert_in(text, "uint32_t pole_act(const float *obs);");
    cli_assert_in(text, "version 31: 4-16r-8t-2");

    json_t *object = program_json();
    assert_true(number_in(object, "bytes") == (double)size);
    assert_true(number_in(object, "weights_bytes") == 4 * 16 + 16 * 8 + 8 * 2 + 26 * 8);
    assert_true(number_in(object, "stack_bytes") > 0);
    assert_true(number_in(object, "policy_version") == 31);
    assert_string_equal(json_string_value(json_object_get(object, "path")), file);
    assert_string_equal(json_string_value(json_object_get(object, "task")), "gym:CartPole-v1");
    assert_string_equal(json_string_value(json_object_get(object, "network")), "4-16r-8t-2");
    json_decref(object);
}

TEST_WITH(the_file_is_called_like_its_functions, cli_fixture_setup, cli_fixture_teardown)
{
    char before[CLI_PATH_MAX];
    cli_write_policy(cli_path(state, "policy.aq"), AQ_FORMAT_INT8_CHANNEL, 3);
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(*state), 0);
    program_run("export", "policy.aq", "--name", "first", NULL);
    assert_int_equal(chdir(before), 0);
    program_assert_success();
    program_assert_out("first.c");
    program_assert_out("stack");
    assert_true(aq_path_exists(cli_path(state, "first.c")));
}

TEST_WITH(fp32_is_refused_with_what_to_do_and_nothing_is_written, cli_fixture_setup,
          cli_fixture_teardown)
{
    const char *policy = cli_path(state, "fp32.aq");
    const char *file = cli_path(state, "out.c");
    cli_write_policy(policy, AQ_FORMAT_F32, 3);
    program_run("export", policy, "--output", file, NULL);
    program_assert_failure(1, "actorq quantize");
    assert_false(aq_path_exists(file));
}

TEST_WITH(what_cannot_be_written_is_said, cli_fixture_setup, cli_fixture_teardown)
{
    const char *policy = cli_path(state, "policy.aq");
    cli_write_policy(policy, AQ_FORMAT_INT8_CHANNEL, 3);
    program_run("export", policy, "--output", cli_path(state, "nowhere/out.c"), NULL);
    program_assert_failure(1, "nowhere/out.c");
}

TEST_WITH(arguments_that_make_no_sense_are_refused, cli_fixture_setup, cli_fixture_teardown)
{
    const char *policy = cli_path(state, "policy.aq");
    cli_write_policy(policy, AQ_FORMAT_INT8_CHANNEL, 3);
    program_run("export", NULL);
    program_assert_failure(1, "RUN_OR_POLICY is missing");
    program_run("export", policy, "--format", "rust", NULL);
    program_assert_failure(1, "'rust' is no format to export to; c is");
    program_run("export", policy, "--name", "1st", "--output", cli_path(state, "x.c"), NULL);
    program_assert_failure(1, "'1st' can't begin the names of functions");
    assert_false(aq_path_exists(cli_path(state, "x.c")));
    program_run("export", cli_path(state, "missing.aq"), NULL);
    program_assert_failure(1, "missing.aq");
}

/* A test goes to another folder, and a path from this one would not lead anywhere from there. */
static void absolute(const char *path, char *out)
{
    char here[CLI_PATH_MAX];
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(path[0] == '/' ? aq_text_set(out, CLI_PATH_MAX, path)
                                    : aq_text_format(out, CLI_PATH_MAX, "%s/%s", here, path),
                     0);
}

int main(int argc, char **argv)
{
    static char program[CLI_PATH_MAX];
    assert_true(argc == 2);
    absolute(argv[1], program);
    program_choose(program);
    return aq_test_run(NULL);
}
