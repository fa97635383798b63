/*
 * AMX's instructions for tiles of bf16 in plain C, as Intel's manual states them, and a processor
 * that has them beside AVX512-BF16. Included before a file that uses them: so where the rest of it
 * can run, so can what is written with tiles.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_NN_EMULATED_TILES_H
#define AQ_TESTS_UNIT_LEARNER_NN_EMULATED_TILES_H

#include <immintrin.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "common/policy/half.h"
#include "common/sys/cpu.h"

#define aq_cpu_flags()                                                                             \
    (((aq_cpu_flags)() & AQ_CPU_AVX512_BF16) != 0 ? (aq_cpu_flags)() | AQ_CPU_AMX_BF16             \
                                                  : (aq_cpu_flags)())

/* Nobody need be asked. */
#define syscall(...) 0

enum { EMULATED_ROWS = 16, EMULATED_COLUMNS = 16 };

typedef uint32_t emulated_tile[EMULATED_ROWS][EMULATED_COLUMNS];

static _Thread_local emulated_tile emulated[8];

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
    for (int m = 0; m < EMULATED_ROWS; m++) {
        float sums[EMULATED_COLUMNS][2] = {{0}};
        for (int k = 0; k < EMULATED_COLUMNS; k++) {
            for (int n = 0; n < EMULATED_COLUMNS; n++) {
                for (int i = 0; i < 2; i++) {
                    sums[n][i] =
                        emulated_flush(fmaf(emulated_half(emulated[a][m][k], i),
                                            emulated_half(emulated[b][k][n], i), sums[n][i]));
                }
            }
        }
        for (int n = 0; n < EMULATED_COLUMNS; n++) {
            const float both = emulated_flush(sums[n][0] + sums[n][1]);
            const float sum = emulated_flush(aq_f32_from_bits(emulated[c][m][n]) + both);
            emulated[c][m][n] = aq_f32_to_bits(sum);
        }
    }
}

static inline void emulated_load(int tile, const void *base, size_t stride)
{
    for (int r = 0; r < EMULATED_ROWS; r++) {
        memcpy(emulated[tile][r], (const char *)base + (size_t)r * stride, sizeof(emulated[0][0]));
    }
}

static inline void emulated_store(int tile, void *base, size_t stride)
{
    for (int r = 0; r < EMULATED_ROWS; r++) {
        memcpy((char *)base + (size_t)r * stride, emulated[tile][r], sizeof(emulated[0][0]));
    }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbf16ps
#define _tile_loadconfig(shape)          ((void)(shape))
#define _tile_release()                  ((void)0)
#define _tile_zero(tile)                 memset(emulated[tile], 0, sizeof(emulated[0]))
#define _tile_loadd(tile, base, stride)  emulated_load(tile, base, stride)
#define _tile_stored(tile, base, stride) emulated_store(tile, base, stride)
#define _tile_dpbf16ps(c, a, b)          emulated_dpbf16ps(c, a, b)

#endif
