/*
 * Speed limits: what a rung's instructions reach on this processor, by themselves: how fast a
 * working set of each size is read, and how many operations a second there are.
 */
#ifndef AQ_BENCH_KERNELS_SPEED_LIMITS_H
#define AQ_BENCH_KERNELS_SPEED_LIMITS_H

#include <stddef.h>

#include "bench/kernels/limit_loops.h"
#include "bench/kernels/paired_timing.h"

enum { AQ_SPEED_SIZES_MAX = 8 };

typedef struct aq_speed_limits {
    const aq_limit_loops *loops;
    size_t size_count;
    size_t bytes[AQ_SPEED_SIZES_MAX];
    double gb_per_s[AQ_SPEED_SIZES_MAX][AQ_LIMIT_READERS]; /* 10^9 bytes */
    double dot_gop_per_s; /* exact sums of byte products; 10^9 operations */
    double fma_gop_per_s;
} aq_speed_limits;

/* Working sets from 4 KiB up to `bytes_max`, each four times the last. AQ_E_NOMEM. */
int aq_speed_limits_measure(const char *rung, size_t bytes_max, const aq_timing_plan *timing,
                            aq_speed_limits *ret_limits) AQ_MUST_USE;

#endif
