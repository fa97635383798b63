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
    const aq_limit_reader *reader;
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

/* AQ_LIMIT_READERS readings of the same bytes, one by each reader, and as many contenders; and how
 * long the fastest took of those from the first-th on. The readings stay the caller's. */
void aq_limit_readings_init(const aq_limit_loops *loops, const void *memory, size_t bytes,
                            aq_limit_reading *ret_readings);
void aq_limit_reading_contenders(aq_limit_reading *readings, aq_contender *ret_contenders);
double aq_limit_reading_us(const aq_paired_times *times, size_t first);

/* Stays the caller's. */
aq_contender aq_limit_multiplying_contender(aq_limit_multiplying *multiplying);

/* Memory that is really there, in large pages as weights are: each was written to. NULL when out of
 * memory; release with aq_free. */
void *aq_limit_memory(size_t bytes);

#endif
