/*
 * Speed limits: see speed_limits.h.
 */
#include "bench/kernels/speed_limits.h"

#include "bench/kernels/limit_contender.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

enum { BYTES_MIN = 4096, BYTES_FACTOR = 4 };

int aq_speed_limits_measure(const char *rung, size_t bytes_max, const aq_timing_plan *timing,
                            aq_speed_limits *ret_limits)
{
    const aq_limit_loops *loops = aq_limit_loops_of(rung);
    aq_limit_reading readings[AQ_SPEED_SIZES_MAX][AQ_LIMIT_READERS];
    aq_limit_multiplying dot = {.loop = loops->dot};
    aq_limit_multiplying fma = {.loop = loops->fma};
    aq_contender contenders[AQ_SPEED_SIZES_MAX * AQ_LIMIT_READERS + 2];
    aq_speed_limits limits = {.loops = loops};
    aq_paired_times times = {0};

    void *memory = aq_limit_memory(bytes_max);
    if (memory == NULL) {
        return AQ_E_NOMEM;
    }
    for (size_t bytes = BYTES_MIN; bytes <= bytes_max && limits.size_count < AQ_SPEED_SIZES_MAX;
         bytes *= BYTES_FACTOR) {
        const size_t i = limits.size_count++;
        limits.bytes[i] = bytes;
        aq_limit_readings_init(loops, memory, bytes, readings[i]);
        aq_limit_reading_contenders(readings[i], contenders + i * AQ_LIMIT_READERS);
    }
    const size_t readings_count = limits.size_count * AQ_LIMIT_READERS;
    contenders[readings_count] = aq_limit_multiplying_contender(&dot);
    contenders[readings_count + 1] = aq_limit_multiplying_contender(&fma);
    int rc = aq_paired_times_measure(contenders, readings_count + 2, timing, &times);
    aq_free(memory);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; i < readings_count; i++) {
        const size_t size = i / AQ_LIMIT_READERS;
        limits.gb_per_s[size][i % AQ_LIMIT_READERS] =
            (double)limits.bytes[size] / (aq_paired_times_us(&times, i) * (double)AQ_NS_PER_US);
    }
    limits.dot_gop_per_s = (double)AQ_LIMIT_STEPS * loops->dot_operations /
                           (aq_paired_times_us(&times, readings_count) * (double)AQ_NS_PER_US);
    limits.fma_gop_per_s = (double)AQ_LIMIT_STEPS * loops->fma_operations /
                           (aq_paired_times_us(&times, readings_count + 1) * (double)AQ_NS_PER_US);
    aq_paired_times_fini(&times);
    *ret_limits = limits;
    return 0;
}
