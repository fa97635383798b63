/*
 * Bench plan: see bench_plan.h.
 */
#include "bench/kernels/bench_plan.h"

#include <string.h>

#include "bench/kernels/bench_pictures.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/parse.h"

enum { ROUNDS = 61, ROUNDS_QUICK = 5, WORD_BYTES = 32, TEXT_BYTES = 256, BATCH_LARGE = 64 };
#define SLICE_NS       (200 * AQ_NS_PER_US)
#define SLICE_NS_QUICK (10 * AQ_NS_PER_US)

static const aq_bench_numbers sizes = {5, {64, 256, 512, 1024, 2048}};
static const aq_bench_numbers sizes_quick = {2, {64, 256}};
static const aq_bench_numbers batches = {3, {1, 8, 16}};
static const aq_bench_numbers batches_quick = {2, {1, 8}};
static const aq_bench_numbers policies = {4, {64, 256, 512, 2048}};
static const aq_bench_numbers policies_quick = {1, {64}};
static const aq_bench_numbers pictures = {6, {0, 1, 2, 3, 4, 5}};
static const aq_bench_numbers pictures_quick = {1, {3}};

void aq_bench_plan_init(uint32_t cpu_flags, aq_bench_plan *ret_plan)
{
    *ret_plan = (aq_bench_plan){
        .sizes = sizes,
        .batches = batches,
        .policies = policies,
        .pictures = pictures,
        .cpu_flags = cpu_flags,
        .rung_count = 1,
        .rungs = {aq_qkernels_select(cpu_flags)},
        .timing = {.rounds = ROUNDS, .slice_ns = SLICE_NS},
    };
    for (uint32_t format = 0; format < AQ_QKERNEL_FORMATS; format++) {
        ret_plan->formats[format] = aq_format_known(format);
    }
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* Copies the word that `list` begins with, and returns what comes after its comma, or NULL. */
static int next_word(const char **list, char *out, size_t size, aq_error *error)
{
    const char *comma = strchr(*list, ',');
    const size_t length = comma != NULL ? (size_t)(comma - *list) : strlen(*list);
    if (length == 0 || length >= size) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not a list of words with commas between",
                       *list);
    }
    memcpy(out, *list, length);
    out[length] = '\0';
    *list = comma != NULL ? comma + 1 : NULL;
    return 0;
}

/* Nothing is left, or nothing was wanted. */
static bool is_none(const char *list)
{
    return list == NULL || strcmp(list, "none") == 0;
}

static int read_numbers(const char *list, uint32_t max, aq_bench_numbers *ret_numbers,
                        aq_error *error)
{
    char word[WORD_BYTES];
    uint64_t number;
    aq_bench_numbers numbers = {.is_given = true};
    while (!is_none(list)) {
        int rc = next_word(&list, word, sizeof(word), error);
        if (rc != 0) {
            return rc;
        }
        if (aq_parse_u64(word, &number) != 0 || number == 0 || number > max) {
            return aq_fail(error, AQ_E_INVALID, "'%s' is not a whole number from 1 to %u", word,
                           max);
        }
        if (numbers.count == AQ_BENCH_NUMBERS_MAX) {
            return aq_fail(error, AQ_E_INVALID, "more than %d numbers", AQ_BENCH_NUMBERS_MAX);
        }
        numbers.values[numbers.count++] = (uint32_t)number;
    }
    *ret_numbers = numbers;
    return 0;
}

static int take_widths(void *widths, const char *list, aq_error *error)
{
    return read_numbers(list, AQ_BENCH_WIDTH_MAX, widths, error);
}

static int take_batches(void *counts, const char *list, aq_error *error)
{
    return read_numbers(list, AQ_BENCH_ROWS_MAX, counts, error);
}

static int take_pictures(void *numbers, const char *list, aq_error *error)
{
    char word[WORD_BYTES];
    aq_bench_numbers found = {.is_given = true};
    while (!is_none(list)) {
        int rc = next_word(&list, word, sizeof(word), error);
        if (rc != 0) {
            return rc;
        }
        if (found.count == AQ_BENCH_PICTURES ||
            aq_bench_picture_find(word, &found.values[found.count]) != 0) {
            return aq_fail(error, AQ_E_INVALID, "'%s' is no network on pictures, or one too many",
                           word);
        }
        found.count++;
    }
    *(aq_bench_numbers *)numbers = found;
    return 0;
}

static int take_formats(void *formats, const char *list, aq_error *error)
{
    bool found[AQ_QKERNEL_FORMATS] = {false};
    char word[WORD_BYTES];
    uint32_t format;
    while (list != NULL) {
        int rc = next_word(&list, word, sizeof(word), error);
        if (rc != 0) {
            return rc;
        }
        rc = aq_format_parse(word, &format, error);
        if (rc != 0) {
            return rc;
        }
        found[format] = true;
    }
    memcpy(formats, found, sizeof(found));
    return 0;
}

/* ---- rungs ---------------------------------------------------------------------------------- */

