/*
 * int8 layers with AVX2 alone, a scale an output.
 */
#define TILE_BLOCKS 2

#include "quantizer/x86/dot_avx2.h"
#include "quantizer/x86/qkernels_x86.h"

/* After the arithmetic that it is built from. */
#include "quantizer/tile.h"

static size_t packed_bytes(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    (void)layer;
    return tile_packed_bytes(inputs, outputs);
}

static void pack(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs, void *packed)
{
    tile_pack(layer->weights, inputs, outputs, packed);
}

static void run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride)
{
    tile_layer(layer, layer->inputs, input->q, input->q_stride, input, y, y_stride);
}

const aq_linear_kernel aq_int8_avx2 = {
    .quantizes_input = true,
    .pack_writes_all = true,
    .packed_bytes = packed_bytes,
    .pack = pack,
    .run = run,
};
