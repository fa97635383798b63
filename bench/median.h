/*
 * What a benchmark says of figures that it took in turns. They are sorted by it.
 */
#ifndef AQ_BENCH_MEDIAN_H
#define AQ_BENCH_MEDIAN_H

#include <stdlib.h>

static inline int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* So that others than the middle one can be told, too. */
static inline void aq_sort_figures(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), ascending);
}

/* The mean of the two in the middle where they are even in number. */
static inline double aq_median(double *values, size_t count)
{
    aq_sort_figures(values, count);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

#endif
