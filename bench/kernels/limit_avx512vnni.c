/*
 * Limit loops of AVX-512 with VNNI: twelve chains, more than latency times throughput asks for. And
 * those of AMX, which has products of bytes of its own.
 */
#include <immintrin.h>

#define LIMIT_VECTOR_BYTES 64
#include "bench/kernels/limit_read.h"
#include "bench/kernels/limit_tables.h"
#include "common/sys/tiles.h"

enum { CHAINS = 12, FLOATS = 16 };

#ifdef __AMX_INT8__
#define RUNG   "amx"
#define LIMITS aq_limit_loops_amx

enum { TILE_BYTES = AQ_TILE_ROWS * AQ_TILE_LINE };
enum { DOT_OPERATIONS = 2 * 3 * AQ_TILE_ROWS * TILE_BYTES };

/* Three tiles of sums, of bytes that differ. */
static uint64_t dot_products(uint32_t steps)
{
    const aq_tile_shapes shapes = aq_tile_shapes_of(AQ_TILE_ROWS, AQ_TILE_ROWS, 3, 4);
    unsigned char bytes[2 * TILE_BYTES];
    int32_t sums[TILE_BYTES / sizeof(int32_t)];
    uint64_t all = 0;
    for (uint32_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)(i * UINT32_C(2654435761) >> 13);
    }
    aq_tile_shapes_written(&shapes);
    _tile_loadconfig(&shapes);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_loadd(3, bytes, AQ_TILE_LINE);
    _tile_loadd(4, bytes + TILE_BYTES, AQ_TILE_LINE);
    for (uint32_t step = 0; step < steps; step++) {
        _tile_dpbusd(0, 3, 4);
        _tile_dpbusd(1, 3, 4);
        _tile_dpbusd(2, 3, 4);
    }
    _tile_stored(0, sums, AQ_TILE_LINE);
    _tile_release();
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        all += (uint32_t)sums[i];
    }
    return all;
}
#else
#define RUNG   "avx512vnni"
#define LIMITS aq_limit_loops_avx512vnni

enum { BYTE_PRODUCTS = 64, DOT_OPERATIONS = 2 * CHAINS * BYTE_PRODUCTS };

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
#endif

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

const aq_limit_loops LIMITS = {
    .rung = RUNG,
    .readers = LIMIT_READERS,
    .dot = dot_products,
    .fma = fused_products,
    .dot_operations = DOT_OPERATIONS,
    .fma_operations = 2 * CHAINS * FLOATS,
};
