/*
 * int8 layers, per channel and per tensor: the reference.
 */
#include <string.h>

#include "quantizer/kernels/scalar/scalar_kernels.h"

static size_t packed_bytes(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    (void)layer;
    return (size_t)inputs * outputs;
}

static void pack(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs, void *packed)
{
    memcpy(packed, layer->weights, (size_t)inputs * outputs);
}

static void run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride)
{
    const int8_t *levels = layer->weights;
    const uint32_t inputs = layer->inputs;

    for (size_t row = 0; row < input->rows; row++) {
        const uint8_t *q = input->q + row * input->q_stride;
        for (uint32_t o = 0; o < layer->outputs; o++) {
            const int32_t dot = dot_levels(q, levels + (size_t)o * inputs, inputs);
            y[row * y_stride + o] = finish_int8(layer, o, &input->quant[row], dot);
        }
    }
}

const aq_linear_kernel aq_scalar_int8 = {
    .quantizes_input = true, .packed_bytes = packed_bytes, .pack = pack, .run = run};
