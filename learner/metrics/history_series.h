/*
 * History series: numbers over time in memory that never grows. A row stands for a stretch of time,
 * its period: samples within it become one row, each column by its own rule.
 *
 * A series that slides holds its last `rows_max` periods, however few of them have a row. Any other
 * doubles its period when it is full and merges the rows that then fall into one, so that it always
 * holds the whole time, from half of its rows on. Loop thread only.
 */
#ifndef AQ_LEARNER_METRICS_HISTORY_SERIES_H
#define AQ_LEARNER_METRICS_HISTORY_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

enum { AQ_HISTORY_COLUMNS_MAX = 56 };

/* What a row keeps of several samples. NaN is "no such measurement" and yields to any number. */
enum aq_history_merge { AQ_HISTORY_LAST, AQ_HISTORY_MEAN, AQ_HISTORY_LEAST, AQ_HISTORY_MOST };

/* The texts are constants. The first column is the time, in seconds; AQ_HISTORY_LAST keeps it. */
typedef struct aq_history_column {
    const char *name; /* as it is printed; letters, digits and '_' */
    const char *path; /* where a line of metrics has it, see metric_names.h */
    enum aq_history_merge merge;
} aq_history_column;

typedef struct aq_history_series aq_history_series;

typedef struct aq_history_shape {
    const aq_history_column *columns; /* outlive the series */
    size_t column_count;              /* at most AQ_HISTORY_COLUMNS_MAX */
    size_t rows_max;                  /* at least 2 */
    double period_s;                  /* > 0 */
    bool slides;
} aq_history_shape;

int aq_history_series_create(const aq_history_shape *shape,
                             aq_history_series **ret_series) AQ_MUST_USE;
void aq_history_series_destroy(aq_history_series *series); /* NULL is fine */

/* `values` has one for each column. A time that lies before the newest row's takes the series back
 * there: a run that was resumed goes on at its checkpoint. One that is not finite or below 0 is
 * passed over. */
void aq_history_series_add(aq_history_series *series, const double *values);

/* It is `time_s` now, although there is no row for it: one that slides forgets what is too old, and
 * any what lies more than a moment ahead, for a run that was resumed has lost that. */
void aq_history_series_pass(aq_history_series *series, double time_s);

size_t aq_history_series_rows(const aq_history_series *series);
double aq_history_series_at(const aq_history_series *series, size_t row, size_t column);

/* The mean of a column over the rows of the last `seconds`; NaN: none has it. */
double aq_history_series_recent(const aq_history_series *series, size_t column, double seconds);

/* {"period_s":1,"wall_s":[...],...}, with null for NaN. Fails as aq_buffer_append does. */
int aq_history_series_print(const aq_history_series *series, aq_buffer *out) AQ_MUST_USE;

#endif
