/*
 * Limit loops of AVX-512 with VNNI: twelve chains, more than latency times throughput asks for.
 */
#include <immintrin.h>

#define LIMIT_VECTOR_BYTES 64
#include "bench/kernels/limit_read.h"
#include "bench/kernels/limit_tables.h"

enum { CHAINS = 12, BYTE_PRODUCTS = 64, FLOATS = 16 };

static uint64_t dot_products(uint32_t steps)
{
    __m512i sums[CHAINS];
    __m512i q = _mm512_set1_epi8(3);
    const __m512i weights = _mm512_set1_epi8(-5);
    for (int i = 0; i < CHAINS; i++) {
        sums[i] = _mm512_set1_epi32(i);
    }
    for (uint32_t step = 0; step < steps; step++) {
        /* Nothing here is the same twice, for all that the compiler knows. */
        __asm__ volatile("" : "+v"(q));
        for (int i = 0; i < CHAINS; i++) {
            sums[i] = _mm512_dpbusd_epi32(sums[i], q, weights);
        }
    }
    for (int i = 1; i < CHAINS; i++) {
        sums[0] = _mm512_add_epi32(sums[0], sums[i]);
    }
    return (uint32_t)_mm512_reduce_add_epi32(sums[0]);
}

static uint64_t fused_products(uint32_t steps)
{
    __m512 sums[CHAINS];
    __m512 x = _mm512_set1_ps(0.5f);
    const __m512 weights = _mm512_set1_ps(1.5f);
    for (int i = 0; i < CHAINS; i++) {
        sums[i] = _mm512_set1_ps((float)i);
    }
    for (uint32_t step = 0; step < steps; step++) {
        __asm__ volatile("" : "+v"(x));
        for (int i = 0; i < CHAINS; i++) {
            sums[i] = _mm512_fmadd_ps(x, weights, sums[i]);
        }
    }
    for (int i = 1; i < CHAINS; i++) {
        sums[0] = _mm512_add_ps(sums[0], sums[i]);
    }
    return (uint64_t)_mm512_reduce_add_ps(sums[0]);
}

const aq_limit_loops aq_limit_loops_avx512vnni = {
    .rung = "avx512vnni",
    .readers = LIMIT_READERS,
    .dot = dot_products,
    .fma = fused_products,
    .dot_operations = 2 * CHAINS * BYTE_PRODUCTS,
    .fma_operations = 2 * CHAINS * FLOATS,
};
