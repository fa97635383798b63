/*
 * Plot band: several runs of one kind as one line, the mean, with its 95 % interval. Pure
 * functions, any thread.
 */
#ifndef AQ_CLI_PLOT_PLOT_BAND_H
#define AQ_CLI_PLOT_PLOT_BAND_H

#include <stddef.h>

#include "cli/plot/plot_chart.h"

enum { AQ_BAND_RUNS_MAX = 64, AQ_BAND_CELLS_MAX = 4096 };

/* One run's curve; `x` never falls, all is finite. Lent. */
typedef struct aq_band_curve {
    const double *x, *y;
    size_t count;
} aq_band_curve;

/* Cuts the curves' whole extent into `cells` (1 to AQ_BAND_CELLS_MAX) of one width. In a cell, a
 * run counts with the mean of its points there, or, where it has none, with the straight line
 * between its neighbours; before its first and after its last point it does not count. A cell in
 * which less than half of the runs count is left out, as the line would leap whenever one ends. The
 * interval is Student's, and only where at least two runs count.
 *
 * Points go into `points`, which has room for `cells`; returns how many, ascending in x. */
size_t aq_plot_band(const aq_band_curve *curves, size_t count, size_t cells, aq_plot_point *points);

#endif