/* Those that the flags allow, best first. */
static size_t usable_rungs(uint32_t cpu_flags, const aq_qkernels **ret_rungs)
{
    const aq_qkernels *rung;
    size_t count = 0;
    for (uint32_t i = 0; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        if ((rung->cpu_flags & ~cpu_flags) == 0) {
            AQ_ASSERT(count < AQ_BENCH_RUNGS_MAX);
            ret_rungs[count++] = rung;
        }
    }
    return count;
}

static int take_rung(void *given, const char *name, aq_error *error)
{
    aq_bench_plan *plan = given;
    const aq_qkernels *rungs[AQ_BENCH_RUNGS_MAX];
    char names[TEXT_BYTES] = "";
    const size_t count = usable_rungs(plan->cpu_flags, rungs);
    if (strcmp(name, "all") == 0) {
        memcpy(plan->rungs, rungs, count * sizeof(rungs[0]));
        plan->rung_count = count;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rungs[i]->name, name) == 0) {
            plan->rungs[0] = rungs[i];
            plan->rung_count = 1;
            return 0;
        }
        aq_text_append(names, sizeof(names), "%s%s", i > 0 ? ", " : "", rungs[i]->name);
    }
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "'%s' is no rung that this processor and ACTORQ_CPU allow; these are: %s", name,
                   names);
}

/* ---- arguments ------------------------------------------------------------------------------ */

static const aq_option option_rows[] = {
    AQ_JSON_OPTION_ROW(aq_bench_request, plan.json, "the figures"),
    {"quick", 0, NULL, "a few rounds of a few small sizes, to see that it works",
     AQ_TO_FLAG(aq_bench_request, plan.quick)},
    {"all", 0, NULL, "also batches of 64 rows", AQ_TO_FLAG(aq_bench_request, all)},
    {"sizes", 0, "LIST", "inputs and outputs of the layers (default 64,256,512,1024,2048); 'none'",
     AQ_TO(take_widths, aq_bench_request, plan.sizes)},
    {"batches", 0, "LIST", "rows at once (default 1,8,16)",
     AQ_TO(take_batches, aq_bench_request, plan.batches)},
    {"policies", 0, "LIST",
     "widths of whole policies, 17-width-width-width-6 (default 64,256,512,2048); 'none'",
     AQ_TO(take_widths, aq_bench_request, plan.policies)},
    {"pictures", 0, "LIST",
     "networks on pictures: nature-1, nature-2, nature-3, minatar-1, impala-1 and impala-2 are "
     "convolutions, nature, minatar and impala whole policies (default: all but impala's); 'none'",
     AQ_TO(take_pictures, aq_bench_request, plan.pictures)},
    {"formats", 0, "LIST", "weight formats, such as int8,fp32 (default: all that the rung has)",
     AQ_TO(take_formats, aq_bench_request, plan.formats)},
    {"rung", 0, "NAME",
     "which kernels: scalar, avx2, avx512vnni and the like, or 'all' (default: the best that this "
     "processor has)",
     AQ_TO(take_rung, aq_bench_request, plan)},
};

static const aq_options options_page = {
    .program = "actorq bench kernels",
    .usage = "[options]",
    .summary =
        "Times the kernels that policies run on: ours against OpenBLAS and oneDNN, on one thread. "
        "Ours includes the quantization of activations, bias and ReLU. Calls of all contenders "
        "take turns in short slices of processor time; times and ratios are medians over them, and "
        "every "
        "result is "
        "checked first. The limit is what reading the weights, or their multiplications, takes at "
        "least on this processor, measured in the same turns.",
    .details = "Examples:\n"
               "  actorq bench kernels\n"
               "  actorq bench kernels --sizes 256 --batches 1 --formats int8,fp32\n"
               "  ACTORQ_CPU=avx2 actorq bench kernels --json\n",
    AQ_OPTION_ROWS(option_rows),
};

const aq_options *aq_bench_plan_options(void)
{
    return &options_page;
}

void aq_bench_plan_finish(aq_bench_request *request)
{
    aq_bench_plan *plan = &request->plan;
    if (plan->quick) {
        plan->sizes = plan->sizes.is_given ? plan->sizes : sizes_quick;
        plan->batches = plan->batches.is_given ? plan->batches : batches_quick;
        plan->policies = plan->policies.is_given ? plan->policies : policies_quick;
        plan->pictures = plan->pictures.is_given ? plan->pictures : pictures_quick;
        plan->timing = (aq_timing_plan){.rounds = ROUNDS_QUICK, .slice_ns = SLICE_NS_QUICK};
    }
    if (request->all && plan->batches.count < AQ_BENCH_NUMBERS_MAX) {
        plan->batches.values[plan->batches.count++] = BATCH_LARGE;
    }
}

bool aq_bench_plan_wants(const aq_bench_plan *plan, const aq_qkernels *rung, uint32_t format)
{
    return format < AQ_QKERNEL_FORMATS && plan->formats[format] && rung->linear[format] != NULL;
}
