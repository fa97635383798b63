/*
 * Limit loops of NEON, with and without its dot product: the file is built once for each, and what
 * differs is the product of bytes.
 *
 * Without the dot product no kernel can do more than a widening multiplication and an addition of
 * pairs for each half of a vector of bytes.
 */
#include <arm_neon.h>

#define LIMIT_VECTOR_BYTES 16
#include "bench/kernels/limit_read.h"
#include "bench/kernels/limit_tables.h"

enum { CHAINS = 12, BYTE_PRODUCTS = 16, FLOATS = 4 };

#ifdef __ARM_FEATURE_DOTPROD
static uint32x4_t add_products(uint32x4_t sum, uint8x16_t q, uint8x16_t weights)
{
    return vdotq_u32(sum, q, weights);
}
#else
static uint32x4_t add_products(uint32x4_t sum, uint8x16_t q, uint8x16_t weights)
{
    sum = vpadalq_u16(sum, vmull_u8(vget_low_u8(q), vget_low_u8(weights)));
    return vpadalq_u16(sum, vmull_u8(vget_high_u8(q), vget_high_u8(weights)));
}
#endif

static uint64_t dot_products(uint32_t steps)
{
    uint32x4_t sums[CHAINS];
    uint8x16_t q = vdupq_n_u8(3);
    const uint8x16_t weights = vdupq_n_u8(5);
    for (int i = 0; i < CHAINS; i++) {
        sums[i] = vdupq_n_u32((uint32_t)i);
    }
    for (uint32_t step = 0; step < steps; step++) {
        for (int i = 0; i < CHAINS; i++) {
            /* Nothing here is the same twice, for all that the compiler knows. */
            __asm__ volatile("" : "+w"(q));
            sums[i] = add_products(sums[i], q, weights);
        }
    }
    for (int i = 1; i < CHAINS; i++) {
        sums[0] = vaddq_u32(sums[0], sums[i]);
    }
    return vaddvq_u32(sums[0]);
}

static uint64_t fused_products(uint32_t steps)
{
    float32x4_t sums[CHAINS];
    float32x4_t x = vdupq_n_f32(0.5f);
    const float32x4_t weights = vdupq_n_f32(1.5f);
    for (int i = 0; i < CHAINS; i++) {
        sums[i] = vdupq_n_f32((float)i);
    }
    for (uint32_t step = 0; step < steps; step++) {
        for (int i = 0; i < CHAINS; i++) {
            __asm__ volatile("" : "+w"(x));
            sums[i] = vfmaq_f32(sums[i], x, weights);
        }
    }
    for (int i = 1; i < CHAINS; i++) {
        sums[0] = vaddq_f32(sums[0], sums[i]);
    }
    return (uint64_t)vaddvq_f32(sums[0]);
}

#ifdef __ARM_FEATURE_DOTPROD
const aq_limit_loops aq_limit_loops_neondot = {
    .rung = "neondot",
#else
const aq_limit_loops aq_limit_loops_neon = {
    .rung = "neon",
#endif
    .readers = LIMIT_READERS,
    .dot = dot_products,
    .fma = fused_products,
    .dot_operations = 2 * CHAINS * BYTE_PRODUCTS,
    .fma_operations = 2 * CHAINS * FLOATS,
};
