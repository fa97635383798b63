/*
 * Layers of int8 blocks of which some are missing, written once as a template. A file of one
 * instruction set includes its int8 arithmetic (dot_<set>.h), then this; sparse_packed_bytes,
 * sparse_pack and sparse_layer are its kernel. Of what tile.h lists it uses
 *
 *   LANES               16, or 8: a block is one vector or two
 *   ACCUMULATORS_MIN    independent sums that hide the latency of one multiply-add
 *   accumulator, weight_vector, input_vector, block_constants, accumulator_zero, accumulator_add,
 *   load_weight, broadcast, multiply_add, load_constants, finish, store_lanes
 *
 * The packed weights are
 *
 *   uint32_t first[rows of blocks + 1]   of all blocks, which is the row's first; the last is their
 *                                        number
 *   the blocks, each a cache line: [output][4 inputs], as a snapshot has them
 *   uint16_t column[blocks]              of each in its row of blocks
 *
 * A row of blocks is walked once for up to four rows of activations, whose four inputs are fetched
 * by the column. Nothing is tested on the way: a block that is missing costs nothing.
 */
#ifndef AQ_QUANTIZER_KERNELS_SPARSE_BLOCK_H
#define AQ_QUANTIZER_KERNELS_SPARSE_BLOCK_H

#include <string.h>

#include "quantizer/kernels/tile_job.h"

#define SPARSE_INLINE static inline __attribute__((always_inline))

enum {
    SPARSE_ROWS = 4,
    VECTORS = AQ_BLOCK_ROWS / LANES,
    VECTOR_BYTES = LANES * AQ_BLOCK_COLUMNS,
};
_Static_assert(AQ_QKERNEL_INPUTS_MAX / AQ_BLOCK_COLUMNS <= UINT16_MAX, "a column has 16 bits");
_Static_assert((int)AQ_BLOCK_ROWS == (int)AQ_QKERNEL_OUTPUT_PADDING,
               "a layer's arrays end with a block");

/* --- packing --- */

typedef struct sparse_weights {
    const uint32_t *first;
    const unsigned char *blocks;
    const uint16_t *columns;
} sparse_weights;

static size_t sparse_blocks_at(uint32_t outputs)
{
    const size_t bytes = (aq_block_row_count(outputs) + 1) * sizeof(uint32_t);
    return (bytes + AQ_BLOCK_BYTES - 1) / AQ_BLOCK_BYTES * AQ_BLOCK_BYTES;
}

static size_t sparse_packed_bytes(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    const size_t blocks = layer->sizes.weights_bytes / AQ_BLOCK_BYTES;
    (void)inputs;
    return sparse_blocks_at(outputs) + blocks * (AQ_BLOCK_BYTES + sizeof(uint16_t));
}

static void sparse_pack(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                        void *packed)
{
    const size_t mask_row_bytes = aq_block_mask_row_bytes(inputs);
    unsigned char *blocks = (unsigned char *)packed + sparse_blocks_at(outputs);
    uint32_t *first = packed;
    uint16_t *columns = (uint16_t *)(void *)(blocks + layer->sizes.weights_bytes);
    uint32_t count = 0;

    memcpy(blocks, layer->weights, layer->sizes.weights_bytes);
    for (uint32_t row = 0; row < aq_block_row_count(outputs); row++) {
        const uint8_t *mask = layer->mask + row * mask_row_bytes;
        first[row] = count;
        for (uint32_t column = 0; column < aq_block_column_count(inputs); column++) {
            if (aq_block_is_stored(mask, column)) {
                columns[count++] = (uint16_t)column;
            }
        }
    }
    first[aq_block_row_count(outputs)] = count;
}

static sparse_weights sparse_find(const aq_packed_layer *layer)
{
    const uint32_t *first = layer->weights;
    const unsigned char *blocks =
        (const unsigned char *)layer->weights + sparse_blocks_at(layer->outputs);
    const size_t count = first[aq_block_row_count(layer->outputs)];
    return (sparse_weights){first, blocks,
                            (const uint16_t *)(const void *)(blocks + count * AQ_BLOCK_BYTES)};
}

/* --- one row of blocks, and up to four rows of activations --- */

typedef struct sparse_row {
    accumulator v0, v1; /* the second where a block is two vectors */
} sparse_row;

typedef struct sparse_sums {
    sparse_row r0, r1, r2, r3;
} sparse_sums;

SPARSE_INLINE sparse_sums sparse_zero(void)
{
    const accumulator zero = accumulator_zero();
    const sparse_row row = {zero, zero};
    return (sparse_sums){row, row, row, row};
}

SPARSE_INLINE sparse_row sparse_row_add(sparse_row a, sparse_row b)
{
    return (sparse_row){accumulator_add(a.v0, b.v0), accumulator_add(a.v1, b.v1)};
}

SPARSE_INLINE sparse_sums sparse_add(sparse_sums a, sparse_sums b)
{
    return (sparse_sums){sparse_row_add(a.r0, b.r0), sparse_row_add(a.r1, b.r1),
                         sparse_row_add(a.r2, b.r2), sparse_row_add(a.r3, b.r3)};
}

SPARSE_INLINE sparse_row sparse_row_step(sparse_row row, const unsigned char *x, weight_vector w0,
                                         weight_vector w1)
{
    const input_vector quad = broadcast(x);
    row.v0 = multiply_add(row.v0, quad, w0);
    if (VECTORS > 1) {
        row.v1 = multiply_add(row.v1, quad, w1);
    }
    return row;
}

