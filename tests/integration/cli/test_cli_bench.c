/*
 * `actorq bench` as its users run it. Times are never asserted: the machine is shared.
 */
#include <jansson.h>

#include "tests/integration/cli/program.h"
#include "tests/support/test.h"

TEST(subjects_are_listed)
{
    program_succeeds("bench", "--help", NULL);
    program_assert_out("Usage: actorq bench COMMAND [options]");
    program_assert_out("kernels");
    program_assert_out("Try:");
}

TEST(mistakes_are_answered_in_words)
{
    const program_result *result = program_run("bench", NULL);
    assert_int_equal(result->exit_status, 1);
    assert_says(result->err, "Usage: actorq bench COMMAND [options]");
    program_refuses("there is no command 'kernel'; did you mean 'kernels'?", "bench", "kernel",
                    NULL);
    program_refuses("actorq bench kernels: unknown option --shape", "bench", "kernels", "--shape",
                    "64", NULL);
    program_refuses("'0' is not a whole number from 1 to 4096", "bench", "kernels", "--sizes",
                    "64,0", NULL);
    program_refuses("'mmx' is no rung", "bench", "kernels", "--rung", "mmx", NULL);
    program_refuses("'more': this command takes options only", "bench", "kernels", "more", NULL);
}

TEST(options_have_help)
{
    program_succeeds("bench", "kernels", "--help", NULL);
    program_assert_out("Usage: actorq bench kernels [options]");
    program_assert_out("--json");
    program_assert_out("--rung");
}

TEST(people_see_a_table_and_which_peers_there_are)
{
    program_succeeds("bench", "kernels", "--quick", "--formats", "int8", NULL);
    program_assert_out("64-64r");
    program_assert_out("17-64r-64r-64r-6");
    program_assert_out("openblas  ");
    program_assert_out("onednn  ");
    program_assert_out("limits of");
}

/* Each row has all of its members, of their types. */
static void assert_row(json_t *row, bool is_layer)
{
    const char *format, *rung;
    json_int_t batch, k, n;
    double us, limit_us, share;
    assert_int_equal(json_unpack(row, "{s:s, s:s, s:I, s:F, s:F, s:F}", "format", &format, "rung",
                                 &rung, "batch", &batch, "us", &us, "limit_us", &limit_us,
                                 "limit_share", &share),
                     0);
    assert_true(us > 0 && limit_us > 0 && share > 0);
    const json_t *peer = json_object_get(row, "peer");
    if (json_is_string(peer)) {
        assert_true(json_is_real(json_object_get(row, "peer_us")));
        assert_true(json_is_real(json_object_get(row, "ratio")));
    } else {
        assert_true(json_is_null(peer));
        assert_true(json_is_null(json_object_get(row, "peer_us")));
    }
    if (is_layer) {
        assert_int_equal(json_unpack(row, "{s:I, s:I}", "k", &k, "n", &n), 0);
        assert_true(k == n);
    } else {
        assert_true(json_is_string(json_object_get(row, "network")));
    }
}

TEST(programs_get_a_row_for_every_size_batch_format_and_peer)
{
    size_t peers = 0;
    json_t *object = program_gives("bench", "kernels", "--quick", "--json", "--pictures", "none",
                                   "--formats", "int8,fp32", NULL);
    const json_t *known = json_object_get(object, "peers");
    assert_int_equal(json_array_size(known), 3);
    for (size_t i = 0; i < 3; i++) {
        peers += json_is_true(json_object_get(json_array_get(known, i), "in_this_build"));
    }
    const json_t *rows = json_object_get(object, "rows");
    const json_t *policies = json_object_get(object, "policies");
    const size_t each = 2 * (peers > 0 ? peers : 1);
    assert_int_equal(json_array_size(rows), 2 * 2 * each);
    assert_int_equal(json_array_size(policies), each);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        assert_row(json_array_get(rows, i), true);
    }
    for (size_t i = 0; i < json_array_size(policies); i++) {
        assert_row(json_array_get(policies, i), false);
    }
}

