/*
 * actorq quantize: a trained policy in other weight formats, with the error that they cost.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/policy/policy_view.h"
#include "cli/policy/quantize_arguments.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/text/output_file.h"
#include "common/base/memory.h"
#include "common/base/plain_text.h"
#include "common/sys/cpu.h"
#include "common/sys/file.h"
#include "common/wire/wire_policy.h"
#include "library/source/policy_source.h"
#include "rollout/greedy_obs.h"

/* What was read and what was made of it. */
typedef struct quantize_report {
    char path[PATH_MAX];
    aq_snapshot *exact;
    aq_snapshot *made;
    uint64_t rows;                    /* that it was measured on */
    uint64_t bytes_exact, bytes_made; /* of the files */
} quantize_report;

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

static int make(const aq_quantize_arguments *arguments, quantize_report *report, aq_error *error)
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

static int quantize(aq_quantize_arguments *arguments, quantize_report *report, aq_error *error)
{
    aq_quantize_plan *plan = &arguments->plan.quantize;
    arguments->plan.cpu_flags = aq_cpu_flags();
    int rc = read_exact(arguments->source, report, error);
    rc = rc != 0 ? rc : aq_output_check(arguments->source, arguments->target, error);
    rc = rc != 0 ? rc
                 : aq_layer_formats_resolve(&arguments->layer_formats, &report->exact->spec,
                                            plan->layer_formats, error);
    rc = rc != 0 ? rc : aq_quantize_arguments_check(arguments, &report->exact->spec, error);
    if (arguments->plan.range_method == AQ_RANGE_NONE) {
        arguments->plan.range_method = AQ_RANGE_PERCENTILE;
    }
    rc = rc != 0 ? rc : make(arguments, report, error);
    rc = rc != 0 ? rc : aq_policy_file_write(arguments->target, report->made, error);
    if (rc == 0) {
        report->bytes_exact = file_bytes(report->path);
        report->bytes_made = aq_wire_policy_bytes(report->made);
        aq_output_written(arguments->target);
    }
    return rc;
}

/* ---- the result ----------------------------------------------------------------------------- */

static json_t *make_json(const aq_quantize_arguments *arguments, const quantize_report *report)
{
    json_t *policy = aq_policy_view_json(report->made, report->bytes_made);
    if (!policy) {
        return NULL;
    }
    return json_pack(
        "{s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "source", aq_json_text(report->path), "file",
        aq_json_text(arguments->target), "source_file_bytes", aq_json_count(report->bytes_exact),
        "activations", arguments->plan.static_activations ? "static" : "dynamic", "rows",
        aq_json_count(report->rows), "seed", aq_json_count(arguments->seed), "policy", policy);
}

static void print(const aq_quantize_arguments *arguments, const quantize_report *report)
{
    char path[PATH_MAX];
    aq_figure before, after;
    (void)printf("%s: a policy, %s\n", aq_plain_text(path, sizeof(path), arguments->target),
                 aq_format_name(aq_snapshot_format(report->made)));
    aq_policy_view_print_facts(stdout, report->made, report->bytes_made);
    aq_print_fact(stdout, "made from", "%s", report->path);
    aq_print_fact(stdout, "files", "%s instead of %s",
                  aq_figure_bytes(&after, (double)report->bytes_made),
                  aq_figure_bytes(&before, (double)report->bytes_exact));
    aq_print_fact(stdout, "activations", "%s",
                  arguments->plan.static_activations ? "static, by ranges of other observations"
                                                     : "dynamic, by the range of each row");
    aq_print_fact(stdout, "measured on",
                  "%" PRIu64 " observations of greedy play in fp32, seed %" PRIu64, report->rows,
                  arguments->seed);
}

static int quantize_and_say(void *given, aq_error *error)
{
    aq_quantize_arguments *arguments = given;
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
    AQ_COMMAND_TAKES(aq_quantize_options, aq_quantize_defaults),
    .act = quantize_and_say,
};
