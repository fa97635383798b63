/*
 * Plot band: several runs of one kind as one line, their mean, and a band around it. The mean is
 * of all runs everywhere, so that none leaves it by ending: one that ended early is carried on
 * with its last value, or the line is cut where the first of them ends. Pure functions, any
 * thread.
 */
#ifndef AQ_CLI_PLOT_PLOT_BAND_H
#define AQ_CLI_PLOT_PLOT_BAND_H

#include <stddef.h>

#include "cli/plot/plot_chart.h"
#include "cli/run/run_series.h"
#include "common/base/choice.h"
#include "common/base/error.h"

enum { AQ_BAND_RUNS_MAX = AQ_CURVE_RUNS_MAX, AQ_BAND_CELLS_MAX = 4096 };

/* Of itself a plot takes environment steps, or learner steps where the others stand still. */
#define AQ_PLOT_XS(X)                                                                              \
    X(AQ_PLOT_X_AUTO, "auto")                                                                      \
    X(AQ_PLOT_X_ENV_STEPS, "env_steps")                                                            \
    X(AQ_PLOT_X_LEARNER_STEPS, "learner_steps")                                                    \
    X(AQ_PLOT_X_TIME, "time")
enum aq_plot_x { AQ_PLOT_XS(AQ_CHOICE_CONSTANT) };

/* What the band is of. None but Student's reaches beyond the values of the runs. */
#define AQ_BANDS(X)                                                                                \
    X(AQ_BAND_BOOTSTRAP, "bootstrap") /* 95 % of the means of runs drawn again and again */        \
    X(AQ_BAND_STUDENT, "student")     /* Student's 95 % interval of the mean */                    \
    X(AQ_BAND_STDERR, "stderr")       /* the mean, give or take its standard error */              \
    X(AQ_BAND_MINMAX, "minmax")       /* from the least to the greatest run */                     \
    X(AQ_BAND_NONE, "none")
enum aq_band { AQ_BANDS(AQ_CHOICE_CONSTANT) };

#define AQ_BAND_ENDS(X)                                                                            \
    X(AQ_BAND_CARRY, "carry")                                                                      \
    X(AQ_BAND_CUT, "cut")
enum aq_band_end { AQ_BAND_ENDS(AQ_CHOICE_CONSTANT) };

/* One run's curve; `x` never falls, all is finite. */
typedef struct aq_band_curve {
    double *x, *y;
    size_t count;
} aq_band_curve;

/* A run's, over `x`, which is not AQ_PLOT_X_AUTO. Each value is the mean of the last `window` of
 * them up to it; 0: itself. AQ_E_NOMEM. */
int aq_band_curve_of(const aq_run_series *series, enum aq_plot_x x, size_t window,
                     aq_band_curve *ret_curve) AQ_MUST_USE;
void aq_band_curve_fini(aq_band_curve *curve); /* a zeroed one is fine */

/* Cuts the extent, which begins where all runs have begun, into `cells` (1 to AQ_BAND_CELLS_MAX) of
 * one width. In a cell, a run counts with the mean of its points there, or, where it has none, with
 * the straight line between its neighbours. A run without points does not count. A band needs two
 * runs.
 *
 * Points go into `points`, which has room for `cells`; returns how many, ascending in x. */
size_t aq_plot_band(const aq_band_curve *curves, size_t count, size_t cells, enum aq_band band,
                    enum aq_band_end end, aq_plot_point *points);

/* Of the runs that count, those that end more than a cell before the last of them. */
size_t aq_plot_band_ended(const aq_band_curve *curves, size_t count, size_t cells);

#endif