TEST(programs_get_what_the_figures_rest_on)
{
    const char *model, *flags;
    json_int_t repeats, count;
    double dot, fma, speed;
    json_int_t bytes;
    json_t *object = program_gives("bench", "kernels", "--quick", "--json", "--formats", "int8",
                                   "--sizes", "64", "--batches", "1", "--policies", "none", NULL);
    assert_int_equal(json_unpack(object, "{s:{s:s, s:s, s:I}, s:I}", "cpu", "model", &model,
                                 "flags", &flags, "count", &count, "repeats", &repeats),
                     0);
    json_t *limits = json_array_get(json_object_get(object, "limits"), 0);
    assert_int_equal(
        json_unpack(limits, "{s:F, s:F}", "dot_gop_per_s", &dot, "fma_gop_per_s", &fma), 0);
    assert_true(dot > 0 && fma > 0);
    const json_t *read = json_object_get(limits, "read");
    assert_true(json_array_size(read) >= 4);
    assert_int_equal(
        json_unpack(json_array_get(read, 0), "{s:I, s:F}", "bytes", &bytes, "gb_per_s", &speed), 0);
    assert_true(speed > 0);
}

/* Under the settings that would make a peer slower or wider, the program starts itself anew. */
TEST(settings_of_libraries_are_put_right)
{
    assert_int_equal(setenv("OPENBLAS_CORETYPE", "Prescott", 1), 0);
    assert_int_equal(setenv("OPENBLAS_NUM_THREADS", "2", 1), 0);
    const program_result *result =
        program_run("bench", "kernels", "--quick", "--formats", "int8", "--sizes", "64", NULL);
    assert_int_equal(unsetenv("OPENBLAS_CORETYPE"), 0);
    assert_int_equal(unsetenv("OPENBLAS_NUM_THREADS"), 0);
    program_assert_success();
    assert_null(strstr(result->out, "Prescott"));
    assert_null(strstr(result->out, "2 thread"));
}

TEST(a_learner_takes_no_kernels_that_its_processor_outdoes)
{
    const char *core;
    assert_int_equal(setenv("OPENBLAS_CORETYPE", "Prescott", 1), 0);
    json_t *object =
        program_gives("bench", "learner", "--quick", "--json", "--only", "dqn_64", NULL);
    assert_int_equal(unsetenv("OPENBLAS_CORETYPE"), 0);
    assert_int_equal(json_unpack(object, "{s:{s:s}}", "blas", "core", &core), 0);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        assert_string_not_equal(core, "Prescott");
    }
#endif
}

TEST(learner_mistakes_are_answered_in_words)
{
    program_succeeds("bench", "learner", "--help", NULL);
    program_assert_out("Usage: actorq bench learner [options]");
    program_assert_out("--torch");
    program_refuses("actorq bench learner: unknown option --size", "bench", "learner", "--size",
                    "64", NULL);
    program_refuses("'more': this command takes options only", "bench", "learner", "more", NULL);
    program_refuses("no row's name has 'less' in it", "bench", "learner", "--only", "less", NULL);
    program_refuses(
        "'learner.batch_size=8' is none of learner.activation, dueling, norm or qat_bits", "bench",
        "learner", "--set", "learner.batch_size=8", NULL);
    program_refuses("PyTorch is measured without --set", "bench", "learner", "--torch", "--set",
                    "learner.qat_bits=8", NULL);
}

/* Where there is no bf16, every second of the names has no row. */
TEST(programs_get_a_row_for_every_learner_format_and_number_of_threads)
{
    static const char *const names[] = {
        "dqn_256x256_b64", "dqn_256x256_b64_bf16", "dqn_64x64_b64",   "dqn_64x64_b64_bf16",
        "ppo_choices_b64", "ppo_choices_b64_bf16", "ppo_numbers_b64", "ppo_numbers_b64_bf16"};
    const size_t names_count = sizeof(names) / sizeof(names[0]);
    json_t *object = program_gives("bench", "learner", "--quick", "--only", "b64", "--json", NULL);
    const json_t *rows = json_object_get(object, "rows");
    const size_t count = json_array_size(rows);
    assert_true(count == 2 * names_count || count == names_count);
    const size_t every = 2 * names_count / count; /* of the names */
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        assert_string_equal(json_string_value(json_object_get(row, "name")), names[i / 2 * every]);
        assert_int_equal(json_integer_value(json_object_get(row, "threads")), 1 + i % 2);
        assert_true(json_number_value(json_object_get(row, "steps_per_s")) > 0);
        assert_true(json_number_value(json_object_get(row, "gemm_share")) > 0);
        assert_null(json_object_get(row, "torch_steps_per_s"));
    }
}
