/*
 * actorq quantize: a trained policy in other weight formats, with the error that they cost.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/figure_text.h"
#include "cli/layer_formats.h"
#include "cli/plain_text.h"
#include "cli/policy_source.h"
#include "cli/policy_view.h"
#include "cli/post_quantize.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/cpu.h"
#include "common/wire/wire_policy.h"
#include "rollout/greedy_obs.h"

enum { ROWS_DEFAULT = 4096, ROWS_MAX = 1000000, SEED_DEFAULT = 1 };
#define SEED_MAX ((UINT64_C(1) << 53) - 1) /* what every JSON reader keeps whole */

typedef struct quantize_arguments {
    const char *source;
    const char *target;
    aq_post_quantize_plan plan;
    aq_layer_formats layer_formats;
    bool has_ranges;
    uint64_t rows;
    uint64_t seed;
    bool json;
} quantize_arguments;

/* What was read and what was made of it. */
typedef struct quantize_report {
    char path[AQ_POLICY_PATH_MAX];
    aq_snapshot *exact;
    aq_snapshot *made;
    uint64_t bytes_exact, bytes_made; /* of the files */
} quantize_report;

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

/* ---- arguments ------------------------------------------------------------------------------ */

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

static int take_ranges(const char *value, quantize_arguments *arguments, aq_error *error)
{
    arguments->has_ranges = true;
    if (aq_range_method_from_text(value, &arguments->plan.range_method)) {
        return aq_fail(error, AQ_E_INVALID,
                       "'%s' is none of min-max, moving-average and percentile", value);
    }
    return 0;
}

