/*
 * AVX-512 vectors of 16 floats: what the kernels of this instruction set share. Private to them.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_LANES_AVX512_H
#define AQ_QUANTIZER_KERNELS_X86_LANES_AVX512_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 16, ALL_LANES = 0xFFFF };

/* The first `count` lanes; all from 16 on. */
static inline __mmask16 lane_mask(uint32_t count)
{
    return count >= LANES ? (__mmask16)ALL_LANES : (__mmask16)((1u << count) - 1u);
}

/* Writes the first `lanes` values. ReLU is v < 0 ? 0 : v, which is what vmaxps gives with its
 * operands in this order: NaN stays NaN. */
static inline void store_lanes(float *y, __m512 value, bool relu, uint32_t lanes)
{
    const __mmask16 rectified = relu ? (__mmask16)ALL_LANES : 0;
    value = _mm512_mask_max_ps(value, rectified, _mm512_setzero_ps(), value);
    if (lanes == LANES) {
        _mm512_storeu_ps(y, value);
    } else {
        _mm512_mask_storeu_ps(y, lane_mask(lanes), value);
    }
}

/* What tile_float.h makes kernels of float weights of. */
#define FLOAT_TILE_BLOCKS 3
#define FLOAT_TILE_ROWS   8
#define FLOAT_REGISTERS   32

typedef __m512 float_lanes;

static inline float_lanes all_lanes(float value)
{
    return _mm512_set1_ps(value);
}

static inline float_lanes load_lanes(const float *from)
{
    return _mm512_load_ps(from);
}

static inline float_lanes multiply_add_lanes(float_lanes sum, float_lanes x, float_lanes weight)
{
    return _mm512_fmadd_ps(x, weight, sum);
}

#endif
