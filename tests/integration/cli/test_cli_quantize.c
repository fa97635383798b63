/*
 * `actorq quantize` as its users run it.
 */
#include <string.h>
#include <sys/stat.h>

#include "tests/integration/cli/program.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST_WITH(a_run_becomes_a_smaller_policy, cli_fixture_setup, cli_fixture_teardown)
{
    cli_write_run(*state);
    program_run("quantize", *state, cli_path(state, "out.aq"), "--rows", "500", NULL);
    program_assert_success();
    program_assert_out("out.aq: a policy, int8\n");
    program_assert_out("policy.fp32.aq");
    program_assert_out("of 500 greedy actions differ from fp32");
    program_assert_out("dynamic, by the range of each row");
    program_run("inspect", cli_path(state, "out.aq"), NULL);
    program_assert_success();
    program_assert_out("of 500 greedy actions differ from fp32");
}

TEST_WITH(every_format_is_written_and_plays, cli_fixture_setup, cli_fixture_teardown)
{
    static const char *const formats[] = {"fp32",        "fp16", "bf16", "int8",
                                          "int8-tensor", "int4", "int2", "int8-sparse"};
    const char *precision;
    cli_write_run(*state);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        program_run("quantize", *state, cli_path(state, "out.aq"), "--format", formats[i], "--rows",
                    "100", NULL);
        program_assert_success();
        program_run("eval", cli_path(state, "out.aq"), "--episodes", "2", "--json", NULL);
        program_assert_success();
        json_t *object = program_json();
        assert_int_equal(json_unpack(object, "{s:s}", "precision", &precision), 0);
        assert_string_equal(precision, formats[i]);
        json_decref(object);
    }
}

TEST_WITH(programs_get_sizes_and_the_error, cli_fixture_setup, cli_fixture_teardown)
{
    const char *source, *activations, *input;
    json_int_t bytes, file_bytes, rows, seed;
    double disagreement, rms, most;
    cli_write_run(*state);
    program_run("quantize", *state, cli_path(state, "out.aq"), "--activations", "static",
                "--ranges", "moving-average", "--layer-formats", "0:fp32,-1:bf16", "--rows", "300",
                "--seed", "9", "--json", NULL);
    program_assert_success();
    json_t *object = program_json();
    assert_int_equal(json_unpack(object, "{s:s, s:I, s:s, s:I, s:I}", "source", &source,
                                 "source_file_bytes", &bytes, "activations", &activations, "rows",
                                 &rows, "seed", &seed),
                     0);
    cli_assert_in(source, "policy.fp32.aq");
    assert_string_equal(activations, "static");
    assert_int_equal(rows, 300);
    assert_int_equal(seed, 9);
    json_t *policy = json_object_get(object, "policy");
    assert_int_equal(json_unpack(policy, "{s:I, s:{s:I, s:F, s:F, s:F}}", "file_bytes", &file_bytes,
                                 "quant_error", "rows", &rows, "action_disagreement", &disagreement,
                                 "output_rms", &rms, "output_max", &most),
                     0);
    assert_true(file_bytes < bytes);
    assert_true(rms > 0.0 && rms <= most);
    const json_t *layers = json_object_get(policy, "layers");
    assert_int_equal(
        json_unpack(json_array_get(layers, 1), "{s:{s:s}}", "input", "activations", &input), 0);
    assert_string_equal(input, "static");
    assert_true(json_is_null(json_object_get(json_array_get(layers, 0), "input")));
    json_decref(object);
}

TEST_WITH(the_same_seed_writes_the_same_file, cli_fixture_setup, cli_fixture_teardown)
{
    static char first[1 << 16], again[1 << 16];
    cli_write_run(*state);
    program_run("quantize", *state, cli_path(state, "a.aq"), "--rows", "100", NULL);
    program_assert_success();
    program_run("quantize", *state, cli_path(state, "b.aq"), "--rows", "100", NULL);
    program_assert_success();
    const size_t size = cli_read(cli_path(state, "a.aq"), first, sizeof(first));
    assert_int_equal(cli_read(cli_path(state, "b.aq"), again, sizeof(again)), size);
    assert_memory_equal(first, again, size);
}

TEST_WITH(only_fp32_is_quantized, cli_fixture_setup, cli_fixture_teardown)
{
    struct stat status;
    cli_write_policy(cli_path(state, "in.aq"), AQ_FORMAT_INT8_CHANNEL, 1);
    program_run("quantize", cli_path(state, "in.aq"), cli_path(state, "out.aq"), NULL);
    program_assert_failure(1, "in.aq holds int8 weights; quantizing begins with fp32");
    assert_int_not_equal(stat(cli_path(state, "out.aq"), &status), 0);
}

TEST_WITH(the_fp32_policy_is_not_written_over, cli_fixture_setup, cli_fixture_teardown)
{
    const char *path = cli_path(state, "in.aq");
    cli_write_policy(path, AQ_FORMAT_F32, 1);
    program_run("quantize", path, path, NULL);
    program_assert_failure(1, "in.aq would be written over itself");
    program_run("quantize", path, *state, NULL);
    program_assert_failure(1, "is a folder; OUT is a file");
}

TEST_WITH(options_that_would_change_nothing_are_refused, cli_fixture_setup, cli_fixture_teardown)
{
    static const struct {
        const char *option, *value, *words;
    } rows[] = {
        {"--method", "paper", "--method paper is for --format int8-tensor"},
        {"--density", "0.5", "--density is for --format int8-sparse"},
        {"--ranges", "min-max", "--ranges is for --activations static"},
        {"--layer-formats", "3:fp32", "there is no layer 3: the network has 3"},
    };
    cli_write_policy(cli_path(state, "in.aq"), AQ_FORMAT_F32, 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        program_run("quantize", cli_path(state, "in.aq"), cli_path(state, "out.aq"), rows[i].option,
                    rows[i].value, NULL);
        program_assert_failure(1, rows[i].words);
    }
    program_run("quantize", cli_path(state, "in.aq"), cli_path(state, "out.aq"), "--format", "int4",
                "--bits", "4", NULL);
    program_assert_failure(1, "--bits is for --format int8 and int8-tensor");
}

TEST_WITH(mistakes_are_answered_in_words, cli_fixture_setup, cli_fixture_teardown)
{
    static const struct {
        const char *option, *value, *words;
    } rows[] = {
        {"--format", "int3", "--format: 'int3' is no format; there are fp32"},
        {"--bits", "9", "'9' is not a whole number from 2 to 8"},
        {"--method", "best", "'best' is neither symmetric nor paper"},
        {"--density", "0", "'0' is no share above 0 and up to 1"},
        {"--density", "nan", "'nan' is no share"},
        {"--activations", "some", "'some' is neither dynamic nor static"},
        {"--ranges", "all", "'all' is none of min-max, moving-average and percentile"},
        {"--rows", "0", "'0' is not a whole number from 1 to 1000000"},
        {"--layer-formats", "x", "'x' is not LAYER:FORMAT"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        program_run("quantize", "in.aq", "out.aq", rows[i].option, rows[i].value, NULL);
        program_assert_failure(1, rows[i].words);
    }
    program_run("quantize", NULL);
    program_assert_failure(1, "IN and OUT are missing");
    program_run("quantize", "in.aq", NULL);
    program_assert_failure(1, "OUT is missing");
    program_run("quantize", "in.aq", "out.aq", "more", NULL);
    program_assert_failure(1, "'more' is one argument too many");
}

int main(int argc, char **argv)
{
    program_choose(argc > 1 ? argv[1] : "actorq");
    return aq_test_run(NULL);
}
