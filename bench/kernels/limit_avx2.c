/*
 * Limit loops of AVX2, with and without its VNNI: the file is built once for each, and what differs
 * is the product of bytes.
 *
 * Without VNNI no kernel can do more than vpmaddubsw and an addition in 16 bits for each vector of
 * bytes. Exact sums of wide bytes need more than that, which is a kernel's loss against the limit.
 */
#include <immintrin.h>

#define LIMIT_VECTOR_BYTES 32
#include "bench/kernels/limit_read.h"
#include "bench/kernels/limit_tables.h"

enum { CHAINS = 10, BYTE_PRODUCTS = 32, FLOATS = 8, FMA_CHAINS = 12 };

/* The instructions themselves: compilers see that all chains multiply the same, and do it once. */
static inline __m256i add_products(__m256i sum, __m256i q, __m256i weights)
{
#ifdef __AVXVNNI__
    __asm__ volatile("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(q), "x"(weights));
#else
    __m256i products;
    __asm__ volatile("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0"
                     : "+x"(sum), "=&x"(products)
                     : "x"(q), "x"(weights));
#endif
    return sum;
}

/* One variable a chain: an array would be kept in memory as well, and its stores be the limit. */
static uint64_t dot_products(uint32_t steps)
{
    const __m256i weights = _mm256_set1_epi8(-5);
    const __m256i q = _mm256_set1_epi8(3);
    __m256i s0 = q, s1 = q, s2 = q, s3 = q, s4 = q, s5 = q, s6 = q, s7 = q, s8 = q, s9 = q;
    for (uint32_t step = 0; step < steps; step++) {
        s0 = add_products(s0, q, weights);
        s1 = add_products(s1, q, weights);
        s2 = add_products(s2, q, weights);
        s3 = add_products(s3, q, weights);
        s4 = add_products(s4, q, weights);
        s5 = add_products(s5, q, weights);
        s6 = add_products(s6, q, weights);
        s7 = add_products(s7, q, weights);
        s8 = add_products(s8, q, weights);
        s9 = add_products(s9, q, weights);
    }
    s0 = _mm256_add_epi16(_mm256_add_epi16(s0, s1), _mm256_add_epi16(s2, s3));
    s4 = _mm256_add_epi16(_mm256_add_epi16(s4, s5), _mm256_add_epi16(s6, s7));
    s0 = _mm256_add_epi16(_mm256_add_epi16(s0, s4), _mm256_add_epi16(s8, s9));
    return (uint32_t)_mm256_extract_epi32(s0, 0);
}

static uint64_t fused_products(uint32_t steps)
{
    __m256 sums[FMA_CHAINS];
    __m256 x = _mm256_set1_ps(0.5f);
    const __m256 weights = _mm256_set1_ps(1.5f);
    for (int i = 0; i < FMA_CHAINS; i++) {
        sums[i] = _mm256_set1_ps((float)i);
    }
    for (uint32_t step = 0; step < steps; step++) {
        __asm__ volatile("" : "+x"(x));
        for (int i = 0; i < FMA_CHAINS; i++) {
            sums[i] = _mm256_fmadd_ps(x, weights, sums[i]);
        }
    }
    for (int i = 1; i < FMA_CHAINS; i++) {
        sums[0] = _mm256_add_ps(sums[0], sums[i]);
    }
    return (uint64_t)_mm256_cvtss_f32(sums[0]);
}

#ifdef __AVXVNNI__
const aq_limit_loops aq_limit_loops_avxvnni = {
    .rung = "avxvnni",
#else
const aq_limit_loops aq_limit_loops_avx2 = {
    .rung = "avx2",
#endif
    .readers = LIMIT_READERS,
    .dot = dot_products,
    .fma = fused_products,
    .dot_operations = 2 * CHAINS * BYTE_PRODUCTS,
    .fma_operations = 2 * FMA_CHAINS * FLOATS,
};
