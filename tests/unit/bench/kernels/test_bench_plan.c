/*
 * The plan is what the arguments say, and arguments that say nothing sensible are refused in words.
 */
#include "bench/kernels/bench_plan.h"
#include "tests/support/test.h"

/* Under the lowest rung, so that every machine gives the same. */
static int parse(aq_bench_request *request, aq_error *error, const char *const *arguments)
{
    char *argv[8] = {(char[]){"bench kernels"}};
    int argc = 1;
    for (; arguments[argc - 1] != NULL; argc++) {
        argv[argc] = (char *)(uintptr_t)arguments[argc - 1];
    }
    *request = (aq_bench_request){.all = false};
    aq_bench_plan_init(0, &request->plan);
    const int rc = aq_options_parse(aq_bench_plan_options(), argc, argv, request, error);
    aq_bench_plan_finish(request);
    return rc;
}

static void assert_numbers(const aq_bench_numbers *numbers, const uint32_t *expected, size_t count)
{
    assert_int_equal(numbers->count, count);
    assert_memory_equal(numbers->values, expected, count * sizeof(*expected));
}

TEST(no_arguments_mean_the_sizes_of_the_documentation)
{
    aq_bench_request request;
    assert_int_equal(parse(&request, &refusal, (const char *[]){NULL}), 0);
    assert_numbers(&request.plan.sizes, (uint32_t[]){64, 256, 512, 1024, 2048}, 5);
    assert_numbers(&request.plan.batches, (uint32_t[]){1, 8, 16}, 3);
    assert_numbers(&request.plan.policies, (uint32_t[]){64, 256, 512, 2048}, 4);
    assert_int_equal(request.plan.rung_count, 1);
    assert_string_equal(request.plan.rungs[0]->name, "scalar");
}

TEST(all_adds_a_large_batch)
{
    aq_bench_request request;
    assert_int_equal(parse(&request, &refusal, (const char *[]){"--all", NULL}), 0);
    assert_numbers(&request.plan.batches, (uint32_t[]){1, 8, 16, 64}, 4);
}

TEST(lists_replace_the_defaults)
{
    aq_bench_request request;
    const char *const arguments[] = {"--sizes=32,4096", "--batches=3", "--policies=none",
                                     "--formats=int8,fp32", NULL};
    assert_int_equal(parse(&request, &refusal, arguments), 0);
    assert_numbers(&request.plan.sizes, (uint32_t[]){32, 4096}, 2);
    assert_numbers(&request.plan.batches, (uint32_t[]){3}, 1);
    assert_int_equal(request.plan.policies.count, 0);
    assert_true(request.plan.formats[AQ_FORMAT_INT8_CHANNEL]);
    assert_true(request.plan.formats[AQ_FORMAT_F32]);
    assert_false(request.plan.formats[AQ_FORMAT_BF16]);
}

TEST(quick_leaves_alone_what_was_given)
{
    aq_bench_request request;
    assert_int_equal(parse(&request, &refusal, (const char *[]){"--sizes", "512", "--quick", NULL}),
                     0);
    assert_numbers(&request.plan.sizes, (uint32_t[]){512}, 1);
    assert_numbers(&request.plan.policies, (uint32_t[]){64}, 1);
    assert_true(request.plan.timing.rounds < 10);
}

TEST(bad_values_are_refused_in_words)
{
    static const struct {
        const char *argument, *words;
    } rows[] = {
        {"--sizes=0", "'0' is not a whole number from 1 to 4096"},
        {"--sizes=5000", "'5000' is not a whole number from 1 to 4096"},
        {"--sizes=64,,256", "',256' is not a list"},
        {"--sizes=", "is not a list"},
        {"--sizes=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "more than 16 numbers"},
        {"--batches=many", "'many' is not a whole number from 1 to 256"},
        {"--formats=int8,int7", "'int7' is no format"},
        {"--rung=avx512vnni", "'avx512vnni' is no rung that this processor"},
        {"kernels", "'kernels': this command takes options only"},
    };
    EACH_ROW(i, rows) {
        aq_bench_request request;
        assert_true(parse(&request, &refusal, (const char *[]){rows[i].argument, NULL}) < 0);
        if (strstr(refusal.text, rows[i].words) == NULL) {
            fail_msg("%s: %s", rows[i].argument, refusal.text);
        }
    }
}

TEST(all_rungs_are_those_that_the_flags_allow)
{
    aq_bench_request request;
    assert_int_equal(parse(&request, &refusal, (const char *[]){"--rung", "all", NULL}), 0);
    assert_int_equal(request.plan.rung_count, 1);
    assert_string_equal(request.plan.rungs[0]->name, "scalar");
}

TEST(formats_that_a_rung_lacks_are_left_out)
{
    aq_bench_plan plan;
    aq_qkernels rung = *aq_qkernels_scalar();
    aq_bench_plan_init(0, &plan);
    assert_true(aq_bench_plan_wants(&plan, &rung, AQ_FORMAT_BF16));
    rung.linear[AQ_FORMAT_BF16] = NULL;
    assert_false(aq_bench_plan_wants(&plan, &rung, AQ_FORMAT_BF16));
    assert_false(aq_bench_plan_wants(&plan, &rung, 0));
    assert_false(aq_bench_plan_wants(&plan, &rung, AQ_QKERNEL_FORMATS));
}
