/*
 * Limit loops in plain C, for the scalar rung and wherever there is no better, and the list of all.
 */
#include "bench/kernels/limit_loops.h"

#include <string.h>

#define LIMIT_VECTOR_BYTES 16
#include "bench/kernels/limit_read.h"
#include "bench/kernels/limit_tables.h"

/* Values that a loop works on: several vectors of whatever the compiler takes for plain C. */
enum { PRODUCTS = 256, LANES = 32 };

static uint64_t dot_plain(uint32_t steps)
{
    int16_t q[PRODUCTS];
    int16_t weights[PRODUCTS];
    uint64_t all = 0;
    for (int i = 0; i < PRODUCTS; i++) {
        q[i] = (int16_t)i;
        weights[i] = (int16_t)(i % 15 - 7);
    }
    for (uint32_t step = 0; step < steps; step++) {
        int32_t sum = 0;
        q[step % PRODUCTS] = (int16_t)(step & 255); /* else all steps are one */
        for (int i = 0; i < PRODUCTS; i++) {
            sum += q[i] * weights[i];
        }
        all += (uint32_t)sum;
    }
    return all;
}

static uint64_t fma_plain(uint32_t steps)
{
    float sums[LANES] = {0};
    float factors[LANES];
    float all = 0.0f;
    for (int i = 0; i < LANES; i++) {
        factors[i] = 1.0f / (float)(i + 2);
    }
    for (uint32_t step = 0; step < steps; step++) {
        const float x = (float)(step & 3);
        for (int i = 0; i < LANES; i++) {
            sums[i] += x * factors[i];
        }
    }
    for (int i = 0; i < LANES; i++) {
        all += sums[i];
    }
    return (uint64_t)all;
}

static const aq_limit_loops plain = {
    .rung = "scalar",
    .readers = LIMIT_READERS,
    .dot = dot_plain,
    .fma = fma_plain,
    .dot_operations = 2 * PRODUCTS,
    .fma_operations = 2 * LANES,
};

static const aq_limit_loops *const all_loops[] = {
    &plain,
#if AQ_BENCH_HAS_AVX2
    &aq_limit_loops_avx2,
#endif
#if AQ_BENCH_HAS_AVXVNNI
    &aq_limit_loops_avxvnni,
#endif
#if AQ_BENCH_HAS_AVX512VNNI
    &aq_limit_loops_avx512vnni,
#endif
#if AQ_BENCH_HAS_AMX
    &aq_limit_loops_amx,
#endif
#if AQ_BENCH_HAS_NEON
    &aq_limit_loops_neon,
#endif
#if AQ_BENCH_HAS_NEONDOT
    &aq_limit_loops_neondot,
#endif
};

const aq_limit_loops *aq_limit_loops_of(const char *rung)
{
    for (size_t i = 0; i < sizeof(all_loops) / sizeof(all_loops[0]); i++) {
        if (strcmp(all_loops[i]->rung, rung) == 0) {
            return all_loops[i];
        }
    }
    return &plain;
}
