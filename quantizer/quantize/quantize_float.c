/*
 * The formats that store each weight as a float of its own.
 */
#include <string.h>

#include "common/policy/half.h"
#include "quantizer/quantize/quantize_layer.h"

int aq_quantize_f32(const aq_quantize_layer *layer)
{
    memcpy(layer->to.weights, layer->weights, layer->view->sizes.weights_bytes);
    return 0;
}

/* `exponent`: the bits of a half that is infinite. Only a weight too large for the format becomes
 * one, since all are finite. */
static int convert(const aq_quantize_layer *layer, uint16_t (*half_from)(float value),
                   uint16_t exponent)
{
    uint16_t *halves = layer->to.weights;
    const size_t count = (size_t)layer->matrix.rows * layer->matrix.columns;
    for (size_t i = 0; i < count; i++) {
        halves[i] = half_from(layer->weights[i]);
        if ((halves[i] & exponent) == exponent) {
            return aq_fail(layer->error, AQ_E_CORRUPT,
                           "quantize: layer %u, row %zu: a weight of %g is more than %s can hold",
                           layer->index, i / layer->matrix.columns, (double)layer->weights[i],
                           aq_format_name(layer->view->format));
        }
    }
    return 0;
}

int aq_quantize_f16(const aq_quantize_layer *layer)
{
    return convert(layer, aq_f16_from_f32, 0x7C00);
}

int aq_quantize_bf16(const aq_quantize_layer *layer)
{
    return convert(layer, aq_bf16_from_f32, 0x7F80);
}
