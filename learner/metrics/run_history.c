/*
 * Run history: see run_history.h.
 */
#include "learner/metrics/run_history.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "common/base/memory.h"
#include "learner/metrics/metric_names.h"

/* Rows of each span; those of evaluations are fewer, and may be further apart than a second. */
enum { MINUTES_ROWS = 300, HOUR_ROWS = 360, RUN_ROWS = 600, EVENT_ROWS = 300 };

static const aq_history_column progress_columns[] = {
    {"wall_s", "wall_s", AQ_HISTORY_LAST},
    {"env_steps", "env_steps", AQ_HISTORY_LAST},
    {"learner_steps", "learner_steps", AQ_HISTORY_LAST},
    [AQ_PROGRESS_ENV_RATE] = {"env_rate", "env_steps_per_s", AQ_HISTORY_MEAN},
    [AQ_PROGRESS_LEARNER_RATE] = {"learner_rate", "learner_steps_per_s", AQ_HISTORY_MEAN},
    {"sample_rate", "replay/sample_per_s", AQ_HISTORY_MEAN},
    {"staleness", "staleness", AQ_HISTORY_MEAN},
    [AQ_PROGRESS_LEARNER_WAITS] = {"learner_waits", "batch_wait_share", AQ_HISTORY_MEAN},
    [AQ_PROGRESS_ACTORS_WAITED] = {"actors_waited_s", "time/actors/waiting_s", AQ_HISTORY_LAST},
    [AQ_PROGRESS_ACTORS_RAN] = {"actors_ran_s", "time/actors/running_s", AQ_HISTORY_LAST},
    [AQ_PROGRESS_WAITED_FOR_ACTORS] = {"waited_limiter_s", "replay_use/waited_limiter_s",
                                       AQ_HISTORY_LAST},
    [AQ_PROGRESS_WAITED_FOR_ANSWERS] = {"waited_answer_s", "replay_use/waited_answer_s",
                                        AQ_HISTORY_LAST},
    {"training_return", "training_return", AQ_HISTORY_MEAN},
    {"cost", "quantization_cost", AQ_HISTORY_MEAN},
    {"bytes", "broadcast_bytes", AQ_HISTORY_LAST},
    {"bytes_fp32", "broadcast_bytes_fp32", AQ_HISTORY_LAST},
    {"stored", "replay/stored", AQ_HISTORY_LAST},
    {"actors", "actors", AQ_HISTORY_LEAST},
    {"learner_j", "energy/roles/learner/energy_j", AQ_HISTORY_LAST},
    {"actor_j", "energy/roles/actor/energy_j", AQ_HISTORY_LAST},
    {"evaluator_j", "energy/roles/evaluator/energy_j", AQ_HISTORY_LAST},
    {"replay_j", "energy/roles/replay/energy_j", AQ_HISTORY_LAST},
};

static const aq_history_column evaluation_columns[] = {
    {"wall_s", "wall_s", AQ_HISTORY_LAST},
    {"env_steps", "env_steps", AQ_HISTORY_LAST},
    {"version", "policy_version", AQ_HISTORY_LAST},
    [AQ_EVALUATION_RETURN] = {"return", "return_mean", AQ_HISTORY_MEAN},
    {"std", "return_std", AQ_HISTORY_MEAN},
    {"least", "return_min", AQ_HISTORY_LEAST},
    {"most", "return_max", AQ_HISTORY_MOST},
};

