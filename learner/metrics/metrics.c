/*
 * Metrics: see metrics.h.
 */
#include "learner/metrics/metrics.h"

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/sys/file.h"
#include "common/sys/print_json.h"
#include "learner/metrics/line_pace.h"
#include "learner/metrics/log_file.h"

struct aq_metrics {
    char path[PATH_MAX];
    aq_log_file log;
    aq_metrics_mirror *mirror;
    aq_line_pace progress;
    aq_error trouble; /* of the last line that was tried; its text is "" where it was written */
};

int aq_metrics_open(const aq_mirror_config *config, aq_metrics **ret_metrics, aq_error *error)
{
    aq_metrics *metrics = aq_alloc(1, sizeof(*metrics));
    if (!metrics) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    metrics->log.file = -1;
    int rc =
        aq_path_in(metrics->path, sizeof(metrics->path), config->run_dir, "metrics.jsonl", error);
    if (rc != 0) {
        goto fail;
    }
    rc = aq_log_file_open(metrics->path, &metrics->log);
    if (rc != 0) {
        rc = aq_fail(error, rc, "%s: %s", metrics->path, aq_error_text(rc));
        goto fail;
    }
    rc = aq_metrics_mirror_open(config, &metrics->mirror, error);
    if (rc != 0) {
        goto fail;
    }
    *ret_metrics = metrics;
    return 0;
fail:
    aq_metrics_close(metrics);
    return rc;
}

void aq_metrics_close(aq_metrics *metrics)
{
    if (!metrics) {
        return;
    }
    aq_log_file_fini(&metrics->log);
    aq_metrics_mirror_close(metrics->mirror);
    aq_free(metrics);
}

static int append_text(aq_metrics *metrics, const json_t *line)
{
    char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
    if (!text) {
        return aq_fail(&metrics->trouble, AQ_E_NOMEM, "%s: out of memory", metrics->path);
    }
    const size_t size = strlen(text);
    text[size] = '\n'; /* for its end, which nothing reads any more */
    const int rc = aq_log_file_append(&metrics->log, text, size + 1);
    free(text);
    return rc != 0 ? aq_fail(&metrics->trouble, rc, "%s: %s", metrics->path, aq_error_text(rc)) : 0;
}

/* What came of a line that was tried. Trouble lasts until one is written: so the next of progress
 * is tried, however old the run. */
static int noted(aq_metrics *metrics, int rc)
{
    if (rc != 0) {
        metrics->progress = (aq_line_pace){0};
    } else {
        metrics->trouble.text[0] = '\0';
    }
    return rc;
}

/* Steals `line`, which may be NULL when it could not be made. Each file is tried; the trouble is
 * the first one's. A line that is not kept is in no file. */
static int append(aq_metrics *metrics, json_t *line, bool is_kept)
{
    aq_error again;
    int rc = is_kept ? append_text(metrics, line) : 0;
    if (line) {
        int mirrored = aq_metrics_mirror_line(metrics->mirror, line, is_kept,
                                              rc != 0 ? &again : &metrics->trouble);
        rc = rc != 0 ? rc : mirrored;
    }
    json_decref(line);
    return is_kept ? noted(metrics, rc) : rc;
}

const char *aq_metrics_trouble(const aq_metrics *metrics)
{
    return metrics->trouble.text;
}

/* A copy in which numbers that JSON doesn't know, which reflection shows as texts, are null. */
static json_t *plain_copy(const json_t *value)
{
    if (json_is_object(value)) {
        json_t *copy = json_object();
        const char *key;
        json_t *part;
        json_object_foreach((json_t *)(uintptr_t)value, key, part)
        {
            (void)json_object_set_new(copy, key, plain_copy(part)); /* short of memory: left out */
        }
        return copy;
    }
    if (json_is_array(value)) {
        json_t *copy = json_array();
        for (size_t i = 0; i < json_array_size(value); i++) {
            (void)json_array_append_new(copy, plain_copy(json_array_get(value, i)));
        }
        return copy;
    }
    const char *text = json_string_value(value);
    bool no_number = text && (strcmp(text, "NaN") == 0 || strcmp(text, "Infinity") == 0 ||
                              strcmp(text, "-Infinity") == 0);
    return no_number ? json_null() : json_copy((json_t *)(uintptr_t)value);
}

static void put_part(json_t *line, const char *key, const json_t *part)
{
    if (line && part) {
        (void)json_object_set_new(line, key, plain_copy(part)); /* short of memory: left out */
    }
}

/* NULL when nothing was evaluated, or short of memory: left out, as what is NULL is. */
static json_t *best_json(const aq_evaluation_result *best)
{
    return best == NULL
               ? NULL
               : json_pack("{s:o, s:o, s:o, s:o, s:b}", "policy_version",
                           aq_json_count(best->version), "episodes", aq_json_count(best->episodes),
                           "return_mean", aq_json_number(best->return_mean), "return_std",
                           aq_json_number(best->return_std), "confirmed", best->confirmed);
}

