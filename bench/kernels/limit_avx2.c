/*
 * Limit loops of AVX2, with and without its VNNI: the file is built once for each, and what differs
 * is the product of bytes.
 *
 * Without VNNI no kernel can do more than vpmaddubsw and an addition in 16 bits for each vector of
 * bytes. Exact sums of wide bytes need more than that, which is a kernel's loss against the limit.
 */
#include <immintrin.h>
#include <stdbool.h>

#include "bench/kernels/limit_tables.h"

enum { CHAINS = 12, BYTE_PRODUCTS = 32, FLOATS = 8, VECTORS = 8 };

/* From this size on, memory is asked for ahead of its use: so much more than the second cache. */
enum { FAR_BYTES = 1 << 20, AHEAD_BYTES = 2048, LINE_BYTES = 64 };

#ifdef __AVXVNNI__
static __m256i add_products(__m256i sum, __m256i q, __m256i weights)
{
    return _mm256_dpbusd_avx_epi32(sum, q, weights);
}
#else
static __m256i add_products(__m256i sum, __m256i q, __m256i weights)
{
    return _mm256_add_epi16(sum, _mm256_maddubs_epi16(q, weights));
}
#endif

static inline uint64_t read_all(const void *bytes, size_t size, const bool far)
{
    const unsigned char *at = bytes;
    const unsigned char *const end = at + size;
    __m256i sums[VECTORS];
    for (int i = 0; i < VECTORS; i++) {
        sums[i] = _mm256_setzero_si256();
    }
    for (; at < end; at += VECTORS * sizeof(__m256i)) {
        for (int i = 0; i < VECTORS; i++) {
            if (far && i % 2 == 0) {
                /* As a number: past the end there is no pointer. */
                __builtin_prefetch(
                    (const void *)((uintptr_t)at + AHEAD_BYTES + LINE_BYTES / 2 * i));
            }
            const void *from = at + i * sizeof(__m256i);
            sums[i] = _mm256_xor_si256(sums[i], _mm256_load_si256(from));
        }
    }
    for (int i = 1; i < VECTORS; i++) {
        sums[0] = _mm256_xor_si256(sums[0], sums[i]);
    }
    return (uint64_t)_mm256_extract_epi64(sums[0], 0) | (uint64_t)_mm256_extract_epi64(sums[0], 1) |
           (uint64_t)_mm256_extract_epi64(sums[0], 2) | (uint64_t)_mm256_extract_epi64(sums[0], 3);
}

static uint64_t read_vectors(const void *bytes, size_t size)
{
    return size > FAR_BYTES ? read_all(bytes, size, true) : read_all(bytes, size, false);
}

static uint64_t dot_products(uint32_t steps)
{
    __m256i sums[CHAINS];
    __m256i q = _mm256_set1_epi8(3);
    const __m256i weights = _mm256_set1_epi8(-5);
    for (int i = 0; i < CHAINS; i++) {
        sums[i] = _mm256_set1_epi32(i);
    }
    for (uint32_t step = 0; step < steps; step++) {
        for (int i = 0; i < CHAINS; i++) {
            /* Nothing here is the same twice, for all that the compiler knows. */
            __asm__ volatile("" : "+x"(q));
            sums[i] = add_products(sums[i], q, weights);
        }
    }
    for (int i = 1; i < CHAINS; i++) {
        sums[0] = _mm256_add_epi32(sums[0], sums[i]);
    }
    return (uint32_t)_mm256_extract_epi32(sums[0], 0);
}

static uint64_t fused_products(uint32_t steps)
{
    __m256 sums[CHAINS];
    __m256 x = _mm256_set1_ps(0.5f);
    const __m256 weights = _mm256_set1_ps(1.5f);
    for (int i = 0; i < CHAINS; i++) {
        sums[i] = _mm256_set1_ps((float)i);
    }
    for (uint32_t step = 0; step < steps; step++) {
        __asm__ volatile("" : "+x"(x));
        for (int i = 0; i < CHAINS; i++) {
            sums[i] = _mm256_fmadd_ps(x, weights, sums[i]);
        }
    }
    for (int i = 1; i < CHAINS; i++) {
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
    .read = read_vectors,
    .dot = dot_products,
    .fma = fused_products,
    .dot_operations = 2 * CHAINS * BYTE_PRODUCTS,
    .fma_operations = 2 * CHAINS * FLOATS,
};