/* sums (rows, AQ_BLOCK_ROWS) += x (rows, AQ_BLOCK_COLUMNS) . block */
SPARSE_INLINE sparse_sums sparse_step(sparse_sums sums, const tile_job *job, uint16_t column,
                                      const unsigned char *block, const uint32_t rows)
{
    const unsigned char *x = job->x + (size_t)column * AQ_BLOCK_COLUMNS;
    const weight_vector w0 = load_weight(block);
    const weight_vector w1 = VECTORS > 1 ? load_weight(block + VECTOR_BYTES) : w0;
    sums.r0 = sparse_row_step(sums.r0, x, w0, w1);
    if (rows > 1) {
        sums.r1 = sparse_row_step(sums.r1, x + job->x_stride, w0, w1);
    }
    if (rows > 2) {
        sums.r2 = sparse_row_step(sums.r2, x + 2 * job->x_stride, w0, w1);
    }
    if (rows > 3) {
        sums.r3 = sparse_row_step(sums.r3, x + 3 * job->x_stride, w0, w1);
    }
    return sums;
}

SPARSE_INLINE void sparse_finish_row(const tile_job *job, const uint32_t row, sparse_row sums)
{
    float *y = job->y + row * job->y_stride;
    const uint32_t lanes = job->last_lanes;
    store_lanes(y, finish(job, load_constants(job, 0), row, sums.v0), job->relu,
                lanes < LANES ? lanes : LANES);
    if (VECTORS > 1 && lanes > LANES) {
        store_lanes(y + LANES, finish(job, load_constants(job, 1), row, sums.v1), job->relu,
                    lanes - LANES);
    }
}

SPARSE_INLINE void sparse_compute(const tile_job *shared, const uint16_t *columns,
                                  const uint32_t rows)
{
    const tile_job job = *shared; /* a copy of our own: stores to y can't be thought to change it */
    const uint32_t sums_count = rows * VECTORS;
    const uint32_t chains = sums_count >= ACCUMULATORS_MIN       ? 1
                            : sums_count * 2 >= ACCUMULATORS_MIN ? 2
                                                                 : 4;
    const unsigned char *block = job.weights;
    sparse_sums first = sparse_zero();
    sparse_sums second = first;
    sparse_sums third = first;
    sparse_sums fourth = first;

    uint32_t left = job.steps;
    for (; left >= chains; left -= chains) {
        first = sparse_step(first, &job, columns[0], block, rows);
        if (chains > 1) {
            second = sparse_step(second, &job, columns[1], block + AQ_BLOCK_BYTES, rows);
        }
        if (chains > 2) {
            third = sparse_step(third, &job, columns[2], block + 2 * AQ_BLOCK_BYTES, rows);
            fourth = sparse_step(fourth, &job, columns[3], block + 3 * AQ_BLOCK_BYTES, rows);
        }
        columns += chains;
        block += chains * AQ_BLOCK_BYTES;
    }
    if (chains > 1) {
        for (; left > 0; left--) {
            first = sparse_step(first, &job, *columns++, block, rows);
            block += AQ_BLOCK_BYTES;
        }
        first = sparse_add(first, second);
    }
    if (chains > 2) {
        first = sparse_add(first, sparse_add(third, fourth));
    }

    sparse_finish_row(&job, 0, first.r0);
    if (rows > 1) {
        sparse_finish_row(&job, 1, first.r1);
    }
    if (rows > 2) {
        sparse_finish_row(&job, 2, first.r2);
    }
    if (rows > 3) {
        sparse_finish_row(&job, 3, first.r3);
    }
}

static void sparse_compute_1(const tile_job *job, const uint16_t *columns)
{
    sparse_compute(job, columns, 1);
}

static void sparse_compute_2(const tile_job *job, const uint16_t *columns)
{
    sparse_compute(job, columns, 2);
}

static void sparse_compute_3(const tile_job *job, const uint16_t *columns)
{
    sparse_compute(job, columns, 3);
}

static void sparse_compute_4(const tile_job *job, const uint16_t *columns)
{
    sparse_compute(job, columns, 4);
}

/* --- the walk over a layer --- */

/* One row of blocks, for all rows; `job` is at the first of them, and moves on. */
static void sparse_rows(tile_job *job, const uint16_t *columns, const aq_kernel_input *input)
{
    static void (*const computes[SPARSE_ROWS])(const tile_job *job, const uint16_t *columns) = {
        sparse_compute_1, sparse_compute_2, sparse_compute_3, sparse_compute_4};
    float *y = job->y;
    for (size_t row = 0; row < input->rows; row += SPARSE_ROWS) {
        const size_t rows = input->rows - row < SPARSE_ROWS ? input->rows - row : SPARSE_ROWS;
        job->x = input->q + row * input->q_stride;
        job->quant = input->quant + row;
        job->y = y + row * job->y_stride;
        computes[rows - 1](job, columns);
    }
}

static void sparse_layer(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                         size_t y_stride)
{
    const sparse_weights weights = sparse_find(layer);
    for (uint32_t row = 0; row < aq_block_row_count(layer->outputs); row++) {
        const uint32_t output = row * AQ_BLOCK_ROWS;
        const uint32_t left = layer->outputs - output;
        const uint32_t first = weights.first[row];
        tile_job job = {
            .weights = weights.blocks + (size_t)first * AQ_BLOCK_BYTES,
            .scale = layer->scale + output,
            .sum = layer->sum + output,
            .bias = layer->bias + output,
            .x_stride = input->q_stride,
            .y = y + output,
            .y_stride = y_stride,
            .steps = weights.first[row + 1] - first,
            .last_lanes = left < AQ_BLOCK_ROWS ? left : AQ_BLOCK_ROWS,
            .relu = layer->activation == AQ_ACTIVATION_RELU,
        };
        sparse_rows(&job, weights.columns + first, input);
    }
}

#endif
