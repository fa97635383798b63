/*
 * Layers of int8 blocks of which most may be missing: the reference. Packed they are as a snapshot
 * has them, the mask first, whose size follows from the layer's; blocks start at the next multiple
 * of their own size.
 */
#include <string.h>

#include "quantizer/kernels/scalar/scalar_kernels.h"

static size_t blocks_at(uint32_t inputs, uint32_t outputs)
{
    const size_t mask_bytes = aq_block_row_count(outputs) * aq_block_mask_row_bytes(inputs);
    return (mask_bytes + AQ_BLOCK_BYTES - 1) / AQ_BLOCK_BYTES * AQ_BLOCK_BYTES;
}

static size_t packed_bytes(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    return blocks_at(inputs, outputs) + layer->sizes.weights_bytes;
}

static void pack(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs, void *packed)
{
    memcpy(packed, layer->mask, layer->sizes.mask_bytes);
    memcpy((unsigned char *)packed + blocks_at(inputs, outputs), layer->weights,
           layer->sizes.weights_bytes);
}

/* dots (AQ_BLOCK_ROWS) += q (AQ_BLOCK_COLUMNS) . levels (AQ_BLOCK_ROWS, AQ_BLOCK_COLUMNS) */
static void add_block(const uint8_t *q, const int8_t *levels, int32_t *dots)
{
    for (uint32_t r = 0; r < AQ_BLOCK_ROWS; r++) {
        dots[r] += dot_levels(q, levels + r * AQ_BLOCK_COLUMNS, AQ_BLOCK_COLUMNS);
    }
}

static void run_row(const aq_packed_layer *layer, const uint8_t *q, const aq_row_quant *quant,
                    float *y)
{
    const uint8_t *mask = layer->weights;
    const int8_t *levels = (const int8_t *)mask + blocks_at(layer->inputs, layer->outputs);
    const uint32_t columns = aq_block_column_count(layer->inputs);

    for (uint32_t first = 0; first < layer->outputs; first += AQ_BLOCK_ROWS) {
        int32_t dots[AQ_BLOCK_ROWS] = {0};
        for (uint32_t column = 0; column < columns; column++) {
            if (aq_block_is_stored(mask, column)) {
                add_block(q + column * AQ_BLOCK_COLUMNS, levels, dots);
                levels += AQ_BLOCK_BYTES;
            }
        }
        mask += aq_block_mask_row_bytes(layer->inputs);

        const uint32_t left = layer->outputs - first;
        for (uint32_t r = 0; r < AQ_BLOCK_ROWS && r < left; r++) {
            y[first + r] = finish_int8(layer, first + r, quant, dots[r]);
        }
    }
}

static void run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride)
{
    for (size_t row = 0; row < input->rows; row++) {
        run_row(layer, input->q + row * input->q_stride, &input->quant[row], y + row * y_stride);
    }
}

const aq_linear_kernel aq_scalar_sparse = {
    .quantizes_input = true, .packed_bytes = packed_bytes, .pack = pack, .run = run};
