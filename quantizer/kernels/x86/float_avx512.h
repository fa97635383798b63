/*
 * Layers of float weights with AVX-512: a whole kernel but for how a weight is loaded. A file
 * of one format defines WEIGHT_UNIT_BYTES where it isn't that of a float, and load_weight(bytes),
 * which gives sixteen floats, includes this, and names packed_bytes, pack and run in its table
 * entry.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_FLOAT_AVX512_H
#define AQ_QUANTIZER_KERNELS_X86_FLOAT_AVX512_H

#include <immintrin.h>

#include "quantizer/kernels/tile_job.h"
#include "quantizer/kernels/x86/lanes_avx512.h"

/* Two pipes times four cycles of latency. */
enum { ACCUMULATORS_MIN = 8 };
#define TILE_BLOCKS 3
#define TILE_ROWS   8

typedef __m512 accumulator;
typedef __m512 weight_vector;
typedef __m512 input_vector;

typedef struct block_constants {
    __m512 bias;
} block_constants;

static inline __m512 accumulator_zero(void)
{
    return _mm512_setzero_ps();
}

static inline __m512 accumulator_add(__m512 a, __m512 b)
{
    return _mm512_add_ps(a, b);
}

static inline __m512 broadcast(const unsigned char *x)
{
    float unit;
    memcpy(&unit, x, sizeof(unit));
    return _mm512_set1_ps(unit);
}

static inline __m512 multiply_add(__m512 sum, __m512 x, __m512 weight)
{
    return _mm512_fmadd_ps(x, weight, sum);
}

static inline block_constants load_constants(const tile_job *job, uint32_t block)
{
    return (block_constants){.bias = _mm512_load_ps(job->bias + block * LANES)};
}

static inline __m512 finish(const tile_job *job, block_constants constants, uint32_t row,
                            __m512 dot)
{
    (void)job;
    (void)row;
    return _mm512_add_ps(dot, constants.bias);
}

#include "quantizer/kernels/tile_float.h"

#endif
