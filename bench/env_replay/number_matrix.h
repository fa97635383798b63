/*
 * Number matrix: rows of numbers of equal width, taken from JSON that somebody else wrote. A row
 * may be a plain number; true and false count as 1 and 0. One owner.
 */
#ifndef AQ_BENCH_ENV_REPLAY_NUMBER_MATRIX_H
#define AQ_BENCH_ENV_REPLAY_NUMBER_MATRIX_H

#include <jansson.h>
#include <stddef.h>

#include "common/base/error.h"

#define AQ_MATRIX_ELEMENTS_MAX ((size_t)1 << 24)

typedef struct aq_number_matrix {
    size_t rows, width;
    double *numbers; /* NULL: there is none */
} aq_number_matrix;

/* `value` is an array of rows. AQ_E_CORRUPT, saying where `name` is no such thing; AQ_E_TOO_BIG,
 * AQ_E_NOMEM. */
int aq_number_matrix_read(const json_t *value, const char *name, aq_number_matrix *ret_matrix,
                          aq_error *error) AQ_MUST_USE;

/* `value` is one row: an array of numbers or a number. */
int aq_number_row_read(const json_t *value, const char *name, aq_number_matrix *ret_matrix,
                       aq_error *error) AQ_MUST_USE;

void aq_number_matrix_fini(aq_number_matrix *matrix);

/* Row `row`; NULL when there is no matrix. */
const double *aq_number_matrix_row(const aq_number_matrix *matrix, size_t row);

#endif
