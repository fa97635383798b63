/*
 * An int8 kernel from the register tile. Included behind the arithmetic of an instruction set, as
 * tile.h is; then TILE_KERNEL is what its aq_linear_kernel is initialized with.
 */
#ifndef AQ_QUANTIZER_KERNELS_TILE_INT8_H
#define AQ_QUANTIZER_KERNELS_TILE_INT8_H

/* On a Zen 5 one line a step is as good as all of them, and better beside a busy neighbour (41 and
 * 43 us for 2048 by 2048). */
#define TILE_AHEAD_LINES 1
#define TILE_AHEAD_BYTES 1024

#define WEIGHT_BYTES 1

#include "quantizer/kernels/tile.h"

static void run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride)
{
    tile_layer(layer, input->q, input->q_stride, input, y, y_stride);
}

#define TILE_KERNEL                                                                                \
    {                                                                                              \
        .quantizes_input = true, .takes_pieces = true, .pack_writes_all = true,                    \
        .packed_bytes = tile_packed_bytes, .pack = tile_pack, .run = run                           \
    }

#endif
