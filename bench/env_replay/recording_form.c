/*
 * Recording form: what the readers share. See recording_form.h.
 */
#include "bench/env_replay/recording_form.h"

#include "common/base/assert.h"

int aq_recording_rows(const json_t *root, const char *name, size_t rows,
                      aq_number_matrix *ret_matrix, aq_error *error)
{
    aq_number_matrix matrix;
    int rc = aq_number_matrix_read(json_object_get(root, name), name, &matrix, error);
    if (rc != 0) {
        return rc;
    }
    if (matrix.rows != rows) {
        rc = aq_fail(error, AQ_E_CORRUPT, "'%s' has %zu rows, not %zu", name, matrix.rows, rows);
        aq_number_matrix_fini(&matrix);
        return rc;
    }
    *ret_matrix = matrix;
    return 0;
}

int aq_recording_gather(const json_t *objects, const char *what, const char *name,
                        aq_number_matrix *ret_matrix, aq_error *error)
{
    json_t *rows = json_array();
    if (rows == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the %ss", what);
    }
    for (size_t i = 0; i < json_array_size(objects); i++) {
        json_t *value = json_object_get(json_array_get(objects, i), name);
        if (value == NULL || json_array_append(rows, value)) {
            json_decref(rows);
            return aq_fail(error, AQ_E_CORRUPT, "%s %zu has no '%s'", what, i, name);
        }
    }
    int rc = aq_number_matrix_read(rows, name, ret_matrix, error);
    json_decref(rows);
    return rc;
}

static int read_first(const json_t *root, bool is_needed, aq_recording *recording, aq_error *error)
{
    const json_t *first = json_object_get(root, "initial_observation");
    if (first == NULL && !is_needed) {
        return 0;
    }
    int rc =
        aq_number_row_read(first, "initial_observation", &recording->initial_observation, error);
    if (rc == 0 && recording->initial_observation.width != recording->observations.width) {
        rc = aq_fail(error, AQ_E_CORRUPT, "'initial_observation' has another width");
    }
    return rc;
}

int aq_recording_read_steps(const json_t *root, bool needs_first, aq_recording *recording,
                            aq_error *error)
{
    int rc = aq_number_matrix_read(json_object_get(root, "actions"), "actions", &recording->actions,
                                   error);
    if (rc != 0) {
        return rc;
    }
    size_t steps = recording->actions.rows;
    if (steps == 0 || steps > AQ_RECORDING_STEPS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "'actions' has %zu rows: one to %d is possible", steps,
                       AQ_RECORDING_STEPS_MAX);
    }
    recording->step_count = steps;
    rc = aq_recording_rows(root, "observations", steps, &recording->observations, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_recording_rows(root, "rewards", steps, &recording->rewards, error);
    if (rc != 0) {
        return rc;
    }
    if (recording->rewards.width != 1) {
        return aq_fail(error, AQ_E_CORRUPT, "'rewards' holds more than a number a step");
    }
    return read_first(root, needs_first, recording, error);
}

aq_recording_series *aq_recording_add_series(aq_recording *recording, const char *name,
                                             bool is_compared)
{
    AQ_ASSERT(recording->series_count < AQ_RECORDING_SERIES_MAX);
    aq_recording_series *series = &recording->series[recording->series_count++];
    series->name = name;
    series->is_compared = is_compared;
    return series;
}

static bool has_width(const aq_number_matrix *matrix, size_t width)
{
    return matrix->numbers == NULL || matrix->rows == 0 || matrix->width == width;
}

int aq_recording_check_series(const aq_recording *recording, aq_error *error)
{
    for (size_t i = 0; i < recording->series_count; i++) {
        const aq_recording_series *series = &recording->series[i];
        size_t width = series->steps.numbers != NULL ? series->steps.width : series->initial.width;
        if (!has_width(&series->initial, width) || !has_width(&series->resets, width)) {
            return aq_fail(error, AQ_E_CORRUPT, "'%s' has not always the same count of numbers",
                           series->name);
        }
    }
    return 0;
}