static int apply(void *user, const aq_option *option, const char *value, aq_error *error)
{
    quantize_arguments *arguments = user;
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

/* An option that would change nothing is a misunderstanding. */
static int check_arguments(const quantize_arguments *arguments, const aq_net_spec *spec,
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

/* ---- files ---------------------------------------------------------------------------------- */

static uint64_t file_bytes(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* The only copy in fp32 must not be lost to a slip of the fingers. */
static int check_target(const char *source, const char *target, aq_error *error)
{
    struct stat from, to;
    if (stat(target, &to) == 0) {
        if (S_ISDIR(to.st_mode)) {
            return aq_fail(error, AQ_E_INVALID, "%s is a folder; OUT is a file", target);
        }
        if (stat(source, &from) == 0 && from.st_dev == to.st_dev && from.st_ino == to.st_ino) {
            return aq_fail(error, AQ_E_INVALID, "%s would be written over itself", source);
        }
    }
    return 0;
}

/* The policy in fp32, as it is stored so. */
static int read_exact(const char *source, quantize_report *report, aq_error *error)
{
    struct stat status;
    const bool is_folder = stat(source, &status) == 0 && S_ISDIR(status.st_mode);
    int rc = aq_policy_source_read(source, is_folder ? AQ_FORMAT_F32 : AQ_PRECISION_AS_STORED,
                                   &report->exact, report->path, error);
    if (rc) {
        return rc;
    }
    for (uint32_t i = 0; i < report->exact->spec.layer_count; i++) {
        if (report->exact->layers[i].format != AQ_FORMAT_F32) {
            return aq_fail(error, AQ_E_UNSUPPORTED,
                           "%s holds %s weights; quantizing begins with fp32, which a run folder "
                           "keeps as policy.fp32.aq",
                           report->path, aq_precision_name(report->exact));
        }
    }
    return 0;
}

/* ---- the work ------------------------------------------------------------------------------- */

static int play(const quantize_report *report, const aq_env_task *task, size_t rows, uint64_t seed,
                float **ret_obs, aq_error *error)
{
    aq_engine *engine = NULL;
    int rc = aq_engine_create(report->exact, AQ_GREEDY_OBS_LANES, aq_cpu_flags(), &engine, error);
    if (rc) {
        return rc;
    }
    float *obs = aq_alloc(rows, task->obs_elements * sizeof(*obs));
    rc = obs ? aq_greedy_obs(task, engine, rows, seed, obs) : AQ_E_NOMEM;
    aq_engine_destroy(engine);
    if (rc) {
        aq_free(obs);
        return aq_fail(error, rc, "observations of %s: %s", task->env->name, aq_error_text(rc));
    }
    *ret_obs = obs;
    return 0;
}

static int make(const quantize_arguments *arguments, quantize_report *report, aq_error *error)
{
    const size_t rows = arguments->rows;
    aq_env_task task;
    float *measured = NULL, *ranged = NULL;
    int rc =
        aq_env_task_find(report->exact->task, aq_schema_hash(&report->exact->schema), &task, error);
    rc = rc ? rc : aq_env_task_check_policy(&task, report->exact, error);
    rc = rc ? rc : play(report, &task, rows, arguments->seed, &measured, error);
    if (!rc && arguments->plan.static_activations) {
        rc = play(report, &task, rows, arguments->seed + 1, &ranged, error);
    }
    if (!rc) {
        const aq_post_quantize_obs obs = {.measured = measured, .ranged = ranged, .rows = rows};
        rc = aq_post_quantize(report->exact, &arguments->plan, &obs, &report->made, error);
    }
    aq_free(measured);
    aq_free(ranged);
    return rc ? aq_fail_context(error, rc, "%s", report->path) : 0;
}

static int quantize(quantize_arguments *arguments, quantize_report *report, aq_error *error)
{
    aq_quantize_plan *plan = &arguments->plan.quantize;
    if (!arguments->source || !arguments->target) {
        return aq_fail(error, AQ_E_INVALID, "%s missing; see --help",
                       arguments->source ? "OUT is" : "IN and OUT are");
    }
    int rc = read_exact(arguments->source, report, error);
    rc = rc ? rc : check_target(report->path, arguments->target, error);
    rc = rc ? rc
            : aq_layer_formats_resolve(&arguments->layer_formats, &report->exact->spec,
                                       plan->layer_formats, error);
    rc = rc ? rc : check_arguments(arguments, &report->exact->spec, error);
    rc = rc ? rc : make(arguments, report, error);
    rc = rc ? rc : aq_policy_file_write(arguments->target, report->made, error);
    if (!rc) {
        report->bytes_exact = file_bytes(report->path);
        report->bytes_made = file_bytes(arguments->target);
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
        aq_json_text(arguments->target), "source_file_bytes", aq_json_count(report->bytes_exact),
        "activations", arguments->plan.static_activations ? "static" : "dynamic", "rows",
        aq_json_count(arguments->rows), "seed", aq_json_count(arguments->seed), "policy", policy);
}

static void print(const quantize_arguments *arguments, const quantize_report *report)
{
    char path[AQ_POLICY_PATH_MAX];
    aq_figure before, after;
    (void)printf("%s: a policy, %s\n", aq_plain_text(path, sizeof(path), arguments->target),
                 aq_precision_name(report->made));
    aq_policy_view_print_facts(stdout, report->made, report->bytes_made);
    aq_print_fact(stdout, "made from", "%s", report->path);
    aq_print_fact(stdout, "files", "%s instead of %s",
                  aq_figure_bytes(&after, (double)report->bytes_made),
                  aq_figure_bytes(&before, (double)report->bytes_exact));
    aq_print_fact(stdout, "activations", "%s",
                  arguments->plan.static_activations ? "static, by ranges of other observations"
                                                     : "dynamic, by the range of each row");
    aq_print_fact(stdout, "measured on",
                  "%" PRIu64 " observations of greedy play in fp32, seed %" PRIu64, arguments->rows,
                  arguments->seed);
}

static int run(int argc, char **argv)
{
    aq_error error = {0};
    int status;
    quantize_report report = {0};
    quantize_arguments arguments = {
        .plan = {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL},
                 .range_method = AQ_RANGE_PERCENTILE,
                 .cpu_flags = aq_cpu_flags()},
        .rows = ROWS_DEFAULT,
        .seed = SEED_DEFAULT,
    };
    if (!aq_command_begin(&options_page, argc, argv, apply, &arguments, &status)) {
        return status;
    }
    if (quantize(&arguments, &report, &error)) {
        status = aq_command_failed(argv[0], &error);
    } else if (arguments.json) {
        status = aq_command_print_json(argv[0], make_json(&arguments, &report));
    } else {
        print(&arguments, &report);
        status = aq_command_printed(argv[0]);
    }
    aq_snapshot_unref(report.exact);
    aq_snapshot_unref(report.made);
    return status;
}

const aq_command aq_command_quantize = {
    .name = "quantize",
    .summary = "write a trained policy in another weight format",
    .run = run,
};
