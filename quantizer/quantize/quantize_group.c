/*
 * int4 and int2: levels packed into bytes, a scale for every AQ_FORMAT_GROUP columns of a row.
 */
#include "quantizer/quantize/quantize_layer.h"

/* Groups begin on whole bytes. */
_Static_assert(AQ_FORMAT_GROUP * 2 % 8 == 0, "a group of the narrowest levels is whole bytes");

/* The levels first and their places in the bytes afterwards, because the first step is the long one
 * and vectorizes alone. */
static void fill_group(const float *weights, uint32_t count, uint32_t bits, float scale,
                       uint8_t *packed)
{
    const int32_t level_max = (1 << (bits - 1)) - 1;
    const uint32_t mask = (1U << bits) - 1;
    uint8_t levels[AQ_FORMAT_GROUP];
    for (uint32_t i = 0; i < count; i++) {
        const int32_t level = aq_quantize_level(weights[i], scale, -level_max, level_max);
        levels[i] = (uint8_t)((uint32_t)level & mask);
    }
    for (uint32_t i = 0; i < count; i++) {
        packed[i * bits / 8] |= (uint8_t)(levels[i] << (i * bits % 8));
    }
}

/* A group of zeros, or of weights too small for a scale, is stored as zeros with scale 1. */
static int quantize(const aq_quantize_layer *layer, uint32_t bits)
{
    const uint32_t columns = layer->matrix.columns;
    const size_t row_bytes = ((size_t)columns * bits + 7) / 8;
    size_t group = 0;
    for (size_t row = 0; row < layer->matrix.rows; row++) {
        for (uint32_t first = 0; first < columns; first += AQ_FORMAT_GROUP, group++) {
            const uint32_t count =
                columns - first < AQ_FORMAT_GROUP ? columns - first : AQ_FORMAT_GROUP;
            const float *weights = layer->weights + row * columns + first;
            const float scale = aq_quantize_scale(aq_greatest_magnitude(weights, count),
                                                  (1 << (bits - 1)) - 1, 0.0f);
            layer->to.scale[group] = scale != 0.0f ? scale : 1.0f;
            if (scale != 0.0f) {
                uint8_t *packed = (uint8_t *)layer->to.weights + row * row_bytes;
                fill_group(weights, count, bits, scale, packed + (size_t)first * bits / 8);
            }
        }
    }
    return 0;
}

int aq_quantize_int4(const aq_quantize_layer *layer)
{
    return quantize(layer, 4);
}

int aq_quantize_int2(const aq_quantize_layer *layer)
{
    return quantize(layer, 2);
}
