/*
 * Quantize arguments: see quantize_arguments.h.
 */
#include "cli/policy/quantize_arguments.h"

#include <string.h>

#include "cli/policy/policy_source.h"
#include "cli/text/command.h"
#include "common/base/parse.h"
#include "common/sys/cpu.h"

enum { ROWS_DEFAULT = 4096, ROWS_MAX = 1000000, SEED_DEFAULT = 1 };
#define SEED_MAX ((UINT64_C(1) << 53) - 1) /* what every JSON reader keeps whole */

static const aq_option option_rows[] = {
    {"format", 0, "FORMAT",
     "of the weights: fp32, fp16, bf16, int8 (a scale a row), int8-tensor (one scale), int4, int2 "
     "(a scale every 64 weights) or int8-sparse (default int8)"},
    {"layer-formats", 0, "LIST",
     "layers that have another one, such as 0:fp32,-1:bf16; -1 is the last layer"},
    {"bits", 0, "N", "int8 and int8-tensor: use the levels of 2 to 8 bits only (default 8)"},
    {"method", 0, "NAME",
     "int8-tensor: symmetric, or paper, the formula of the ActorQ paper (default symmetric)"},
    {"density", 0, "SHARE", "int8-sparse: share of the blocks that are kept (default 0.5)"},
    {"activations", 0, "HOW",
     "dynamic, by the range of each row, or static, by ranges observed beforehand (default "
     "dynamic)"},
    {"ranges", 0, "METHOD",
     "of static activations: min-max, moving-average or percentile (default percentile)"},
    {"rows", 0, "N", "observations that the error is measured on, 1 to 1000000 (default 4096)"},
    {"seed", 0, "S", "which episodes they are from (default 1)"},
    {"json", 0, NULL, "print the result as one JSON object on standard output"},
};

static const aq_options options_page = {
    .program = "actorq quantize",
    .usage = "IN OUT [options]",
    .summary =
        "Writes a trained policy in another weight format and reports how much that changes it. IN "
        "is a run folder or a policy file (.aq) in fp32. The error is measured on observations of "
        "the policy's own greedy play in fp32.",
    .details = "Examples:\n"
               "  actorq quantize runs/first policy.int4.aq --format int4\n"
               "  actorq quantize runs/first small.aq --format int8-tensor --method paper\n"
               "  actorq quantize policy.fp32.aq out.aq --layer-formats 0:fp32,-1:bf16 --json\n",
    .rows = option_rows,
    .count = sizeof(option_rows) / sizeof(option_rows[0]),
};

const aq_options *aq_quantize_arguments_options(void)
{
    return &options_page;
}

void aq_quantize_arguments_init(aq_quantize_arguments *ret_arguments)
{
    *ret_arguments = (aq_quantize_arguments){
        .plan = {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL},
                 .range_method = AQ_RANGE_PERCENTILE,
                 .cpu_flags = aq_cpu_flags()},
        .rows = ROWS_DEFAULT,
        .seed = SEED_DEFAULT,
    };
}

/* Which of two words; AQ_E_INVALID names both. */
static int choose(const char *value, const char *first, const char *second, bool *ret_is_second,
                  aq_error *error)
{
    if (strcmp(value, first) != 0 && strcmp(value, second) != 0) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is neither %s nor %s", value, first, second);
    }
    *ret_is_second = strcmp(value, second) == 0;
    return 0;
}

static int take_bits(const char *value, aq_quantize_plan *plan, aq_error *error)
{
    uint64_t bits;
    int rc = aq_command_number(value, AQ_QUANTIZE_BITS_MIN, AQ_QUANTIZE_BITS_MAX, &bits, error);
    if (rc) {
        return rc;
    }
    plan->bits = (uint32_t)bits;
    return 0;
}

static int take_density(const char *value, aq_quantize_plan *plan, aq_error *error)
{
    double density;
    if (aq_parse_f64(value, &density) || !(density > 0.0 && density <= 1.0)) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is no share above 0 and up to 1", value);
    }
    plan->density = (float)density;
    return 0;
}

static int take_ranges(const char *value, aq_quantize_arguments *arguments, aq_error *error)
{
    static const char *const methods[] = {AQ_RANGE_METHODS(AQ_CHOICE_WORD) NULL};
    int method = aq_choice_find(methods, value);
    if (method < 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "'%s' is none of min-max, moving-average and percentile", value);
    }
    arguments->has_ranges = true;
    arguments->plan.range_method = (enum aq_range_method)(AQ_RANGE_NONE + 1 + method);
    return 0;
}

int aq_quantize_arguments_apply(void *user, const aq_option *option, const char *value,
                                aq_error *error)
{
    aq_quantize_arguments *arguments = user;
    aq_quantize_plan *plan = &arguments->plan.quantize;
    if (!option) {
        return aq_command_take(arguments->source ? &arguments->target : &arguments->source, value,
                               error);
    }
    const char *name = option->name;
    if (strcmp(name, "format") == 0) {
        return aq_precision_from_text(value, &plan->format, error);
    }
    if (strcmp(name, "layer-formats") == 0) {
        return aq_layer_formats_parse(value, &arguments->layer_formats, error);
    }
    if (strcmp(name, "bits") == 0) {
        return take_bits(value, plan, error);
    }
    if (strcmp(name, "method") == 0) {
        return choose(value, "symmetric", "paper", &plan->paper, error);
    }
    if (strcmp(name, "density") == 0) {
        return take_density(value, plan, error);
    }
    if (strcmp(name, "activations") == 0) {
        return choose(value, "dynamic", "static", &arguments->plan.static_activations, error);
    }
    if (strcmp(name, "ranges") == 0) {
        return take_ranges(value, arguments, error);
    }
    if (strcmp(name, "rows") == 0) {
        return aq_command_number(value, 1, ROWS_MAX, &arguments->rows, error);
    }
    if (strcmp(name, "seed") == 0) {
        return aq_command_number(value, 0, SEED_MAX, &arguments->seed, error);
    }
    arguments->json = true;
    return 0;
}

int aq_quantize_arguments_check(const aq_quantize_arguments *arguments, const aq_net_spec *spec,
                                aq_error *error)
{
    const aq_quantize_plan *plan = &arguments->plan.quantize;
    bool has[AQ_FORMAT_COUNT + 1] = {false};
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        if (aq_layer_is_quantizable(&spec->layers[i])) {
            has[plan->layer_formats[i] != 0 ? plan->layer_formats[i] : plan->format] = true;
        }
    }
    if (plan->paper && !has[AQ_FORMAT_INT8_TENSOR]) {
        return aq_fail(error, AQ_E_INVALID, "--method paper is for --format int8-tensor");
    }
    if (plan->bits != 0 && !has[AQ_FORMAT_INT8_TENSOR] && !has[AQ_FORMAT_INT8_CHANNEL]) {
        return aq_fail(error, AQ_E_INVALID, "--bits is for --format int8 and int8-tensor");
    }
    if (plan->density > 0.0f && !has[AQ_FORMAT_INT8_SPARSE]) {
        return aq_fail(error, AQ_E_INVALID, "--density is for --format int8-sparse");
    }
    if (arguments->has_ranges && !arguments->plan.static_activations) {
        return aq_fail(error, AQ_E_INVALID, "--ranges is for --activations static");
    }
    return 0;
}