int aq_metrics_progress(aq_metrics *metrics, const aq_metrics_sample *sample)
{
    json_t *line = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o}",
        "event", "progress", "wall_s", aq_json_number(sample->wall_s), "env_steps",
        aq_json_count(sample->env_steps), "learner_steps", aq_json_count(sample->learner_steps),
        "env_steps_per_s", aq_json_number(sample->env_steps_per_s), "learner_steps_per_s",
        aq_json_number(sample->learner_steps_per_s), "staleness", aq_json_number(sample->staleness),
        "training_return", aq_json_number(sample->training_return), "policy_version",
        aq_json_count(sample->policy_version), "policy_versions",
        aq_json_count(sample->policies.versions), "policy_deltas",
        aq_json_count(sample->policies.deltas), "policy_fallbacks",
        aq_json_count(sample->policies.fallbacks), "broadcast_bytes",
        aq_json_count(sample->policies.bytes), "broadcast_bytes_fp32",
        aq_json_count(sample->policies.bytes_fp32), "broadcast_packed_bytes_fp32",
        aq_json_count(sample->policies.packed_bytes_fp32), "quantization_cost",
        aq_json_number(sample->quantization_cost), "actors", aq_json_count(sample->actors),
        "evaluators", aq_json_count(sample->evaluators), "shards", aq_json_count(sample->shards),
        "batch_wait_share", aq_json_number(sample->batch_wait_share));
    for (size_t i = 0; line && i < sample->metrics->count; i++) {
        (void)json_object_set_new(line, sample->metrics->rows[i].name,
                                  aq_json_number(sample->metric_values[i]));
    }
    put_part(line, "replay", sample->replay);
    put_part(line, "replay_use", sample->replay_use);
    put_part(line, "time", sample->time);
    put_part(line, "energy", sample->energy);
    (void)json_object_set_new(line, "best", best_json(sample->best));
    const bool is_kept = aq_line_pace_is_due(&metrics->progress, sample->wall_s);
    const int rc = append(metrics, line, is_kept);
    if (is_kept && rc == 0) {
        aq_line_pace_of_seconds(&metrics->progress, sample->wall_s);
    }
    return rc;
}

int aq_metrics_evaluation(aq_metrics *metrics, double wall_s, uint64_t env_steps,
                          const aq_evaluation_result *result, bool is_kept)
{
    json_t *line = json_pack(
        "{s:s, s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "event",
        "evaluation", "wall_s", aq_json_number(wall_s), "env_steps", aq_json_count(env_steps),
        "policy_version", aq_json_count(result->version), "format", aq_format_name(result->format),
        "fell_back", result->fell_back, "episodes", aq_json_count(result->episodes), "return_mean",
        aq_json_number(result->return_mean), "return_std", aq_json_number(result->return_std),
        "return_min", aq_json_number(result->return_min), "return_max",
        aq_json_number(result->return_max), "cut_off", aq_json_count(result->cut_off), "confirmed",
        result->confirmed, "ranks_only", result->ranks_only);
    if (line != NULL && result->in_both) { /* short of memory: left out */
        (void)json_object_set_new(line, "return_fp32", aq_json_number(result->fp32_mean));
        (void)json_object_set_new(line, "return_fp32_std", aq_json_number(result->fp32_std));
    }
    return append(metrics, line, is_kept);
}

int aq_metrics_gap(aq_metrics *metrics, double wall_s, uint64_t env_steps,
                   const aq_version_gap *gap)
{
    json_t *line =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "event", "gap", "wall_s",
                  aq_json_number(wall_s), "env_steps", aq_json_count(env_steps), "policy_version",
                  aq_json_count(gap->version), "episodes", aq_json_count(gap->episodes),
                  "return_fp32", aq_json_number(gap->return_fp32), "mean",
                  aq_json_number(gap->mean), "ci95", aq_json_number(aq_version_gap_ci95(gap)));
    return append(metrics, line, true);
}

int aq_metrics_setting(aq_metrics *metrics, double wall_s, uint64_t env_steps,
                       uint64_t learner_steps, const char *key, const char *before,
                       const char *after)
{
    json_t *line =
        json_pack("{s:s, s:o, s:o, s:o, s:s, s:s, s:s}", "event", "setting", "wall_s",
                  aq_json_number(wall_s), "env_steps", aq_json_count(env_steps), "learner_steps",
                  aq_json_count(learner_steps), "key", key, "before", before, "after", after);
    int rc = append_text(metrics, line); /* it is no number, and so not in the mirror */
    json_decref(line);
    return noted(metrics, rc);
}

/* NULL when nothing was compared. */
static json_t *gap_of_run(const aq_precision_gap *gap)
{
    if (gap->versions == 0) {
        return NULL;
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "versions", aq_json_count(gap->versions), "episodes",
                     aq_json_count(gap->episodes), "mean", aq_json_number(gap->mean), "ci95",
                     aq_json_number(aq_precision_gap_ci95(gap)));
}

static json_t *findings_json(const aq_findings *findings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < findings->count; i++) {
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s}", "words", findings->rows[i].words, "setting",
                            findings->rows[i].setting)); /* short of memory: left out */
    }
    return list;
}

int aq_metrics_end(aq_metrics *metrics, const aq_metrics_outcome *outcome)
{
    json_t *line = json_pack(
        "{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "event", "end",
        "wall_s", aq_json_number(outcome->wall_s), "state", outcome->state, "env_steps",
        aq_json_count(outcome->env_steps), "learner_steps", aq_json_count(outcome->learner_steps),
        "policy_versions", aq_json_count(outcome->policies.versions), "policy_deltas",
        aq_json_count(outcome->policies.deltas), "policy_fallbacks",
        aq_json_count(outcome->policies.fallbacks), "broadcast_bytes",
        aq_json_count(outcome->policies.bytes), "broadcast_bytes_fp32",
        aq_json_count(outcome->policies.bytes_fp32), "broadcast_packed_bytes_fp32",
        aq_json_count(outcome->policies.packed_bytes_fp32), "findings",
        findings_json(&outcome->findings), "products", outcome->products);
    put_part(line, "time", outcome->time);
    put_part(line, "energy", outcome->energy);
    (void)json_object_set_new(line, "precision_gap", gap_of_run(&outcome->gap));
    (void)json_object_set_new(line, "best", best_json(outcome->best));
    return append(metrics, line, true);
}