static const aq_history_column gap_columns[] = {
    {"wall_s", "wall_s", AQ_HISTORY_LAST},
    {"env_steps", "env_steps", AQ_HISTORY_LAST},
    {"return_fp32", "return_fp32", AQ_HISTORY_MEAN},
    {"gap", "mean", AQ_HISTORY_MEAN},
    {"ci95", "ci95", AQ_HISTORY_MEAN},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
_Static_assert(COUNT_OF(progress_columns) + AQ_METRICS_MAX <= AQ_HISTORY_COLUMNS_MAX,
               "a row is on the stack");

typedef struct history_columns {
    const aq_history_column *columns;
    size_t count;
} history_columns;

static const struct {
    const char *name;
    history_columns has;
} kinds[AQ_HISTORY_KINDS] = {
    [AQ_HISTORY_PROGRESS] = {"progress", {progress_columns, COUNT_OF(progress_columns)}},
    [AQ_HISTORY_SCREENED] = {"screened", {evaluation_columns, COUNT_OF(evaluation_columns)}},
    [AQ_HISTORY_CONFIRMED] = {"confirmed", {evaluation_columns, COUNT_OF(evaluation_columns)}},
    [AQ_HISTORY_FELL_BACK] = {"fell_back", {evaluation_columns, COUNT_OF(evaluation_columns)}},
    [AQ_HISTORY_COMPARED] = {"compared", {gap_columns, COUNT_OF(gap_columns)}},
};

static const struct {
    size_t rows;
    double period_s;
    bool slides;
} spans[AQ_HISTORY_SPANS] = {
    [AQ_SPAN_MINUTES] = {MINUTES_ROWS, 1, true},
    [AQ_SPAN_HOUR] = {HOUR_ROWS, 10, true},
    [AQ_SPAN_RUN] = {RUN_ROWS, 1, false},
};

struct aq_run_history {
    aq_history_column progress[AQ_HISTORY_COLUMNS_MAX]; /* with the algorithm's metrics */
    size_t progress_count;
    aq_history_series *series[AQ_HISTORY_SPANS][AQ_HISTORY_KINDS];
};

static void take_metrics(aq_run_history *history, const aq_metric_list *metrics)
{
    static const enum aq_history_merge merges[] = {
        [AQ_METRIC_MEAN] = AQ_HISTORY_MEAN,
        [AQ_METRIC_LAST] = AQ_HISTORY_LAST,
        [AQ_METRIC_MIN] = AQ_HISTORY_LEAST,
        [AQ_METRIC_MAX] = AQ_HISTORY_MOST,
    };
    memcpy(history->progress, progress_columns, sizeof(progress_columns));
    history->progress_count = COUNT_OF(progress_columns);
    for (size_t i = 0; i < metrics->count; i++) {
        const aq_metric *row = &metrics->rows[i];
        history->progress[history->progress_count++] =
            (aq_history_column){row->name, row->name, merges[row->fold]};
    }
}

static history_columns columns_of(const aq_run_history *history, size_t kind)
{
    return kind == AQ_HISTORY_PROGRESS
               ? (history_columns){history->progress, history->progress_count}
               : kinds[kind].has;
}

/* What slides has room for a row of each of its periods. */
static aq_history_shape shape_of(const aq_run_history *history, size_t span, size_t kind)
{
    const bool fewer = kind != AQ_HISTORY_PROGRESS && !spans[span].slides;
    const history_columns has = columns_of(history, kind);
    return (aq_history_shape){
        .columns = has.columns,
        .column_count = has.count,
        .rows_max = fewer ? EVENT_ROWS : spans[span].rows,
        .period_s = spans[span].period_s,
        .slides = spans[span].slides,
    };
}

int aq_run_history_create(const aq_metric_list *metrics, aq_run_history **ret_history)
{
    aq_run_history *history = aq_alloc(1, sizeof(*history));
    if (history == NULL) {
        return AQ_E_NOMEM;
    }
    take_metrics(history, metrics);
    int rc = 0;
    for (size_t span = 0; rc == 0 && span < AQ_HISTORY_SPANS; span++) {
        for (size_t kind = 0; rc == 0 && kind < AQ_HISTORY_KINDS; kind++) {
            const aq_history_shape shape = shape_of(history, span, kind);
            rc = aq_history_series_create(&shape, &history->series[span][kind]);
        }
    }
    if (rc != 0) {
        aq_run_history_destroy(history);
        return rc;
    }
    *ret_history = history;
    return 0;
}

void aq_run_history_destroy(aq_run_history *history)
{
    if (!history) {
        return;
    }
    for (size_t span = 0; span < AQ_HISTORY_SPANS; span++) {
        for (size_t kind = 0; kind < AQ_HISTORY_KINDS; kind++) {
            aq_history_series_destroy(history->series[span][kind]);
        }
    }
    aq_free(history);
}

/* ---- lines ---------------------------------------------------------------------------------- */

typedef struct line_row {
    const aq_history_column *columns;
    size_t count;
    double values[AQ_HISTORY_COLUMNS_MAX];
} line_row;

static void take_number(void *user, const char *name, double value)
{
    line_row *row = user;
    for (size_t i = 0; i < row->count; i++) {
        if (strcmp(row->columns[i].path, name) == 0) {
            row->values[i] = value;
            return;
        }
    }
}

/* False: of a line like this nothing is kept. */
static bool kind_of(const json_t *line, enum aq_history_kind *ret_kind)
{
    const char *event = json_string_value(json_object_get(line, "event"));
    if (!event) {
        return false;
    }
    if (strcmp(event, "progress") == 0) {
        *ret_kind = AQ_HISTORY_PROGRESS;
    } else if (json_is_true(json_object_get(line, "ranks_only"))) {
        return false; /* of a version that has its point */
    } else if (strcmp(event, "evaluation") == 0) {
        *ret_kind = json_is_true(json_object_get(line, "fell_back"))   ? AQ_HISTORY_FELL_BACK
                    : json_is_true(json_object_get(line, "confirmed")) ? AQ_HISTORY_CONFIRMED
                                                                       : AQ_HISTORY_SCREENED;
    } else if (strcmp(event, "gap") == 0) {
        *ret_kind = AQ_HISTORY_COMPARED;
    } else {
        return false;
    }
    return true;
}

void aq_run_history_line(aq_run_history *history, const struct json_t *line)
{
    enum aq_history_kind kind;
    if (!kind_of(line, &kind)) {
        return;
    }
    const history_columns has = columns_of(history, kind);
    line_row row = {.columns = has.columns, .count = has.count};
    for (size_t i = 0; i < row.count; i++) {
        row.values[i] = NAN;
    }
    aq_metric_each(line, take_number, &row);
    for (size_t span = 0; span < AQ_HISTORY_SPANS; span++) {
        aq_history_series_add(history->series[span][kind], row.values);
        for (size_t other = 0; other < AQ_HISTORY_KINDS; other++) {
            aq_history_series_pass(history->series[span][other], row.values[0]);
        }
    }
}

/* ---- what is shown -------------------------------------------------------------------------- */

const aq_history_series *aq_run_history_series(const aq_run_history *history,
                                               enum aq_history_span span, enum aq_history_kind kind)
{
    return history->series[span][kind];
}

int aq_run_history_print(const aq_run_history *history, enum aq_history_span span, aq_buffer *out)
{
    int rc = 0;
    for (size_t kind = 0; rc == 0 && kind < AQ_HISTORY_KINDS; kind++) {
        rc = aq_buffer_append(out, kind == 0 ? "{\"" : ",\"", 2);
        rc = rc != 0 ? rc : aq_buffer_append(out, kinds[kind].name, strlen(kinds[kind].name));
        rc = rc != 0 ? rc : aq_buffer_append(out, "\":", 2);
        rc = rc != 0 ? rc : aq_history_series_print(history->series[span][kind], out);
    }
    return rc != 0 ? rc : aq_buffer_append(out, "}", 1);
}
