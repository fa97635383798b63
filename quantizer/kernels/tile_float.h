/*
 * A kernel of fp32, fp16 or bf16 weights from the register tile. Included behind the arithmetic of
 * an instruction set, as tile.h is; then TILE_KERNEL is what its aq_linear_kernel is initialized
 * with.
 */
#ifndef AQ_QUANTIZER_KERNELS_TILE_FLOAT_H
#define AQ_QUANTIZER_KERNELS_TILE_FLOAT_H

#include "quantizer/kernels/tile.h"

static size_t packed_bytes(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    (void)layer;
    return tile_packed_bytes((size_t)inputs * WEIGHT_UNIT_BYTES, outputs);
}

static void pack(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs, void *packed)
{
    tile_pack(layer->weights, (size_t)inputs * WEIGHT_UNIT_BYTES, outputs, packed);
}

static void run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride)
{
    tile_layer(layer, (size_t)layer->inputs * WEIGHT_UNIT_BYTES, input->x,
               input->x_stride * sizeof(float), input, y, y_stride);
}

#define TILE_KERNEL                                                                                \
    {                                                                                              \
        .quantizes_input = false, .pack_writes_all = true, .packed_bytes = packed_bytes,           \
        .pack = pack, .run = run                                                                   \
    }

#endif
