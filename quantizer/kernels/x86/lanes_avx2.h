/*
 * AVX2 vectors of 8 floats: what the kernels of this instruction set share. Private to them.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_LANES_AVX2_H
#define AQ_QUANTIZER_KERNELS_X86_LANES_AVX2_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 8 };

/* All bits in the first `count` lanes; in all of them from 8 on. */
static inline __m256i lane_mask(uint32_t count)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count < LANES ? (int32_t)count : LANES), lane);
}

/* Writes the first `lanes` values. ReLU is v < 0 ? 0 : v, which is what vmaxps gives with its
 * operands in this order: NaN stays NaN. */
static inline void store_lanes(float *y, __m256 value, bool relu, uint32_t lanes)
{
    if (relu) {
        value = _mm256_max_ps(_mm256_setzero_ps(), value);
    }
    if (lanes == LANES) {
        _mm256_storeu_ps(y, value);
    } else {
        _mm256_maskstore_ps(y, lane_mask(lanes), value);
    }
}

/* What tile_float.h makes kernels of float weights of. */
#define FLOAT_TILE_BLOCKS 3
#define FLOAT_REGISTERS   16

typedef __m256 float_lanes;

static inline float_lanes all_lanes(float value)
{
    return _mm256_set1_ps(value);
}

static inline float_lanes load_lanes(const float *from)
{
    return _mm256_load_ps(from);
}

static inline float_lanes multiply_add_lanes(float_lanes sum, float_lanes x, float_lanes weight)
{
    return _mm256_fmadd_ps(x, weight, sum);
}

#endif
