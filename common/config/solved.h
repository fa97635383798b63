/*
 * Solved: when a task is. A mean over some episodes is an estimate. A run tries hundreds of
 * versions, so the first mean above the threshold would often lie there by luck: it must lie
 * AQ_SOLVED_ERRORS standard errors above. Whoever says "solved" goes by this.
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_CONFIG_SOLVED_H
#define AQ_COMMON_CONFIG_SOLVED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define AQ_SOLVED_ERRORS 3.0

/* Of `episodes` returns; never of one, which has no deviation, nor for a threshold of NaN. */
static inline bool aq_is_solved(double mean, double std, uint32_t episodes, double threshold)
{
    return episodes > 1 && mean - AQ_SOLVED_ERRORS * std / sqrt((double)episodes) >= threshold;
}

#endif
