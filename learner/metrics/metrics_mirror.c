/*
 * Metrics mirror: see metrics_mirror.h.
 */
#include "learner/metrics/metrics_mirror.h"

#include <jansson.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "learner/metrics/csv_log.h"
#include "learner/metrics/metric_names.h"
#include "learner/metrics/tensorboard_events.h"

struct aq_metrics_mirror {
    aq_mirror_config config;
    aq_tensorboard *board; /* NULL: off, or it could not be opened yet; likewise csv */
    aq_csv_log *csv;
    uint64_t learner_steps; /* of the last line that says: evaluations don't */
};

/* A line on its way to TensorBoard. */
typedef struct scalar_line {
    aq_metrics_mirror *mirror;
    const char *event;
    const char *format; /* that was played */
} scalar_line;

/* Those that are wanted and not open yet; the error is the last one's. */
static int open_files(aq_metrics_mirror *mirror, aq_error *error)
{
    const aq_mirror_config *config = &mirror->config;
    int rc = 0;
    if (config->tensorboard && !mirror->board) {
        rc = aq_tensorboard_open(config->run_dir, config->goes_on, &mirror->board, error);
    }
    if (config->csv && !mirror->csv) {
        int csv_rc = aq_csv_log_open(config->run_dir, config->metrics, &mirror->csv, error);
        rc = csv_rc != 0 ? csv_rc : rc;
    }
    return rc;
}

int aq_metrics_mirror_open(const aq_mirror_config *config, aq_metrics_mirror **ret_mirror,
                           aq_error *error)
{
    aq_metrics_mirror *mirror = aq_alloc(1, sizeof(*mirror));
    if (!mirror) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    mirror->config = *config;
    mirror->learner_steps = config->learner_steps;
    int rc = open_files(mirror, error);
    if (rc == AQ_E_CORRUPT || rc == AQ_E_NOMEM) { /* else the disk may come round */
        aq_metrics_mirror_close(mirror);
        return rc;
    }
    *ret_mirror = mirror;
    return 0;
}

void aq_metrics_mirror_close(aq_metrics_mirror *mirror)
{
    if (!mirror) {
        return;
    }
    aq_tensorboard_close(mirror->board);
    aq_csv_log_close(mirror->csv);
    aq_free(mirror);
}

static void take_number(void *user, const char *name, double value)
{
    const scalar_line *line = user;
    char room[AQ_TENSORBOARD_TAG_BYTES];
    const char *tag = aq_metric_tag(line->event, name, line->format, room, sizeof(room));
    if (tag) {
        aq_tensorboard_scalar(line->mirror->board, tag, value);
    }
}

static int write_scalars(aq_metrics_mirror *mirror, const json_t *line, aq_error *error)
{
    const char *event = json_string_value(json_object_get(line, "event"));
    const char *format = json_string_value(json_object_get(line, "format"));
    scalar_line of = {mirror, event ? event : "event", format ? format : mirror->config.format};
    aq_metric_each(line, take_number, &of);
    const uint64_t env_steps = (uint64_t)json_integer_value(json_object_get(line, "env_steps"));
    return aq_tensorboard_write(
        mirror->board, mirror->config.step == AQ_LOG_STEP_ENV ? env_steps : mirror->learner_steps,
        aq_clock_wall_ns(), error);
}

int aq_metrics_mirror_line(aq_metrics_mirror *mirror, const struct json_t *line, bool is_kept,
                           aq_error *error)
{
    const json_t *learner_steps = json_object_get(line, "learner_steps");
    aq_error again;
    if (json_is_integer(learner_steps)) {
        mirror->learner_steps = (uint64_t)json_integer_value(learner_steps);
    }
    if (mirror->config.history) {
        aq_run_history_line(mirror->config.history, line);
    }
    if (!is_kept) {
        return 0;
    }
    int rc = open_files(mirror, error);
    /* What only ranks is of a version that has its point in the curve. */
    if (mirror->board && !json_is_true(json_object_get(line, "ranks_only"))) {
        int board_rc = write_scalars(mirror, line, rc != 0 ? &again : error);
        rc = rc != 0 ? rc : board_rc;
    }
    if (mirror->csv) {
        int csv_rc = aq_csv_log_row(mirror->csv, line, rc != 0 ? &again : error);
        rc = rc != 0 ? rc : csv_rc;
    }
    return rc;
}
