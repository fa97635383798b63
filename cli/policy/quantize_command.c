/*
 * actorq quantize: a trained policy in other weight formats, with the error that they cost.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/policy/policy_view.h"
#include "cli/policy/post_quantize.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/text/output_file.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/policy/layer_formats.h"
#include "common/sys/cpu.h"
#include "common/sys/file.h"
#include "common/wire/wire_policy.h"
#include "envs/env_code.h"
#include "library/source/policy_source.h"
#include "rollout/greedy_obs.h"

enum { ROWS_DEFAULT = 4096, ROWS_MAX = 1000000, SEED_DEFAULT = 1 };

typedef struct quantize_arguments {
    const char *source, *target;
    aq_post_quantize_plan plan;
    aq_layer_formats layer_formats;
    uint64_t rows;
    uint64_t seed;
    aq_json_form json;
} quantize_arguments;

/* What was read and what was made of it. */
typedef struct quantize_report {
    char path[PATH_MAX];
    aq_snapshot *exact;
    aq_snapshot *made;
    uint64_t rows;                   /* that it was measured on */
    uint64_t bytes_read, bytes_made; /* of the files */
} quantize_report;

/* ---- what was asked for --------------------------------------------------------------------- */

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
     AQ_TO(aq_precision_take, quantize_arguments, plan.quantize.format)},
    {"layer-formats", 0, "LIST",
     "layers that have another one, such as 0:fp32,-1:bf16; those are counted that may have one, "
     "and -1 is the last. Algorithms of continuous actions publish the first in bf16, with "
     "normalized observations in fp32",
     AQ_TO(take_layer_formats, quantize_arguments, layer_formats)},
    {"bits", 0, "N", "int8 and int8-tensor: use the levels of 2 to 8 bits only (default 8)",
     AQ_TO(take_bits, quantize_arguments, plan.quantize.bits)},
    {"method", 0, "NAME",
     "int8-tensor: symmetric, or paper, the formula of the ActorQ paper (default symmetric)",
     AQ_TO(take_method, quantize_arguments, plan.quantize.paper)},
    {"density", 0, "SHARE", "int8-sparse: share of the blocks that are kept (default 0.5)",
     AQ_TO(take_density, quantize_arguments, plan.quantize.density)},
    {"activations", 0, "HOW",
     "dynamic, by the range of each row, or static, by ranges observed beforehand, but behind a "
     "GRU (default dynamic)",
     AQ_TO(take_activations, quantize_arguments, plan.static_activations)},
    {"ranges", 0, "METHOD",
     "of static activations: min-max, moving-average or percentile (default percentile)",
     AQ_TO_CHOICE(quantize_arguments, plan.range_method, AQ_RANGE_NONE + 1, range_words)},
    {"rows", 0, "N",
     "observations that the error is measured on, 1 to 1000000 (default 4096); of a policy with a "
     "memory those of one episode, at most",
     AQ_TO_NUMBER(quantize_arguments, rows, 1, ROWS_MAX)},
    {"seed", 0, "S", "which episodes they are from (default 1)",
     AQ_TO_NUMBER(quantize_arguments, seed, 0, AQ_JSON_SEED_MAX)},
    AQ_ALLOW_CODE_OPTION,
    AQ_JSON_OPTION_ROW(quantize_arguments, json, "the result"),
};

static const aq_options options_page = {
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
    .operands = {AQ_OPERAND("IN", quantize_arguments, source),
                 AQ_OPERAND("OUT", quantize_arguments, target)},
};

static const quantize_arguments defaults = {
    .plan = {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL}},
    .rows = ROWS_DEFAULT,
    .seed = SEED_DEFAULT,
};

/* Whether they make sense for the network, once the plan has its layers' formats: an option that
 * would change nothing is a misunderstanding. */
