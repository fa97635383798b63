/*
 * Number matrix: see number_matrix.h.
 */
#include "bench/env_replay/number_matrix.h"

#include <stdbool.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

static bool number_of(const json_t *value, double *ret_number)
{
    if (json_is_boolean(value)) {
        *ret_number = json_is_true(value) ? 1.0 : 0.0;
        return true;
    }
    if (!json_is_number(value)) {
        return false;
    }
    *ret_number = json_number_value(value);
    return true;
}

/* A plain number has one element, anything else that is no array none. */
static size_t width_of(const json_t *row)
{
    return json_is_array(row) ? json_array_size(row) : 1;
}

static int fill_row(const json_t *row, const char *name, size_t index, size_t width, double *out,
                    aq_error *error)
{
    if (width_of(row) != width) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "row %zu of '%s' has %zu numbers, but the first has %zu", index, name,
                       width_of(row), width);
    }
    for (size_t i = 0; i < width; i++) {
        const json_t *element = json_is_array(row) ? json_array_get(row, i) : row;
        if (!number_of(element, &out[i])) {
            return aq_fail(error, AQ_E_CORRUPT, "row %zu of '%s' holds something that is no number",
                           index, name);
        }
    }
    return 0;
}

static int allocate(const char *name, size_t rows, size_t width, aq_number_matrix *ret_matrix,
                    aq_error *error)
{
    if (width > 0 && rows > AQ_MATRIX_ELEMENTS_MAX / width) {
        return aq_fail(error, AQ_E_TOO_BIG, "'%s' holds more than %zu numbers", name,
                       AQ_MATRIX_ELEMENTS_MAX);
    }
    double *numbers = aq_alloc(rows * width > 0 ? rows * width : 1, sizeof(double));
    if (numbers == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for '%s'", name);
    }
    *ret_matrix = (aq_number_matrix){.rows = rows, .width = width, .numbers = numbers};
    return 0;
}

/* The elements of an array, or the value itself as the one row. */
static int read_rows(const json_t *value, bool is_row, const char *name,
                     aq_number_matrix *ret_matrix, aq_error *error)
{
    aq_number_matrix matrix;
    const size_t rows = is_row ? 1 : json_array_size(value);
    const size_t width = rows > 0 ? width_of(is_row ? value : json_array_get(value, 0)) : 0;
    int rc = allocate(name, rows, width, &matrix, error);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; i < rows; i++) {
        rc = fill_row(is_row ? value : json_array_get(value, i), name, i, width,
                      matrix.numbers + i * width, error);
        if (rc != 0) {
            aq_number_matrix_fini(&matrix);
            return rc;
        }
    }
    *ret_matrix = matrix;
    return 0;
}

int aq_number_matrix_read(const json_t *value, const char *name, aq_number_matrix *ret_matrix,
                          aq_error *error)
{
    if (!json_is_array(value)) {
        return aq_fail(error, AQ_E_CORRUPT, "'%s' is missing or no array", name);
    }
    return read_rows(value, false, name, ret_matrix, error);
}

int aq_number_row_read(const json_t *value, const char *name, aq_number_matrix *ret_matrix,
                       aq_error *error)
{
    if (value == NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "'%s' is missing", name);
    }
    return read_rows(value, true, name, ret_matrix, error);
}

void aq_number_matrix_fini(aq_number_matrix *matrix)
{
    aq_free(matrix->numbers);
    *matrix = (aq_number_matrix){0};
}

const double *aq_number_matrix_row(const aq_number_matrix *matrix, size_t row)
{
    if (matrix->numbers == NULL) {
        return NULL;
    }
    AQ_ASSERT(row < matrix->rows);
    return matrix->numbers + row * matrix->width;
}
