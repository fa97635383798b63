/*
 * Policies, checkpoints and runs are shown and played as they are, and damage is never taken for
 * data.
 */
#include <string.h>

#include "tests/integration/cli/program.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

/* ---- eval ----------------------------------------------------------------------------------- */

/* The object that `actorq eval --json` prints for these arguments. */
static json_t *eval(const char *source, const char *precision, const char *seed)
{
    if (precision) {
        program_run("eval", source, "--episodes", "50", "--seed", seed, "--json", "--precision",
                    precision, NULL);
    } else {
        program_run("eval", source, "--episodes", "50", "--seed", seed, "--json", NULL);
    }
    program_assert_success();
    return program_json();
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static double number_in(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

TEST_WITH(an_evaluation_has_every_figure, cli_fixture_setup, cli_fixture_teardown)
{
    cli_write_run(*state);
    json_t *object = eval(*state, NULL, "7");
    double mean = number_in(object, "return_mean");
    assert_true(number_in(object, "return_min") <= mean);
    assert_true(mean <= number_in(object, "return_max"));
    assert_true(number_in(object, "return_min") >= 1);
    assert_true(number_in(object, "return_max") <= 500);
    assert_true(number_in(object, "return_std") >= 0);
    assert_true(number_in(object, "episodes") == 50);
    assert_true(number_in(object, "seed") == 7);
    assert_true(number_in(object, "policy_version") == 31);
    assert_string_equal(text_in(object, "precision"), "int8");
    assert_string_equal(text_in(object, "task"), "gym:CartPole-v1");
    json_decref(object);
}

TEST_WITH(a_seed_plays_the_same_episodes_again, cli_fixture_setup, cli_fixture_teardown)
{
    cli_write_run(*state);
    json_t *first = eval(*state, NULL, "7");
    json_t *again = eval(*state, NULL, "7");
    json_t *other = eval(*state, NULL, "8");
    assert_true(json_equal(first, again));
    assert_false(
        json_equal(json_object_get(first, "return_mean"), json_object_get(other, "return_mean")));
    json_decref(first);
    json_decref(again);
    json_decref(other);
}

TEST_WITH(a_seed_that_was_not_given_is_told, cli_fixture_setup, cli_fixture_teardown)
{
    cli_write_run(*state);
    program_run("eval", *state, "--episodes", "2", "--json", NULL);
    program_assert_success();
    json_t *first = program_json();
    program_run("eval", *state, "--episodes", "2", "--json", NULL);
    json_t *second = program_json();
    assert_false(json_equal(json_object_get(first, "seed"), json_object_get(second, "seed")));
    json_decref(first);
    json_decref(second);
}

TEST_WITH(a_run_is_played_in_both_precisions, cli_fixture_setup, cli_fixture_teardown)
{
    cli_write_run(*state);
    json_t *rounded = eval(*state, "int8", "7");
    json_t *exact = eval(*state, "fp32", "7");
    assert_string_equal(text_in(rounded, "precision"), "int8");
    assert_string_equal(text_in(exact, "precision"), "fp32");
    assert_non_null(strstr(text_in(exact, "policy"), "policy.fp32.aq"));
    json_decref(rounded);
    json_decref(exact);
}

TEST_WITH(a_file_quantized_here_plays_as_one_that_was_broadcast, cli_fixture_setup,
          cli_fixture_teardown)
{
    const char *file = cli_path(state, "policy.fp32.aq");
    cli_write_run(*state);
    json_t *broadcast = eval(*state, "int8", "7");
    json_t *quantized = eval(file, "int8", "7");
    assert_true(json_equal(json_object_get(broadcast, "return_mean"),
                           json_object_get(quantized, "return_mean")));
    json_decref(broadcast);
    json_decref(quantized);
}

TEST_WITH(an_evaluation_is_shown_to_people, cli_fixture_setup, cli_fixture_teardown)
{
    cli_write_run(*state);
    program_run("eval", *state, "--episodes", "3", "--seed", "5", NULL);
    program_assert_success();
    program_assert_out("policy.aq: gym:CartPole-v1, version 31, int8\n");
    program_assert_out("  return ");
    program_assert_out("3, seed 5\n");
    program_assert_out("no (from a mean of 475)");
}

TEST_WITH(fp32_of_an_int8_file_is_refused, cli_fixture_setup, cli_fixture_teardown)
{
    cli_write_run(*state);
    program_run("eval", cli_path(state, "policy.aq"), "--precision", "fp32", NULL);
    program_assert_failure(1, "policy.aq holds int8 weights");
}

TEST_WITH(what_is_no_policy_cannot_be_played, cli_fixture_setup, cli_fixture_teardown)
{
    program_run("eval", *state, NULL);
    program_assert_failure(1, "has no policy.aq");
    program_run("eval", cli_path(state, "none.aq"), NULL);
    program_assert_failure(1, "none.aq: can't open");
    cli_write_text(cli_path(state, "text.aq"), "GET / HTTP/1.1\r\n\r\n and some more bytes");
    program_run("eval", cli_path(state, "text.aq"), NULL);
    program_assert_failure(1, "text.aq: ");
    cli_write_checkpoint(cli_path(state, "a.aqc"), 1000);
    program_run("eval", cli_path(state, "a.aqc"), "--json", NULL);
    program_assert_failure(1, "checkpoint");
}

/* ---- inspect -------------------------------------------------------------------------------- */

/* The object that `actorq inspect --json` prints. */
static json_t *inspect(const char *path, const char *kind)
{
    program_run("inspect", path, "--json", NULL);
    program_assert_success();
    json_t *object = program_json();
    assert_string_equal(text_in(object, "kind"), kind);
    return object;
}

TEST_WITH(a_policy_is_inspected, cli_fixture_setup, cli_fixture_teardown)
{
    const char *path = cli_path(state, "a.aq");
    cli_write_policy(path, AQ_FORMAT_INT8_CHANNEL, 7);
    json_t *object = inspect(path, "policy");
    assert_string_equal(text_in(object, "network"), "4-16r-8t-2");
    assert_int_equal(json_array_size(json_object_get(object, "layers")), 3);
    assert_true(number_in(object, "tensor_bytes_fp32") > number_in(object, "tensor_bytes"));
    json_decref(object);
    program_run("inspect", path, NULL);
    program_assert_success();
    program_assert_out("a.aq: a policy, int8\n");
    program_assert_out("0.78 % of 256 greedy actions differ");
}

TEST_WITH(a_checkpoint_is_inspected, cli_fixture_setup, cli_fixture_teardown)
{
    const char *path = cli_path(state, "a.aqc");
    cli_write_checkpoint(path, 3000);
    json_t *object = inspect(path, "checkpoint");
    assert_true(number_in(object, "learner_step") == 3000);
    assert_string_equal(text_in(json_object_get(object, "best_policy"), "kind"), "policy");
    json_decref(object);
    program_run("inspect", path, NULL);
    program_assert_success();
    program_assert_out("a.aqc: a checkpoint\n");
}

TEST_WITH(a_run_is_inspected, cli_fixture_setup, cli_fixture_teardown)
{
    cli_write_run(*state);
    json_t *object = inspect(*state, "run");
    assert_true(number_in(json_object_get(object, "checkpoint"), "learner_step") == 3000);
    assert_true(number_in(json_object_get(object, "best_evaluation"), "return_mean") == 187.5);
    assert_int_equal(json_array_size(json_object_get(object, "problems")), 0);
    json_decref(object);
    program_run("inspect", *state, NULL);
    program_assert_success();
    program_assert_out(": a run of gym:CartPole-v1\n");
}

TEST_WITH(a_run_with_a_damaged_checkpoint_is_inspected_and_says_so, cli_fixture_setup,
          cli_fixture_teardown)
{
    cli_write_run(*state);
    cli_damage(cli_path(state, "checkpoints/step-000000003000.aqc"), 200);
    json_t *object = inspect(*state, "run");
    assert_true(number_in(json_object_get(object, "checkpoint"), "learner_step") == 2000);
    assert_int_equal(json_array_size(json_object_get(object, "problems")), 1);
    json_decref(object);
}

TEST_WITH(every_damaged_byte_is_found, cli_fixture_setup, cli_fixture_teardown)
{
    enum { BYTES_MAX = 1 << 16 };
    static unsigned char bytes[BYTES_MAX];
    const char *path = cli_path(state, "a.aq");
    cli_write_policy(path, AQ_FORMAT_INT8_CHANNEL, 7);
    size_t size = cli_read(path, bytes, BYTES_MAX);
    /* All of the frame's header, then here and there. */
    for (size_t at = 0; at < size; at += at < 20 ? 1 : 97) {
        cli_write(path, bytes, size);
        cli_damage(path, (long)at);
        program_run("inspect", path, NULL);
        program_assert_failure(1, "a.aq: ");
    }
}

TEST_WITH(a_file_that_is_cut_off_anywhere_is_refused, cli_fixture_setup, cli_fixture_teardown)
{
    const char *path = cli_path(state, "a.aqc");
    static const size_t sizes[] = {2000, 1000, 100, 17, 16, 15, 4, 1, 0};
    cli_write_checkpoint(path, 3000);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        cli_truncate(path, sizes[i]);
        program_run("inspect", path, "--json", NULL);
        program_assert_failure(1, "a.aqc: ");
    }
}

TEST_WITH(foreign_files_are_told_from_damaged_ones, cli_fixture_setup, cli_fixture_teardown)
{
    const char *path = cli_path(state, "notes.txt");
    cli_write_text(path, "The quick brown fox jumps over the lazy dog.\n");
    program_run("inspect", path, NULL);
    program_assert_failure(1, "notes.txt: neither a policy nor a checkpoint");
    program_run("inspect", *state, NULL);
    program_assert_failure(1, "is no run folder: it has no run.json");
    program_run("inspect", cli_path(state, "none"), NULL);
    program_assert_failure(1, "none: No such file or directory");
    program_run("inspect", "/dev/null", NULL);
    program_assert_failure(1, "/dev/null is neither a file nor a folder");
}

int main(int argc, char **argv)
{
    program_choose(argc > 1 ? argv[1] : "actorq");
    return aq_test_run(NULL);
}
