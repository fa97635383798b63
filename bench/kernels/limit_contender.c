/*
 * Limit contenders: see limit_contender.h.
 */
#include "bench/kernels/limit_contender.h"

#include <math.h>
#include <string.h>

#include "common/base/memory.h"

enum { FILL = 0x55 };

static void run_reading(void *self)
{
    aq_limit_reading *reading = self;
    reading->sum += reading->reader->read(reading->memory, reading->bytes);
}

static void run_multiplying(void *self)
{
    aq_limit_multiplying *multiplying = self;
    multiplying->sum += multiplying->loop(AQ_LIMIT_STEPS);
}

void aq_limit_readings_init(const aq_limit_loops *loops, const void *memory, size_t bytes,
                            aq_limit_reading *ret_readings)
{
    for (size_t i = 0; i < AQ_LIMIT_READERS; i++) {
        ret_readings[i] =
            (aq_limit_reading){.reader = &loops->readers[i], .memory = memory, .bytes = bytes};
    }
}

void aq_limit_reading_contenders(aq_limit_reading *readings, aq_contender *ret_contenders)
{
    for (size_t i = 0; i < AQ_LIMIT_READERS; i++) {
        ret_contenders[i] = (aq_contender){.run = run_reading, .self = &readings[i]};
    }
}

double aq_limit_reading_us(const aq_paired_times *times, size_t first)
{
    double least = aq_paired_times_us(times, first);
    for (size_t i = 1; i < AQ_LIMIT_READERS; i++) {
        least = fmin(least, aq_paired_times_us(times, first + i));
    }
    return least;
}

aq_contender aq_limit_multiplying_contender(aq_limit_multiplying *multiplying)
{
    return (aq_contender){.run = run_multiplying, .self = multiplying};
}

void *aq_limit_memory(size_t bytes)
{
    void *memory = aq_alloc_unset(1, bytes);
    if (memory != NULL) {
        /* Pages of zeros may all be one page. */
        memset(memory, FILL, bytes);
    }
    return memory;
}
