/*
 * Speed limits: see speed_limits.h.
 */
#include "bench/kernels/speed_limits.h"

#include "bench/kernels/limit_contender.h"
#include "common/base/memory.h"

enum { BYTES_MIN = 4096, BYTES_FACTOR = 4 };
#define NS_PER_US 1e3

int aq_speed_limits_measure(const char *rung, size_t bytes_max, const aq_timing_plan *timing,
                            aq_speed_limits *ret_limits)
{
    const aq_limit_loops *loops = aq_limit_loops_of(rung);
    aq_limit_reading readings[AQ_SPEED_SIZES_MAX];
    aq_limit_multiplying dot = {.loop = loops->dot};
    aq_limit_multiplying fma = {.loop = loops->fma};
    aq_contender contenders[AQ_SPEED_SIZES_MAX + 2];
    aq_speed_limits limits = {.rung = rung};
    aq_paired_times times = {0};

    void *memory = aq_limit_memory(bytes_max);
    if (memory == NULL) {
        return AQ_E_NOMEM;
    }
    for (size_t bytes = BYTES_MIN; bytes <= bytes_max && limits.size_count < AQ_SPEED_SIZES_MAX;
         bytes *= BYTES_FACTOR) {
        const size_t i = limits.size_count++;
        limits.bytes[i] = bytes;
        readings[i] = (aq_limit_reading){.loops = loops, .memory = memory, .bytes = bytes};
        contenders[i] = aq_limit_reading_contender(&readings[i]);
    }
    contenders[limits.size_count] = aq_limit_multiplying_contender(&dot);
    contenders[limits.size_count + 1] = aq_limit_multiplying_contender(&fma);
    int rc = aq_paired_times_measure(contenders, limits.size_count + 2, timing, &times);
    aq_free(memory);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; i < limits.size_count; i++) {
        limits.gb_per_s[i] = (double)limits.bytes[i] / (aq_paired_times_us(&times, i) * NS_PER_US);
    }
    limits.dot_gop_per_s = (double)AQ_LIMIT_STEPS * loops->dot_operations /
                           (aq_paired_times_us(&times, limits.size_count) * NS_PER_US);
    limits.fma_gop_per_s = (double)AQ_LIMIT_STEPS * loops->fma_operations /
                           (aq_paired_times_us(&times, limits.size_count + 1) * NS_PER_US);
    aq_paired_times_fini(&times);
    *ret_limits = limits;
    return 0;
}
