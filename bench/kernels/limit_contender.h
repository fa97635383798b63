/*
 * Limit contenders: limit loops that take their turns among what is timed.
 */
#ifndef AQ_BENCH_KERNELS_LIMIT_CONTENDER_H
#define AQ_BENCH_KERNELS_LIMIT_CONTENDER_H

#include <stddef.h>
#include <stdint.h>

#include "bench/kernels/limit_loops.h"
#include "bench/kernels/paired_timing.h"

/* Reads `memory` (lent, aligned) once a call. */
typedef struct aq_limit_reading {
    const aq_limit_loops *loops;
    const void *memory;
    size_t bytes; /* a multiple of AQ_LIMIT_READ_STEP */
    uint64_t sum; /* keeps the loop from being left out */
} aq_limit_reading;

/* AQ_LIMIT_STEPS steps of one loop a call. */
enum { AQ_LIMIT_STEPS = 512 };
typedef struct aq_limit_multiplying {
    uint64_t (*loop)(uint32_t steps);
    uint64_t sum;
} aq_limit_multiplying;

/* Both stay the caller's. */
aq_contender aq_limit_reading_contender(aq_limit_reading *reading);
aq_contender aq_limit_multiplying_contender(aq_limit_multiplying *multiplying);

/* Memory that is really there: each page was written to. NULL when out of memory;
 * release with aq_free. */
void *aq_limit_memory(size_t bytes);

#endif
