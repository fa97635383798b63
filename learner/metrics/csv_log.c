/*
 * CSV log: see csv_log.h. Names and values are words and numbers of ours, so that nothing needs
 * quotes.
 */
#include "learner/metrics/csv_log.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/file.h"
#include "learner/metrics/log_file.h"
#include "learner/metrics/metric_names.h"

enum { COLUMNS_MAX = 128, HEADER_BYTES_MAX = 8192, CELL_BYTES_MAX = 32 };

/* Of a new file; the algorithm's metrics stand between the two. */
static const char header_begin[] =
    "event,wall_s,env_steps,learner_steps,env_steps_per_s,learner_steps_per_s,";
static const char header_end[] =
    "staleness,batch_wait_share,training_return,policy_version,policy_versions,policy_deltas,"
    "policy_fallbacks,broadcast_bytes,broadcast_bytes_fp32,broadcast_packed_bytes_fp32,"
    "quantization_cost,actors,evaluators,"
    "shards,"
    "replay/stored,replay/bytes,replay/disk_bytes,replay/actors_waited_s,"
    "replay/learner_waited_s,replay_use/answer_ms_mean,replay_use/outdated,energy/cpu_s,"
    "energy/energy_j,energy/idle_j,energy/carbon_g,time/actors/inference_s,time/actors/"
    "environment_s,"
    "time/actors/waiting_s,time/learner/training_s,time/learner/waiting_s,"
    "time/learner/publishing_s,format,episodes,return_mean,return_std,return_min,return_max,"
    "cut_off,confirmed,ranks_only,return_fp32,gap/mean,gap/ci95,best/policy_version,best/episodes,"
    "best/return_mean,state\n";

struct aq_csv_log {
    char path[PATH_MAX];
    aq_log_file log;
    char header[HEADER_BYTES_MAX]; /* commas are ends of texts */
    const char *columns[COLUMNS_MAX];
    size_t column_count;
    const char *event; /* of the row at hand */
    char cells[COLUMNS_MAX][CELL_BYTES_MAX];
};

/* ---- the header ----------------------------------------------------------------------------- */

/* `header` ends with its newline. */
static int take_header(aq_csv_log *csv)
{
    char *at = csv->header;
    csv->header[strcspn(csv->header, "\r\n")] = '\0';
    while (at) {
        if (csv->column_count == COLUMNS_MAX || *at == '\0' || *at == ',') {
            return AQ_E_CORRUPT;
        }
        csv->columns[csv->column_count++] = at;
        at = strchr(at, ',');
        if (at) {
            *at++ = '\0';
        }
    }
    return 0;
}

static int write_header(aq_csv_log *csv, const aq_metric_list *metrics)
{
    size_t used = (size_t)snprintf(csv->header, sizeof(csv->header), "%s", header_begin);
    for (size_t i = 0; i < metrics->count; i++) {
        used += (size_t)snprintf(csv->header + used, sizeof(csv->header) - used, "%s,",
                                 metrics->rows[i].name);
    }
    used += (size_t)snprintf(csv->header + used, sizeof(csv->header) - used, "%s", header_end);
    AQ_ASSERT(used < sizeof(csv->header));
    int rc = aq_log_file_append(&csv->log, csv->header, used);
    return rc != 0 ? rc : take_header(csv);
}

/* ---- the file ------------------------------------------------------------------------------- */

static int read_header(aq_csv_log *csv)
{
    const ssize_t got = pread(csv->log.file, csv->header, sizeof(csv->header) - 1, 0);
    if (got < 0) {
        return aq_error_from_errno(errno);
    }
    csv->header[got] = '\0';
    return strchr(csv->header, '\n') ? take_header(csv) : AQ_E_CORRUPT;
}

int aq_csv_log_open(const char *run_dir, const aq_metric_list *metrics, aq_csv_log **ret_csv,
                    aq_error *error)
{
    aq_csv_log *csv = aq_alloc(1, sizeof(*csv));
    if (!csv) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    csv->log.file = -1;
    int rc = aq_path_in(csv->path, sizeof(csv->path), run_dir, "metrics.csv", error);
    if (rc != 0) {
        goto fail;
    }
    rc = aq_log_file_open(csv->path, &csv->log);
    if (rc == 0) {
        rc = csv->log.size == 0 ? write_header(csv, metrics) : read_header(csv);
    }
    if (rc != 0) {
        rc = aq_fail(error, rc, "%s: %s", csv->path,
                     rc == AQ_E_CORRUPT
                         ? "its first row names no columns: move it away, or set log.csv=no"
                         : aq_error_text(rc));
        goto fail;
    }
    *ret_csv = csv;
    return 0;
fail:
    aq_csv_log_close(csv);
    return rc;
}

void aq_csv_log_close(aq_csv_log *csv)
{
    if (!csv) {
        return;
    }
    aq_log_file_fini(&csv->log);
    aq_free(csv);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static char *named_cell(aq_csv_log *csv, const char *name)
{
    for (size_t i = 0; i < csv->column_count; i++) {
        if (strcmp(csv->columns[i], name) == 0) {
            return csv->cells[i];
        }
    }
    return NULL;
}

/* NULL for a name that has no column, by itself or as one of the event's. */
static char *cell_of(aq_csv_log *csv, const char *name)
{
    char full[AQ_METRIC_NAME_MAX];
    char *cell = named_cell(csv, name);
    if (!cell && aq_text_format(full, sizeof(full), "%s/%s", csv->event, name) == 0) {
        cell = named_cell(csv, full);
    }
    return cell;
}

static void take_number(void *user, const char *name, double value)
{
    char *cell = cell_of(user, name);
    if (cell) {
        const bool is_count = fabs(value) < 1e15 && value == floor(value);
        (void)snprintf(cell, CELL_BYTES_MAX, is_count ? "%.0f" : "%.10g", value);
    }
}

/* Words of ours, and what is true or false as 1 or 0. */
static void take_words(aq_csv_log *csv, const json_t *line)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)line, key, value)
    {
        char *cell = cell_of(csv, key);
        const char *word = json_string_value(value);
        if (cell && json_is_boolean(value)) {
            (void)snprintf(cell, CELL_BYTES_MAX, "%d", json_is_true(value));
        } else if (cell && word && !strpbrk(word, ",\"\r\n")) {
            (void)snprintf(cell, CELL_BYTES_MAX, "%s", word);
        }
    }
}

int aq_csv_log_row(aq_csv_log *csv, const struct json_t *line, aq_error *error)
{
    char row[COLUMNS_MAX * CELL_BYTES_MAX];
    size_t size = 0;
    const char *event = json_string_value(json_object_get(line, "event"));
    csv->event = event ? event : "";
    memset(csv->cells, 0, sizeof(csv->cells));
    aq_metric_each(line, take_number, csv);
    take_words(csv, line);
    for (size_t i = 0; i < csv->column_count; i++) {
        const size_t length = strlen(csv->cells[i]);
        memcpy(row + size, csv->cells[i], length);
        size += length;
        row[size++] = i + 1 < csv->column_count ? ',' : '\n';
    }
    int rc = aq_log_file_append(&csv->log, row, size);
    return rc != 0 ? aq_fail(error, rc, "%s: %s", csv->path, aq_error_text(rc)) : 0;
}
