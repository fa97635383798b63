/*
 * History series: see history_series.h.
 */
#include "learner/metrics/history_series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

/* Greater whole numbers have no exact double. */
#define WHOLE_MAX 9007199254740992.0

/* Lines of one moment may have read the clock in turn; a run that went back lost more. */
#define ONE_MOMENT_S 0.5

struct aq_history_series {
    aq_history_shape shape;
    double period_s;
    size_t rows;
    double *values;    /* (rows_max, column_count) */
    uint32_t *samples; /* likewise: how many numbers each is of */
};

int aq_history_series_create(const aq_history_shape *shape, aq_history_series **ret_series)
{
    AQ_ASSERT(shape->rows_max >= 2);
    AQ_ASSERT(shape->column_count > 0 && shape->column_count <= AQ_HISTORY_COLUMNS_MAX);
    AQ_ASSERT(shape->period_s > 0);
    aq_history_series *series = aq_alloc(1, sizeof(*series));
    if (!series) {
        return AQ_E_NOMEM;
    }
    series->shape = *shape;
    series->period_s = shape->period_s;
    series->values = aq_alloc(shape->rows_max * shape->column_count, sizeof(double));
    series->samples = aq_alloc(shape->rows_max * shape->column_count, sizeof(uint32_t));
    if (!series->values || !series->samples) {
        aq_history_series_destroy(series);
        return AQ_E_NOMEM;
    }
    *ret_series = series;
    return 0;
}

void aq_history_series_destroy(aq_history_series *series)
{
    if (!series) {
        return;
    }
    aq_free(series->values);
    aq_free(series->samples);
    aq_free(series);
}

static double *row_at(const aq_history_series *series, size_t row)
{
    return series->values + row * series->shape.column_count;
}

static uint32_t *samples_at(const aq_history_series *series, size_t row)
{
    return series->samples + row * series->shape.column_count;
}

/* Which period a time belongs to. */
static double period_of(const aq_history_series *series, double time_s)
{
    return floor(time_s / series->period_s);
}

static double merged(enum aq_history_merge rule, double left, double left_samples, double right,
                     double right_samples)
{
    if (isnan(left) || isnan(right)) {
        return isnan(right) ? left : right;
    }
    switch (rule) {
    case AQ_HISTORY_LAST:
        return right;
    case AQ_HISTORY_MEAN:
        return (left * left_samples + right * right_samples) / (left_samples + right_samples);
    case AQ_HISTORY_LEAST:
        return fmin(left, right);
    case AQ_HISTORY_MOST:
        return fmax(left, right);
    }
    return right;
}

/* `samples` of each value; NULL: one of each number. */
static void merge_into(aq_history_series *series, size_t row, const double *values,
                       const uint32_t *samples)
{
    double *into = row_at(series, row);
    uint32_t *count = samples_at(series, row);
    for (size_t i = 0; i < series->shape.column_count; i++) {
        const uint32_t more = samples != NULL ? samples[i] : !isnan(values[i]);
        into[i] =
            merged(series->shape.columns[i].merge, into[i], (double)count[i], values[i], more);
        count[i] += more <= UINT32_MAX - count[i] ? more : 0;
    }
}

static void move_rows(aq_history_series *series, size_t from, size_t to, size_t rows)
{
    const size_t count = rows * series->shape.column_count;
    memmove(row_at(series, to), row_at(series, from), count * sizeof(double));
    memmove(samples_at(series, to), samples_at(series, from), count * sizeof(uint32_t));
}

/* Merges each row into the one before it where both are of one period. */
static void merge_neighbours(aq_history_series *series)
{
    size_t kept = 0;
    for (size_t i = 1; i < series->rows; i++) {
        if (period_of(series, row_at(series, kept)[0]) == period_of(series, row_at(series, i)[0])) {
            merge_into(series, kept, row_at(series, i), samples_at(series, i));
        } else {
            kept++;
            move_rows(series, i, kept, 1);
        }
    }
    series->rows = kept + 1;
}

static void make_room(aq_history_series *series)
{
    while (series->rows == series->shape.rows_max) {
        series->period_s *= 2;
        merge_neighbours(series);
    }
}

static void go_back_to(aq_history_series *series, double time_s)
{
    while (series->rows > 0 && row_at(series, series->rows - 1)[0] > time_s) {
        series->rows--;
    }
}

