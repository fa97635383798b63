/*
 * Recording: see recording.h. Which form a file has shows in its members.
 */
#include "bench/env_replay/recording.h"

#include <jansson.h>

#include "bench/env_replay/recording_form.h"
#include "common/base/assert.h"
#include "common/base/buffer.h"
#include "common/base/memory.h"
#include "common/sys/file.h"

#define FILE_BYTES_MAX ((size_t)64 << 20)

/* ---- reading -------------------------------------------------------------------------------- */

static bool has(const json_t *root, const char *name)
{
    return json_object_get(root, name) != NULL;
}

static int read_form(const json_t *root, aq_recording *recording, aq_error *error)
{
    if (has(root, "id") && has(root, "P")) {
        return aq_recorded_table_read(root, recording, error);
    }
    if (has(root, "id") && has(root, "states")) {
        return aq_recording_read_gym(root, recording, error);
    }
    if (has(root, "domain") && has(root, "probes")) {
        return aq_recording_read_probes(root, recording, error);
    }
    if (has(root, "domain") && has(root, "qpos")) {
        return aq_recording_read_suite(root, recording, error);
    }
    return aq_fail(error, AQ_E_FOREIGN,
                   "no recording: it has neither 'id' with 'states' or 'P', nor 'domain' with "
                   "'qpos' or 'probes'");
}

static int load_json(const char *path, json_t **ret_root, aq_error *error)
{
    aq_buffer bytes;
    json_error_t json_error;
    aq_buffer_init(&bytes, FILE_BYTES_MAX);
    int rc = aq_file_read(path, &bytes, error);
    if (rc != 0) {
        aq_buffer_fini(&bytes);
        return rc;
    }
    json_t *root =
        json_loadb((const char *)bytes.data, bytes.size, JSON_REJECT_DUPLICATES, &json_error);
    aq_buffer_fini(&bytes);
    if (root == NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "line %d is no JSON: %s", json_error.line,
                       json_error.text);
    }
    *ret_root = root;
    return 0;
}

int aq_recording_read(const char *path, aq_recording **ret_recording, aq_error *error)
{
    json_t *root = NULL;
    int rc = load_json(path, &root, error);
    if (rc != 0) {
        return rc;
    }
    aq_recording *recording = aq_alloc(1, sizeof(*recording));
    rc = recording != NULL ? read_form(root, recording, error)
                           : aq_fail(error, AQ_E_NOMEM, "no memory for a recording");
    json_decref(root);
    if (rc != 0) {
        aq_recording_free(recording);
        return rc;
    }
    *ret_recording = recording;
    return 0;
}

void aq_recording_free(aq_recording *recording)
{
    if (recording == NULL) {
        return;
    }
    aq_number_matrix *matrices[] = {
        &recording->initial_observation, &recording->actions,
        &recording->observations,        &recording->rewards,
        &recording->terminated,          &recording->truncated,
        &recording->reset_steps,         &recording->reset_observations};
    for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++) {
        aq_number_matrix_fini(matrices[i]);
    }
    for (size_t i = 0; i < recording->series_count; i++) {
        aq_number_matrix_fini(&recording->series[i].initial);
        aq_number_matrix_fini(&recording->series[i].steps);
        aq_number_matrix_fini(&recording->series[i].resets);
    }
    aq_recorded_table_fini(&recording->table);
    aq_free(recording);
}

/* ---- looking -------------------------------------------------------------------------------- */

bool aq_recording_reset_after(const aq_recording *recording, size_t step, size_t *ret_reset)
{
    for (size_t i = 0; i < recording->reset_count; i++) {
        if (recording->reset_steps.numbers[i] == (double)step) {
            *ret_reset = i;
            return true;
        }
    }
    return false;
}

static void add(aq_golden_values *values, const aq_recording_series *series,
                const aq_number_matrix *matrix, size_t row)
{
    AQ_ASSERT(values->count < AQ_GOLDEN_VALUES_MAX);
    if (matrix->numbers != NULL && matrix->width > 0) {
        values->rows[values->count++] =
            (aq_golden_value){.name = series->name,
                              .count = matrix->width,
                              .numbers = aq_number_matrix_row(matrix, row)};
    }
}

void aq_recording_at_start(const aq_recording *recording, aq_golden_values *ret_values)
{
    *ret_values = (aq_golden_values){0};
    for (size_t i = 0; i < recording->series_count; i++) {
        add(ret_values, &recording->series[i], &recording->series[i].initial, 0);
    }
}

/* What has no row of its own there holds for the whole recording. */
static bool is_constant(const aq_recording_series *series)
{
    return series->steps.numbers == NULL;
}

void aq_recording_at_step(const aq_recording *recording, size_t step, aq_golden_values *ret_values)
{
    *ret_values = (aq_golden_values){0};
    for (size_t i = 0; i < recording->series_count; i++) {
        const aq_recording_series *series = &recording->series[i];
        if (is_constant(series)) {
            add(ret_values, series, &series->initial, 0);
        } else {
            add(ret_values, series, &series->steps, step);
        }
    }
}

void aq_recording_at_reset(const aq_recording *recording, size_t reset,
                           aq_golden_values *ret_values)
{
    *ret_values = (aq_golden_values){0};
    for (size_t i = 0; i < recording->series_count; i++) {
        const aq_recording_series *series = &recording->series[i];
        if (is_constant(series)) {
            add(ret_values, series, &series->initial, 0);
        } else if (series->resets.numbers != NULL) {
            add(ret_values, series, &series->resets, reset);
        }
    }
}
