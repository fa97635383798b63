/*
 * Run series: quantities of a run over its course, as metrics.jsonl tells them. A run that was
 * resumed has gone back to its checkpoint; what it had done after that is forgotten here, too.
 */
#ifndef AQ_CLI_RUN_RUN_SERIES_H
#define AQ_CLI_RUN_RUN_SERIES_H

#include <stddef.h>

#include "common/base/error.h"

enum {
    AQ_SERIES_POINTS_MAX = 1 << 22,
    /* What a picture has room for: curves, and runs that one of them is of. */
    AQ_CURVES_MAX = 16,
    AQ_CURVE_RUNS_MAX = 64,
};

/* Of one line. */
typedef struct aq_series_point {
    double wall_s;
    double env_steps;
    double
        learner_steps; /* by time between those of the lines around it, where its own says none */
    double value;
} aq_series_point;

typedef struct aq_run_series {
    aq_series_point *points; /* neither time nor steps ever fall */
    size_t count;
    size_t capacity;
    size_t fell_back; /* evaluations of versions that fell back to fp32, which are no points */
} aq_run_series;

/* A series for each of the quantities, of one look at the run. A quantity is "return", the mean of
 * evaluations, or the name of a number in the lines, within objects as "replay/stored". Of
 * evaluations, those that confirm a version are no points: it was screened already, and would count
 * twice for having done well. Lines that don't have it, or not as a number, are passed over, as are
 * broken ones. Of a file without any it is empty. As opening and reading the file fail; AQ_E_NOMEM,
 * AQ_E_FULL beyond AQ_SERIES_POINTS_MAX. */
int aq_run_series_read(const char *folder, const char *const *quantities, size_t count,
                       aq_run_series *ret_series, aq_error *error) AQ_MUST_USE;
void aq_run_series_fini(aq_run_series *series); /* a zeroed one is fine */

#endif
