/*
 * Learner timing: how long a step takes, and its products alone. A step's time is the median of
 * some slices; a product's is that of its best slice, in a loop of its own, where its operands are
 * in the nearest caches: the peak that a step is compared with.
 *
 * On one thread it is processor time, so that waiting for a processor that others use does not
 * count; on more it is wall time, since waiting for each other does.
 */
#ifndef AQ_BENCH_LEARNER_LEARNER_TIMING_H
#define AQ_BENCH_LEARNER_LEARNER_TIMING_H

#include "bench/learner/learner_case.h"

enum { AQ_SLICES_MAX = 101 };

typedef struct aq_learner_timing {
    uint32_t slices; /* 1 to AQ_SLICES_MAX */
    int64_t slice_ns;
} aq_learner_timing;

typedef struct aq_learner_time {
    double step_us;
    double products_us; /* on one thread */
} aq_learner_time;

/* AQ_E_CORRUPT when a step fails. */
int aq_learner_timing_measure(const aq_learner_timing *timing, aq_learner_case *of,
                              aq_learner_time *ret_time) AQ_MUST_USE;

#endif