static bool is_in_last_row(const aq_history_series *series, double time_s)
{
    return series->rows > 0 &&
           period_of(series, row_at(series, series->rows - 1)[0]) == period_of(series, time_s);
}

void aq_history_series_pass(aq_history_series *series, double time_s)
{
    if (!isfinite(time_s) || time_s < 0) {
        return;
    }
    go_back_to(series, time_s + ONE_MOMENT_S);
    if (!series->shape.slides) {
        return;
    }
    const double oldest = period_of(series, time_s) - (double)series->shape.rows_max + 1;
    size_t gone = 0;
    while (gone < series->rows && period_of(series, row_at(series, gone)[0]) < oldest) {
        gone++;
    }
    if (gone > 0) {
        series->rows -= gone;
        move_rows(series, gone, 0, series->rows);
    }
}

void aq_history_series_add(aq_history_series *series, const double *values)
{
    const double time_s = values[0];
    if (!isfinite(time_s) || time_s < 0) {
        return;
    }
    go_back_to(series, time_s);
    aq_history_series_pass(series, time_s); /* what slides has room then: a row is of a period */
    if (!is_in_last_row(series, time_s) && series->rows == series->shape.rows_max) {
        make_room(series); /* which may make the last row's period this one's, too */
    }
    if (is_in_last_row(series, time_s)) {
        merge_into(series, series->rows - 1, values, NULL);
        return;
    }
    for (size_t i = 0; i < series->shape.column_count; i++) {
        row_at(series, series->rows)[i] = values[i];
        samples_at(series, series->rows)[i] = !isnan(values[i]);
    }
    series->rows++;
}

size_t aq_history_series_rows(const aq_history_series *series)
{
    return series->rows;
}

double aq_history_series_at(const aq_history_series *series, size_t row, size_t column)
{
    AQ_ASSERT(row < series->rows);
    AQ_ASSERT(column < series->shape.column_count);
    return row_at(series, row)[column];
}

double aq_history_series_recent(const aq_history_series *series, size_t column, double seconds)
{
    double sum = 0;
    double count = 0;
    if (series->rows == 0) {
        return NAN;
    }
    const double since_s = row_at(series, series->rows - 1)[0] - seconds;
    for (size_t i = series->rows; i > 0 && row_at(series, i - 1)[0] > since_s; i--) {
        const double value = row_at(series, i - 1)[column];
        if (isfinite(value)) {
            sum += value;
            count++;
        }
    }
    return count > 0 ? sum / count : NAN;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static int print_text(aq_buffer *out, const char *text)
{
    return aq_buffer_append(out, text, strlen(text));
}

/* Counts whole, sums in ten digits, as their differences are shown, and the rest in seven. */
static int print_number(aq_buffer *out, double value, enum aq_history_merge rule)
{
    enum { WHOLE_DIGITS = 16, SUM_DIGITS = 10, DIGITS = 7 };
    char text[32];
    if (!isfinite(value)) {
        return print_text(out, "null");
    }
    const bool whole = value == floor(value) && fabs(value) < WHOLE_MAX;
    const int digits = whole ? WHOLE_DIGITS : rule == AQ_HISTORY_LAST ? SUM_DIGITS : DIGITS;
    (void)snprintf(text, sizeof(text), "%.*g", digits, value);
    return print_text(out, text);
}

static int print_column(const aq_history_series *series, size_t column, aq_buffer *out)
{
    char head[64];
    (void)snprintf(head, sizeof(head), ",\"%s\":[", series->shape.columns[column].name);
    int rc = print_text(out, head);
    for (size_t i = 0; rc == 0 && i < series->rows; i++) {
        rc = i > 0 ? print_text(out, ",") : 0;
        rc = rc != 0 ? rc
                     : print_number(out, row_at(series, i)[column],
                                    series->shape.columns[column].merge);
    }
    return rc != 0 ? rc : print_text(out, "]");
}

int aq_history_series_print(const aq_history_series *series, aq_buffer *out)
{
    int rc = print_text(out, "{\"period_s\":");
    rc = rc != 0 ? rc : print_number(out, series->period_s, AQ_HISTORY_LAST);
    for (size_t i = 0; rc == 0 && i < series->shape.column_count; i++) {
        rc = print_column(series, i, out);
    }
    return rc != 0 ? rc : print_text(out, "}");
}
