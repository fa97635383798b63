/*
 * Quantize arguments: see quantize_arguments.h.
 */
#include "cli/policy/quantize_arguments.h"

#include <string.h>

#include "cli/text/command.h"
#include "common/base/parse.h"
#include "envs/env_code.h"
#include "library/source/policy_source.h"

enum { ROWS_DEFAULT = 4096, ROWS_MAX = 1000000, SEED_DEFAULT = 1 };

static int take_layer_formats(void *formats, const char *value, aq_error *error)
{
    return aq_layer_formats_parse(value, formats, error);
}

static int take_bits(void *bits, const char *value, aq_error *error)
{
    uint64_t number = 0;
    int rc = aq_option_number(value, AQ_QUANTIZE_BITS_MIN, AQ_QUANTIZE_BITS_MAX, &number, error);
    *(uint32_t *)bits = (uint32_t)number;
    return rc;
}

static int take_density(void *density, const char *value, aq_error *error)
{
    double share;
    if (aq_parse_f64(value, &share) != 0 || !(share > 0.0 && share <= 1.0)) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is no share above 0 and up to 1", value);
    }
    *(float *)density = (float)share;
    return 0;
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

static int take_method(void *is_paper, const char *value, aq_error *error)
{
    return choose(value, "symmetric", "paper", is_paper, error);
}

static int take_activations(void *are_static, const char *value, aq_error *error)
{
    return choose(value, "dynamic", "static", are_static, error);
}

static const char *const range_words[] = {AQ_RANGE_METHODS(AQ_CHOICE_WORD) NULL};

static const aq_option option_rows[] = {
    {"format", 0, "FORMAT",
     "of the weights: fp32, fp16, bf16, int8 (a scale a row), int8-tensor (one scale), int4, int2 "
     "(a scale every 64 weights) or int8-sparse (default int8)",
     AQ_TO(aq_precision_take, aq_quantize_arguments, plan.quantize.format)},
    {"layer-formats", 0, "LIST",
     "layers that have another one, such as 0:fp32,-1:bf16; those are counted that may have one, "
     "and -1 is the last. Algorithms of continuous actions publish the first in bf16, with "
     "normalized observations in fp32",
     AQ_TO(take_layer_formats, aq_quantize_arguments, layer_formats)},
    {"bits", 0, "N", "int8 and int8-tensor: use the levels of 2 to 8 bits only (default 8)",
     AQ_TO(take_bits, aq_quantize_arguments, plan.quantize.bits)},
    {"method", 0, "NAME",
     "int8-tensor: symmetric, or paper, the formula of the ActorQ paper (default symmetric)",
     AQ_TO(take_method, aq_quantize_arguments, plan.quantize.paper)},
    {"density", 0, "SHARE", "int8-sparse: share of the blocks that are kept (default 0.5)",
     AQ_TO(take_density, aq_quantize_arguments, plan.quantize.density)},
    {"activations", 0, "HOW",
     "dynamic, by the range of each row, or static, by ranges observed beforehand, but behind a "
     "GRU (default dynamic)",
     AQ_TO(take_activations, aq_quantize_arguments, plan.static_activations)},
    {"ranges", 0, "METHOD",
     "of static activations: min-max, moving-average or percentile (default percentile)",
     AQ_TO_CHOICE(aq_quantize_arguments, plan.range_method, AQ_RANGE_NONE + 1, range_words)},
    {"rows", 0, "N",
     "observations that the error is measured on, 1 to 1000000 (default 4096); of a policy with a "
     "memory those of one episode, at most",
     AQ_TO_NUMBER(aq_quantize_arguments, rows, 1, ROWS_MAX)},
    {"seed", 0, "S", "which episodes they are from (default 1)",
     AQ_TO_NUMBER(aq_quantize_arguments, seed, 0, AQ_JSON_SEED_MAX)},
    AQ_ALLOW_CODE_OPTION,
    AQ_JSON_OPTION_ROW(aq_quantize_arguments, json, "the result"),
};

const aq_options aq_quantize_options = {
    .program = "actorq quantize",
    .usage = "IN OUT [options]",
    .summary =
        "Writes a trained policy in another weight format and reports how much that changes it. IN "
        "is a run folder, a policy file (.aq) in fp32 or a checkpoint (.aqc), which has the policy "
        "of its moment, in fp32 unless it was trained quantized. The error is measured on "
        "observations of the policy's own greedy play in fp32.",
    .details = "Examples:\n"
               "  actorq quantize runs/first policy.int4.aq --format int4\n"
               "  actorq quantize runs/first small.aq --format int8-tensor --method paper\n"
               "  actorq quantize policy.fp32.aq out.aq --layer-formats 0:fp32,-1:bf16 --json\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("IN", aq_quantize_arguments, source),
                 AQ_OPERAND("OUT", aq_quantize_arguments, target)},
};

const aq_quantize_arguments aq_quantize_defaults = {
    .plan = {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL}},
    .rows = ROWS_DEFAULT,
    .seed = SEED_DEFAULT,
};

int aq_quantize_arguments_check(const aq_quantize_arguments *arguments, const aq_net_spec *spec,
                                aq_error *error)
{
    const aq_quantize_plan *plan = &arguments->plan.quantize;
    bool has[AQ_FORMAT_COUNT + 1] = {false}, has_integers = false;
    uint32_t layers[AQ_NET_LAYERS_MAX];
    const uint32_t count = aq_layer_formats_choices(spec, layers);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t own = plan->layer_formats[layers[i]];
        const uint32_t format = own != 0 ? own : plan->format;
        has[format] = true;
        has_integers |= aq_format_is_integer(format);
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
    if (arguments->plan.range_method != AQ_RANGE_NONE && !arguments->plan.static_activations) {
        return aq_fail(error, AQ_E_INVALID, "--ranges is for --activations static");
    }
    if (arguments->plan.static_activations && !has_integers) {
        return aq_fail(error, AQ_E_INVALID,
                       "--activations static is for weights of integers, such as --format int8");
    }
    return 0;
}
