/*
 * Run view: see run_view.h.
 */
#include "cli/policy/run_view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/policy/checkpoint_view.h"
#include "cli/policy/config_view.h"
#include "cli/policy/policy_view.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/watch/status_replay.h"
#include "common/base/plain_text.h"
#include "common/config/run_names.h"
#include "common/net/rpc/reflect.h"

enum { TEXT_BYTES = 256, LINE_BYTES = 1024 };

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *problems_json(const aq_run_record *record)
{
    json_t *problems = json_array();
    for (size_t i = 0; i < record->problem_count; i++) {
        aq_json_add(&problems, aq_json_text(record->problems[i]));
    }
    return problems;
}

static json_t *checkpoint_json(const aq_run_record *record)
{
    if (!record->has_checkpoint) {
        return json_null();
    }
    json_t *view = aq_checkpoint_view_json(&record->newest.checkpoint, record->newest.file_bytes);
    if (json_object_set_new(view, "path", aq_json_text(record->newest.path))) {
        json_decref(view);
        return NULL;
    }
    return view;
}

static json_t *shared_or_null(json_t *value)
{
    return value ? json_incref(value) : json_null();
}

json_t *aq_run_view_json(const char *path, const aq_run_record *record)
{
    return json_pack(
        "{s:s, s:o, s:s, s:s, s:o, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
        "run", "path", aq_json_text(path), "run_id", record->run_id, "task", record->task, "seed",
        aq_json_count(record->seed), "made", record->made, "software", record->software, "live",
        record->is_live, "config",
        record->has_config ? aq_config_view_json(&record->config) : json_null(), "checkpoint",
        checkpoint_json(record), "policy",
        record->policy ? aq_policy_view_json(record->policy, 0) : json_null(), "metrics_lines",
        aq_json_count(record->metrics.lines), "last_metrics", shared_or_null(record->metrics.last),
        "last_progress", shared_or_null(record->metrics.progress), "best_evaluation",
        shared_or_null(record->metrics.best), "problems", problems_json(record));
}

/* ---- people --------------------------------------------------------------------------------- */

static void print_best(FILE *out, const aq_run_record *record)
{
    char line[TEXT_BYTES];
    const aq_best_figure best = aq_metrics_digest_best(&record->metrics);
    aq_print_fact(out, "best return", "%s",
                  isfinite(best.mean) ? aq_figure_best(&best, line, sizeof(line))
                                      : "no evaluation yet");
}

static void print_policy(FILE *out, const aq_run_record *record)
{
    char line[TEXT_BYTES];
    if (!record->policy) {
        aq_print_fact(out, "policy", "none that can be read");
        return;
    }
    aq_print_fact(out, "policy", "%s%s", aq_policy_view_line(record->policy, line, sizeof(line)),
                  record->has_policy_fp32 ? ", also in fp32" : "");
}

static void print_checkpoint(FILE *out, const aq_run_record *record)
{
    char line[TEXT_BYTES];
    const char *slash = strrchr(record->newest.path, '/');
    if (!record->has_checkpoint) {
        aq_print_fact(out, "checkpoint", "none that can be read");
        return;
    }
    aq_print_fact(out, "checkpoint", "%s: %s", slash ? slash + 1 : record->newest.path,
                  aq_checkpoint_view_line(&record->newest.checkpoint, line, sizeof(line)));
}

/* What the shards said together, in the last line that says it; one of other versions says
 * nothing. */
static void print_replay(FILE *out, const aq_run_record *record)
{
    ProtobufCMessage *stats;
    const json_t *said = json_object_get(record->metrics.progress, "replay");
    if (said &&
        aq_reflect_from_json(&actorq__v1__replay_stats__descriptor, said, &stats, NULL) == 0) {
        aq_status_replay_print_sum(out, (const Actorq__V1__ReplayStats *)stats);
        protobuf_c_message_free_unpacked(stats, NULL);
    }
}

static void print_metrics(FILE *out, const aq_run_record *record)
{
    if (!record->metrics.last) {
        aq_print_fact(out, "metrics", "none yet");
        return;
    }
    aq_figure age;
    const char *event = json_string_value(json_object_get(record->metrics.last, "event"));
    aq_print_fact(out, "metrics", "%" PRIu64 " lines, the last after %s (%s)",
                  record->metrics.lines,
                  aq_figure_duration(&age, aq_json_number_of(record->metrics.last, "wall_s")),
                  event != NULL ? event : "?");
}

void aq_run_view_print(FILE *out, const char *path, const aq_run_record *record)
{
    char plain[LINE_BYTES], task[TEXT_BYTES];
    (void)fprintf(out, "%s: a run of %s\n", aq_plain_text(plain, sizeof(plain), path),
                  aq_plain_text(task, sizeof(task), record->task));
    aq_print_fact(
        out, "state", "%s",
        aq_plain_text(plain, sizeof(plain), aq_run_state_text(aq_run_record_state(record))));
    aq_print_fact(out, "run", "%s, seed %" PRIu64 ", made %s by version %s", record->run_id,
                  record->seed, record->made, record->software);
    if (record->has_config) {
        aq_config_view_print(out, &record->config);
    }
    print_best(out, record);
    print_policy(out, record);
    print_checkpoint(out, record);
    print_replay(out, record);
    print_metrics(out, record);
    for (size_t i = 0; i < record->problem_count; i++) {
        aq_print_fact(out, "problem", "%s", record->problems[i]);
    }
}
