/*
 * Pool walk: patches of a pool within their image, and sixteen channels of one at once. Where a
 * value is the greatest is decided in the order of rows and columns, by `>` alone, so that every
 * rung, the learner's way back and the exported C choose the same one.
 *
 * For passes that are built once for each width of vector; static, because each of them is compiled
 * with flags of its own. Pure; any thread.
 */
#ifndef AQ_QUANTIZER_KERNELS_POOL_WALK_H
#define AQ_QUANTIZER_KERNELS_POOL_WALK_H

#include <stdint.h>
#include <string.h>

#include "common/policy/layer_spec.h"

#define POOL_INLINE static inline __attribute__((always_inline))

/* Vectors of the compiler's, which it splits where the rung's are narrower. */
enum { POOL_LANES = 16 };
typedef float pool_lanes __attribute__((vector_size(POOL_LANES * sizeof(float))));
typedef int32_t pool_marks __attribute__((vector_size(POOL_LANES * sizeof(int32_t))));

/* Of one pixel of the output: the pixels [top, bottom) x [left, right) of the image. */
typedef struct pool_patch {
    uint32_t top, bottom, left, right;
} pool_patch;

POOL_INLINE void pool_side(uint32_t at, uint32_t side, const aq_conv_shape *shape,
                           uint32_t *ret_from, uint32_t *ret_to)
{
    const int64_t start = (int64_t)at * shape->stride - shape->padding;
    const int64_t end = start + shape->kernel;
    *ret_from = start < 0 ? 0 : (uint32_t)start;
    *ret_to = end < side ? (uint32_t)end : side;
}

POOL_INLINE pool_patch pool_patch_of(const aq_conv_shape *shape, uint32_t row, uint32_t column)
{
    pool_patch patch;
    pool_side(row, shape->height, shape, &patch.top, &patch.bottom);
    pool_side(column, shape->width, shape, &patch.left, &patch.right);
    return patch;
}

POOL_INLINE size_t pool_at(const aq_conv_shape *shape, uint32_t row, uint32_t column)
{
    return ((size_t)row * shape->width + column) * shape->channels;
}

/* The first `count` lanes; 0 beyond. Vectors go by address: by value they are no part of what
 * narrower processors call functions with. */
POOL_INLINE void pool_load(const float *from, uint32_t count, pool_lanes *ret_lanes)
{
    if (count >= POOL_LANES) {
        memcpy(ret_lanes, from, sizeof(*ret_lanes));
        return;
    }
    *ret_lanes = (pool_lanes){0};
    memcpy(ret_lanes, from, count * sizeof(*from));
}

POOL_INLINE void pool_store(const pool_lanes *lanes, uint32_t count, float *to)
{
    memcpy(to, lanes, (count < POOL_LANES ? count : POOL_LANES) * sizeof(*to));
}

/* The greatest of each of `count` channels from `x` on, and which pixel of the patch has it. */
POOL_INLINE void pool_greatest(const aq_conv_shape *shape, const pool_patch *patch, const float *x,
                               uint32_t count, pool_lanes *ret_most, pool_marks *ret_which)
{
    pool_lanes most, value;
    pool_marks which = {0};
    int32_t number = 0;
    pool_load(x + pool_at(shape, patch->top, patch->left), count, &most);
    for (uint32_t row = patch->top; row < patch->bottom; row++) {
        for (uint32_t column = patch->left; column < patch->right; column++, number++) {
            pool_load(x + pool_at(shape, row, column), count, &value);
            const pool_marks is_more = value > most;
            most = (pool_lanes)(((pool_marks)value & is_more) | ((pool_marks)most & ~is_more));
            which = (is_more & number) | (which & ~is_more);
        }
    }
    *ret_most = most;
    *ret_which = which;
}

#endif
