/*
 * Paired timing: how long calls of several contenders take, measured in turns, so that whatever
 * else the machine does meets all of them. A figure is the median over the rounds, and a ratio is
 * the median of the ratios within each round, which a slow spell of the machine leaves as it is.
 *
 * In each round every contender has one slice: a few calls that are not timed, because the others
 * have filled the caches with what is theirs, then as many as fill the slice, and some at least.
 * Who is first in a round changes from one to the next. The time is this process's processor time,
 * so that waiting for a processor that others use does not count. One thread.
 */
#ifndef AQ_BENCH_KERNELS_PAIRED_TIMING_H
#define AQ_BENCH_KERNELS_PAIRED_TIMING_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { AQ_CONTENDERS_MAX = 64, AQ_TIMING_ROUNDS_MAX = 1001 };

typedef struct aq_contender {
    void (*run)(void *self); /* one call */
    void *self;
} aq_contender;

typedef struct aq_timing_plan {
    uint32_t rounds; /* 1 to AQ_TIMING_ROUNDS_MAX */
    int64_t slice_ns;
} aq_timing_plan;

typedef struct aq_paired_times {
    size_t count;
    uint32_t rounds;
    double *us; /* (count, rounds): of one call */
} aq_paired_times;

/* Measures up to AQ_CONTENDERS_MAX contenders. AQ_E_NOMEM. */
int aq_paired_times_measure(const aq_contender *contenders, size_t count,
                            const aq_timing_plan *plan, aq_paired_times *ret_times) AQ_MUST_USE;
void aq_paired_times_fini(aq_paired_times *times); /* a zeroed one is fine */

/* The median time of one call. */
double aq_paired_times_us(const aq_paired_times *times, size_t index);

/* The median of time[index] / time[base]: above 1, `base` is the faster. */
double aq_paired_times_ratio(const aq_paired_times *times, size_t index, size_t base);

#endif
