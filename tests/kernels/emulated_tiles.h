/*
 * AMX's instructions for tiles of bf16 and of bytes in plain C, as Intel's manual states them, and
 * a processor that has them beside AVX512-BF16. Included before a file that uses them: so where the
 * rest of it can run, so can what is written with tiles.
 */
#ifndef AQ_TESTS_KERNELS_EMULATED_TILES_H
#define AQ_TESTS_KERNELS_EMULATED_TILES_H

#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "common/policy/half.h"
#include "common/sys/cpu.h"
#include "common/sys/tiles.h"

#define aq_cpu_flags()                                                                             \
    (((aq_cpu_flags)() & AQ_CPU_AVX512_BF16) != 0 ? (aq_cpu_flags)() | AQ_CPU_AMX                  \
                                                  : (aq_cpu_flags)())

typedef uint32_t emulated_tile[AQ_TILE_ROWS][AQ_TILE_ROWS];

static _Thread_local aq_tile_shapes emulated_shape;
static _Thread_local emulated_tile emulated[AQ_TILES];

static inline void emulated_configure(const void *shapes)
{
    memcpy(&emulated_shape, shapes, sizeof(emulated_shape));
    memset(emulated, 0, sizeof(emulated));
}

/* Subnormal numbers count as zero, whatever they come from. */
static inline float emulated_flush(float value)
{
    return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

static inline float emulated_half(uint32_t pair, int which)
{
    return emulated_flush(aq_bf16_to_f32((uint16_t)(pair >> (16 * which))));
}

static inline void emulated_dpbf16ps(int c, int a, int b)
{
    const int columns = emulated_shape.row_bytes[c] / 4;
    for (int m = 0; m < emulated_shape.rows[c]; m++) {
        float sums[AQ_TILE_ROWS][2] = {{0}};
        for (int k = 0; k < emulated_shape.row_bytes[a] / 4; k++) {
            for (int n = 0; n < columns; n++) {
                for (int i = 0; i < 2; i++) {
                    sums[n][i] =
                        emulated_flush(fmaf(emulated_half(emulated[a][m][k], i),
                                            emulated_half(emulated[b][k][n], i), sums[n][i]));
                }
            }
        }
        for (int n = 0; n < columns; n++) {
            const float both = emulated_flush(sums[n][0] + sums[n][1]);
            const float sum = emulated_flush(aq_f32_from_bits(emulated[c][m][n]) + both);
            emulated[c][m][n] = aq_f32_to_bits(sum);
        }
    }
}

/* Four products of bytes, those of `a` without a sign. */
static inline uint32_t emulated_dot(uint32_t a, uint32_t b)
{
    int32_t sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += (int32_t)(uint8_t)(a >> (8 * i)) * (int8_t)(uint8_t)(b >> (8 * i));
    }
    return (uint32_t)sum;
}

static inline void emulated_dpbusd(int c, int a, int b)
{
    for (int m = 0; m < emulated_shape.rows[c]; m++) {
        for (int k = 0; k < emulated_shape.row_bytes[a] / 4; k++) {
            for (int n = 0; n < emulated_shape.row_bytes[c] / 4; n++) {
                emulated[c][m][n] += emulated_dot(emulated[a][m][k], emulated[b][k][n]);
            }
        }
    }
}

static inline void emulated_load(int tile, const void *base, size_t stride)
{
    memset(emulated[tile], 0, sizeof(emulated[tile]));
    for (int r = 0; r < emulated_shape.rows[tile]; r++) {
        memcpy(emulated[tile][r], (const char *)base + (size_t)r * stride,
               emulated_shape.row_bytes[tile]);
    }
}

static inline void emulated_store(int tile, void *base, size_t stride)
{
    for (int r = 0; r < emulated_shape.rows[tile]; r++) {
        memcpy((char *)base + (size_t)r * stride, emulated[tile][r],
               emulated_shape.row_bytes[tile]);
    }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbf16ps
#undef _tile_dpbusd
#define _tile_loadconfig(shape)          emulated_configure(shape)
#define _tile_release()                  ((void)0)
#define _tile_zero(tile)                 memset(emulated[tile], 0, sizeof(emulated[0]))
#define _tile_loadd(tile, base, stride)  emulated_load(tile, base, stride)
#define _tile_stored(tile, base, stride) emulated_store(tile, base, stride)
#define _tile_dpbf16ps(c, a, b)          emulated_dpbf16ps(c, a, b)
#define _tile_dpbusd(c, a, b)            emulated_dpbusd(c, a, b)

#endif
