/*
 * pool: y[pixel][channel] = the greatest of the channel's values in a patch; what is beyond the
 * image is not looked at.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/policy/layer_kind.h"

aq_layer_spec aq_layer_pool(const aq_conv_shape *shape, enum aq_activation activation)
{
    aq_layer_spec layer = aq_layer_conv2d(shape, activation);
    layer.kind = AQ_LAYER_POOL;
    return layer;
}

static int check(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_conv_shape *shape = &layer->conv;
    const aq_layer_spec made = aq_layer_pool(shape, AQ_ACTIVATION_NONE);
    if (shape->filters != shape->channels) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: a pool of %u channels gives %u", index,
                       shape->channels, shape->filters);
    }
    return aq_layer_check_patches(layer, &made, index, error);
}

/* An activation alone shows as its own letter. */
static void text(const aq_layer_spec *layer, char *out, size_t size)
{
    const aq_conv_shape *shape = &layer->conv;
    out[0] = '\0';
    if (shape->kernel > 1 || shape->stride > 1) {
        (void)snprintf(out, size, "pool%" PRIu32 "/%" PRIu32, shape->kernel, shape->stride);
    }
}

/* The first one where it is NaN; every patch has a pixel within the image. */
static float greatest(const aq_conv_shape *pool, const float *x, int64_t top, int64_t left)
{
    bool is_first = true;
    float most = 0.0f;
    for (uint32_t tap = 0; tap < pool->kernel * pool->kernel; tap++) {
        const int64_t row = top + tap / pool->kernel;
        const int64_t column = left + tap % pool->kernel;
        if (row < 0 || row >= pool->height || column < 0 || column >= pool->width) {
            continue;
        }
        const float value = x[(size_t)(row * pool->width + column) * pool->channels];
        most = is_first || value > most ? value : most;
        is_first = false;
    }
    return most;
}

static void forward(const aq_layer_spec *layer, const float *weight, const float *bias,
                    const float *const *x, float *y)
{
    const aq_conv_shape *pool = &layer->conv;
    const uint32_t width = aq_conv_out_width(pool);
    (void)weight;
    (void)bias;
    for (uint32_t i = 0; i < layer->outputs; i++) {
        const uint32_t pixel = i / pool->channels;
        const int64_t top = (int64_t)(pixel / width) * pool->stride - pool->padding;
        const int64_t left = (int64_t)(pixel % width) * pool->stride - pool->padding;
        y[i] = greatest(pool, x[0] + i % pool->channels, top, left);
    }
}

const aq_layer_kind aq_layer_kind_pool = {
    .name = "pool",
    .shape_words = sizeof(aq_conv_shape) / sizeof(uint32_t),
    .takes_image = true,
    .check = check,
    .text = text,
    .forward = forward,
};
