/*
 * Limit contenders: see limit_contender.h.
 */
#include "bench/kernels/limit_contender.h"

#include <string.h>

#include "common/base/memory.h"

enum { FILL = 0x55 };

static void run_reading(void *self)
{
    aq_limit_reading *reading = self;
    reading->sum += reading->loops->read(reading->memory, reading->bytes);
}

static void run_multiplying(void *self)
{
    aq_limit_multiplying *multiplying = self;
    multiplying->sum += multiplying->loop(AQ_LIMIT_STEPS);
}

aq_contender aq_limit_reading_contender(aq_limit_reading *reading)
{
    return (aq_contender){.run = run_reading, .self = reading};
}

aq_contender aq_limit_multiplying_contender(aq_limit_multiplying *multiplying)
{
    return (aq_contender){.run = run_multiplying, .self = multiplying};
}

void *aq_limit_memory(size_t bytes)
{
    void *memory = aq_alloc(1, bytes);
    if (memory != NULL) {
        /* Pages of zeros may all be one page. */
        memset(memory, FILL, bytes);
    }
    return memory;
}
