/*
 * Layers of float weights with AVX2 and FMA: a whole kernel but for how a weight is loaded. A file
 * of one format defines WEIGHT_UNIT_BYTES where it isn't that of a float, and load_weight(bytes),
 * which gives eight floats, includes this, and names packed_bytes, pack and run in its table entry.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_FLOAT_AVX2_H
#define AQ_QUANTIZER_KERNELS_X86_FLOAT_AVX2_H

#include <immintrin.h>

#include "quantizer/kernels/tile_job.h"
#include "quantizer/kernels/x86/lanes_avx2.h"

/* Two pipes times four cycles of latency. */
enum { ACCUMULATORS_MIN = 8 };
#define TILE_BLOCKS 2

typedef __m256 accumulator;
typedef __m256 weight_vector;
typedef __m256 input_vector;

typedef struct block_constants {
    __m256 bias;
} block_constants;

static inline __m256 accumulator_zero(void)
{
    return _mm256_setzero_ps();
}

static inline __m256 accumulator_add(__m256 a, __m256 b)
{
    return _mm256_add_ps(a, b);
}

static inline __m256 broadcast(const unsigned char *x)
{
    float unit;
    memcpy(&unit, x, sizeof(unit));
    return _mm256_set1_ps(unit);
}

static inline __m256 multiply_add(__m256 sum, __m256 x, __m256 weight)
{
    return _mm256_fmadd_ps(x, weight, sum);
}

static inline block_constants load_constants(const tile_job *job, uint32_t block)
{
    return (block_constants){.bias = _mm256_load_ps(job->bias + block * LANES)};
}

static inline __m256 finish(const tile_job *job, block_constants constants, uint32_t row,
                            __m256 dot)
{
    (void)job;
    (void)row;
    return _mm256_add_ps(dot, constants.bias);
}

#include "quantizer/kernels/tile_float.h"

#endif
