/*
 * The way back through a pool in the passes: what each pixel of the output is given goes to the
 * pixel of its patch that was the greatest, the first of equal ones. Gradients that meet are added
 * up in the order of the output.
 *
 * Private to passes_rung.c. Static, because each rung's library is compiled with flags of its own.
 */
#ifndef AQ_LEARNER_NN_PASSES_POOL_H
#define AQ_LEARNER_NN_PASSES_POOL_H

#include "quantizer/kernels/pool_walk.h"

/* `count` channels of one pixel of the output. */
POOL_INLINE void pool_lanes_back(const aq_conv_shape *shape, const pool_patch *patch,
                                 const float *x, const float *d, uint32_t count, float *d_x)
{
    pool_lanes most, given, sum;
    pool_marks which;
    int32_t number = 0;
    pool_greatest(shape, patch, x, count, &most, &which);
    pool_load(d, count, &given);
    for (uint32_t row = patch->top; row < patch->bottom; row++) {
        for (uint32_t column = patch->left; column < patch->right; column++, number++) {
            float *to = d_x + pool_at(shape, row, column);
            pool_load(to, count, &sum);
            sum += (pool_lanes)((pool_marks)given & (which == number));
            pool_store(&sum, count, to);
        }
    }
}

static void pool_backward(const aq_conv_shape *shape, const float *restrict x,
                          const float *restrict d, float *restrict d_x)
{
    const uint32_t height = aq_conv_out_height(shape), width = aq_conv_out_width(shape);
    const uint32_t channels = shape->channels, whole = channels - channels % POOL_LANES;
    memset(d_x, 0, pool_at(shape, shape->height, 0) * sizeof(*d_x));
    for (uint32_t i = 0; i < height; i++) {
        for (uint32_t j = 0; j < width; j++, d += channels) {
            const pool_patch patch = pool_patch_of(shape, i, j);
            for (uint32_t c = 0; c < whole; c += POOL_LANES) {
                pool_lanes_back(shape, &patch, x + c, d + c, POOL_LANES, d_x + c);
            }
            if (whole < channels) {
                pool_lanes_back(shape, &patch, x + whole, d + whole, channels - whole, d_x + whole);
            }
        }
    }
}

#endif