static int check_arguments(const quantize_arguments *arguments, const aq_net_spec *spec,
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

/* ---- files ---------------------------------------------------------------------------------- */

static uint64_t file_bytes(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* The policy in fp32, as it is stored so. */
static int read_exact(const char *source, quantize_report *report, aq_error *error)
{
    int rc = aq_policy_source_read(
        source, aq_path_is_folder(source) ? AQ_FORMAT_F32 : AQ_PRECISION_AS_STORED, &report->exact,
        report->path, NULL, error);
    if (rc != 0) {
        return rc;
    }
    for (uint32_t i = 0; i < report->exact->spec.layer_count; i++) {
        if (report->exact->layers[i].format != AQ_FORMAT_F32) {
            return aq_fail(error, AQ_E_UNSUPPORTED,
                           "%s holds %s weights; quantizing begins with fp32, which a run folder "
                           "keeps as policy.fp32.aq",
                           report->path, aq_format_name(aq_snapshot_format(report->exact)));
        }
    }
    return 0;
}

/* ---- the work ------------------------------------------------------------------------------- */

static int play(const quantize_report *report, const aq_env_task *task, size_t *rows, uint64_t seed,
                float **ret_obs, aq_error *error)
{
    aq_engine *engine = NULL;
    int rc = aq_engine_create(report->exact, AQ_GREEDY_OBS_LANES, aq_cpu_flags(), &engine, error);
    if (rc != 0) {
        return rc;
    }
    float *obs = aq_alloc(*rows, task->obs_elements * sizeof(*obs));
    rc = obs ? aq_greedy_obs(task, engine, rows, seed, obs, error)
             : aq_fail(error, AQ_E_NOMEM, "no memory for %zu observations", *rows);
    aq_engine_destroy(engine);
    if (rc != 0) {
        aq_free(obs);
        return rc;
    }
    *ret_obs = obs;
    return 0;
}

static int make(const quantize_arguments *arguments, quantize_report *report, aq_error *error)
{
    size_t measured_rows = arguments->rows, ranged_rows = arguments->rows;
    aq_env_task task = {0};
    float *measured = NULL, *ranged = NULL;
    int rc =
        aq_env_task_find(report->exact->task, aq_schema_hash(&report->exact->schema), &task, error);
    rc = rc != 0 ? rc : aq_env_task_check_policy(&task, report->exact, error);
    rc = rc != 0 ? rc : play(report, &task, &measured_rows, arguments->seed, &measured, error);
    if (rc == 0 && arguments->plan.static_activations) {
        rc = play(report, &task, &ranged_rows, arguments->seed + 1, &ranged, error);
    }
    if (rc == 0) {
        const aq_post_quantize_obs obs = {.measured = measured,
                                          .ranged = ranged,
                                          .measured_rows = measured_rows,
                                          .ranged_rows = ranged_rows};
        report->rows = measured_rows;
        rc = aq_post_quantize(report->exact, &arguments->plan, &obs, &report->made, error);
    }
    aq_free(measured);
    aq_free(ranged);
    aq_env_task_fini(&task);
    return rc != 0 ? aq_fail_context(error, rc, "%s", report->path) : 0;
}

static int quantize(quantize_arguments *arguments, quantize_report *report, aq_error *error)
{
    aq_quantize_plan *plan = &arguments->plan.quantize;
    arguments->plan.cpu_flags = aq_cpu_flags();
    int rc = read_exact(arguments->source, report, error);
    rc = rc != 0 ? rc : aq_output_check(arguments->source, arguments->target, error);
    rc = rc != 0 ? rc
                 : aq_layer_formats_resolve(&arguments->layer_formats, &report->exact->spec,
                                            plan->layer_formats, error);
    rc = rc != 0 ? rc : check_arguments(arguments, &report->exact->spec, error);
    if (arguments->plan.range_method == AQ_RANGE_NONE) {
        arguments->plan.range_method = AQ_RANGE_PERCENTILE;
    }
    rc = rc != 0 ? rc : make(arguments, report, error);
    rc = rc != 0 ? rc : aq_policy_file_write(arguments->target, report->made, error);
    if (rc == 0) {
        report->bytes_read = file_bytes(report->path);
        report->bytes_made = aq_wire_policy_bytes(report->made);
        aq_output_written(arguments->target);
    }
    return rc;
}

/* ---- the result ----------------------------------------------------------------------------- */

static json_t *make_json(const quantize_arguments *arguments, const quantize_report *report)
{
    json_t *policy = aq_policy_view_json(report->made, report->bytes_made);
    if (!policy) {
        return NULL;
    }
    return json_pack(
        "{s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "source", aq_json_text(report->path), "file",
        aq_json_text(arguments->target), "source_file_bytes", aq_json_count(report->bytes_read),
        "activations", arguments->plan.static_activations ? "static" : "dynamic", "rows",
        aq_json_count(report->rows), "seed", aq_json_count(arguments->seed), "policy", policy);
}

static void print(const quantize_arguments *arguments, const quantize_report *report)
{
    char path[PATH_MAX];
    aq_figure before, after;
    /* A checkpoint has much else in it. */
    const size_t bytes_exact = aq_wire_policy_bytes(report->exact);
    (void)printf("%s: a policy, %s\n", aq_plain_text(path, sizeof(path), arguments->target),
                 aq_format_name(aq_snapshot_format(report->made)));
    aq_policy_view_print_facts(stdout, report->made, report->bytes_made);
    aq_print_fact(stdout, "made from", "%s", report->path);
    aq_print_fact(stdout, "files", "%s instead of %s",
                  aq_figure_bytes(&after, (double)report->bytes_made),
                  aq_figure_bytes(&before, (double)bytes_exact));
    aq_print_fact(stdout, "activations", "%s",
                  arguments->plan.static_activations ? "static, by ranges of other observations"
                                                     : "dynamic, by the range of each row");
    aq_print_fact(stdout, "measured on",
                  "%" PRIu64 " observations of greedy play in fp32, seed %" PRIu64, report->rows,
                  arguments->seed);
}

static int quantize_and_say(void *given, aq_error *error)
{
    quantize_arguments *arguments = given;
    quantize_report report = {0};
    int rc = quantize(arguments, &report, error);
    if (rc == 0 && arguments->json) {
        rc = aq_print_json(make_json(arguments, &report), arguments->json, error);
    } else if (rc == 0) {
        print(arguments, &report);
    }
    aq_snapshot_unref(report.exact);
    aq_snapshot_unref(report.made);
    return rc;
}

const aq_command aq_command_quantize = {
    .name = "quantize",
    .summary = "write a trained policy in another weight format",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = quantize_and_say,
};
