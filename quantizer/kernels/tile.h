/*
 * The register tile: the matrix product that the vector rungs share, written once as a template.
 * A file of one instruction set and one format includes tile_job.h, defines what is listed here,
 * and includes this; then tile_packed_bytes, tile_pack and tile_layer are its kernel.
 *
 *   LANES                outputs in one vector: a block
 *   TILE_BLOCKS          blocks in a full tile, 2 to 4
 *   TILE_ROWS            rows in a full tile, 4 or 8; left out, 4
 *   ACCUMULATORS_MIN     independent sums that hide the latency of one multiply-add
 *   TILE_REGISTERS       of a processor whose sums are in the order of qkernels.h; left out, in any
 *   WEIGHT_UNIT_BYTES    a unit of weights; left out where it is as large as a unit of activations
 *   TILE_AHEAD_LINES     lines of a step's weights that are asked for ahead of time, 1 to 4,
 *   TILE_AHEAD_BYTES     and how far ahead; left out, all of them and 4 KiB
 *   accumulator, weight_vector, input_vector, block_constants
 *   accumulator_zero(), accumulator_add(a, b)
 *   load_weight(bytes)                      a block's weights for one step, from aligned memory
 *   broadcast(bytes)                        one unit of activations, for all lanes
 *   multiply_add(sum, x, weight)
 *   load_constants(job, block)              what finishing a block needs, whatever the row
 *   finish(job, constants, row, sum)        the results before ReLU
 *   store_lanes(y, result, relu, lanes)     the first `lanes` of them; ReLU is v < 0 ? 0 : v
 *
 * A unit is what one step takes of every row: of activations four bytes, which are four int8 inputs
 * or one float, and of weights as many numbers, which may be narrower (fp16 beside floats). The
 * packed weights are [tile][step][block of the tile][lane][unit], so that a tile is one forward
 * stream of memory; outputs are padded with zeros to whole blocks, and only the store of the last
 * block is cut. Tiles are the outer loop and rows the inner one: a tile's weights come from far
 * away once, and from a nearer cache for every further TILE_ROWS rows. A weight vector that is
 * loaded serves up to so many rows. A tile with few accumulators spreads its steps over more
 * chains; where the order of the sums is given, one with many has to take its chains in turns.
 * Weights that outgrow the second-level cache are asked for ahead of time: what a core does by
 * itself depends on where things happen to lie (1.2 times as fast on a bad day; below that size,
 * 1.2 times slower).
 *
 * No loop runs over accumulators, because GCC and clang both keep members of a structure in
 * registers but neither does so reliably for arrays that loops walk.
 */
#ifndef AQ_QUANTIZER_KERNELS_TILE_H
#define AQ_QUANTIZER_KERNELS_TILE_H

#include <string.h>

#include "quantizer/kernels/tile_job.h"

#define TILE_INLINE static inline __attribute__((always_inline))

#ifndef WEIGHT_UNIT_BYTES
#define WEIGHT_UNIT_BYTES 4
#endif

#ifndef TILE_ROWS
#define TILE_ROWS 4
#endif

#ifndef TILE_AHEAD_LINES
#define TILE_AHEAD_LINES 4
#define TILE_AHEAD_BYTES 4096
#endif

enum {
    UNIT_BYTES = 4,
    BLOCK_STEP_BYTES = LANES * WEIGHT_UNIT_BYTES,
    TURN_STEPS = 4, /* of the loop, so few that the processor foresees their end */
    LINE_BYTES = 64,
    FAR_BYTES_MIN = 1 << 20, /* a layer's weights, from which on it pays */
};

#include "quantizer/kernels/tile_pack.h"

/* --- the tile, of `rows` x `blocks` accumulators; both are constants where this is inlined --- */

typedef struct tile_weights {
    weight_vector b0, b1, b2, b3;
} tile_weights;

typedef struct tile_row {
    accumulator b0, b1, b2, b3;
} tile_row;

typedef struct tile_sums {
    tile_row r0, r1, r2, r3, r4, r5, r6, r7;
} tile_sums;

TILE_INLINE tile_sums tile_zero(void)
{
    const accumulator zero = accumulator_zero();
    const tile_row row = {zero, zero, zero, zero};
    return (tile_sums){row, row, row, row, row, row, row, row};
}

TILE_INLINE tile_row tile_row_add(tile_row a, tile_row b)
{
    return (tile_row){accumulator_add(a.b0, b.b0), accumulator_add(a.b1, b.b1),
                      accumulator_add(a.b2, b.b2), accumulator_add(a.b3, b.b3)};
}

TILE_INLINE tile_sums tile_add(tile_sums a, tile_sums b)
{
    return (tile_sums){tile_row_add(a.r0, b.r0), tile_row_add(a.r1, b.r1), tile_row_add(a.r2, b.r2),
                       tile_row_add(a.r3, b.r3), tile_row_add(a.r4, b.r4), tile_row_add(a.r5, b.r5),
                       tile_row_add(a.r6, b.r6), tile_row_add(a.r7, b.r7)};
}

TILE_INLINE tile_row tile_row_step(tile_row row, const unsigned char *x, tile_weights weights,
                                   const uint32_t blocks)
{
    const input_vector unit = broadcast(x);
    row.b0 = multiply_add(row.b0, unit, weights.b0);
    if (blocks > 1) {
        row.b1 = multiply_add(row.b1, unit, weights.b1);
    }
    if (blocks > 2) {
        row.b2 = multiply_add(row.b2, unit, weights.b2);
    }
    if (blocks > 3) {
        row.b3 = multiply_add(row.b3, unit, weights.b3);
    }
    return row;
}

TILE_INLINE void tile_prefetch_line(const unsigned char *from, size_t line)
{
    /* As a number: past the end of the weights there is no pointer. */
    __builtin_prefetch((const void *)((uintptr_t)from + TILE_AHEAD_BYTES + line * LINE_BYTES));
}

/* Of the weights of the step that is TILE_AHEAD_BYTES after this one. */
TILE_INLINE void tile_prefetch(const unsigned char *from, const uint32_t blocks)
{
    const uint32_t all = (blocks * BLOCK_STEP_BYTES + LINE_BYTES - 1) / LINE_BYTES;
    const uint32_t lines = all < TILE_AHEAD_LINES ? all : TILE_AHEAD_LINES;
    tile_prefetch_line(from, 0);
    if (lines > 1) {
        tile_prefetch_line(from, 1);
    }
    if (lines > 2) {
        tile_prefetch_line(from, 2);
    }
    if (lines > 3) {
        tile_prefetch_line(from, 3);
    }
}

/* sums (rows, blocks * LANES) += x (rows, unit) . weights (blocks * LANES, unit) */
TILE_INLINE tile_sums tile_step(tile_sums sums, const unsigned char *x, size_t x_stride,
                                const unsigned char *from, const uint32_t rows,
                                const uint32_t blocks, const bool far)
{
    if (far) {
        tile_prefetch(from, blocks);
    }
    tile_weights weights;
    weights.b0 = load_weight(from);
    weights.b1 = blocks > 1 ? load_weight(from + BLOCK_STEP_BYTES) : weights.b0;
    weights.b2 = blocks > 2 ? load_weight(from + 2 * BLOCK_STEP_BYTES) : weights.b0;
    weights.b3 = blocks > 3 ? load_weight(from + 3 * BLOCK_STEP_BYTES) : weights.b0;

    sums.r0 = tile_row_step(sums.r0, x, weights, blocks);
    if (rows > 1) {
        sums.r1 = tile_row_step(sums.r1, x + x_stride, weights, blocks);
    }
    if (rows > 2) {
        sums.r2 = tile_row_step(sums.r2, x + 2 * x_stride, weights, blocks);
    }
    if (rows > 3) {
        sums.r3 = tile_row_step(sums.r3, x + 3 * x_stride, weights, blocks);
    }
    if (rows > 4) {
        sums.r4 = tile_row_step(sums.r4, x + 4 * x_stride, weights, blocks);
    }
    if (rows > 5) {
        sums.r5 = tile_row_step(sums.r5, x + 5 * x_stride, weights, blocks);
    }
    if (rows > 6) {
        sums.r6 = tile_row_step(sums.r6, x + 6 * x_stride, weights, blocks);
    }
    if (rows > 7) {
        sums.r7 = tile_row_step(sums.r7, x + 7 * x_stride, weights, blocks);
    }
    return sums;
}

typedef struct tile_column {
    accumulator r0, r1, r2, r3, r4, r5, r6, r7;
} tile_column;

/* One block of every row: the constants are loaded once. */
TILE_INLINE void tile_finish_block(const tile_job *job, const uint32_t block, const uint32_t rows,
                                   tile_column column, const uint32_t lanes)
{
    const block_constants constants = load_constants(job, block);
    float *y = job->y + block * LANES;
    const size_t y_stride = job->y_stride;
    const bool relu = job->relu;

    store_lanes(y, finish(job, constants, 0, column.r0), relu, lanes);
    if (rows > 1) {
        store_lanes(y + y_stride, finish(job, constants, 1, column.r1), relu, lanes);
    }
    if (rows > 2) {
        store_lanes(y + 2 * y_stride, finish(job, constants, 2, column.r2), relu, lanes);
    }
    if (rows > 3) {
        store_lanes(y + 3 * y_stride, finish(job, constants, 3, column.r3), relu, lanes);
    }
    if (rows > 4) {
        store_lanes(y + 4 * y_stride, finish(job, constants, 4, column.r4), relu, lanes);
    }
    if (rows > 5) {
        store_lanes(y + 5 * y_stride, finish(job, constants, 5, column.r5), relu, lanes);
    }
    if (rows > 6) {
        store_lanes(y + 6 * y_stride, finish(job, constants, 6, column.r6), relu, lanes);
    }
    if (rows > 7) {
        store_lanes(y + 7 * y_stride, finish(job, constants, 7, column.r7), relu, lanes);
    }
}

TILE_INLINE void tile_finish(const tile_job *job, tile_sums s, const uint32_t rows,
                             const uint32_t blocks)
{
    const uint32_t last = job->last_lanes;
    tile_finish_block(
        job, 0, rows,
        (tile_column){s.r0.b0, s.r1.b0, s.r2.b0, s.r3.b0, s.r4.b0, s.r5.b0, s.r6.b0, s.r7.b0},
        blocks > 1 ? LANES : last);
    if (blocks > 1) {
        tile_finish_block(
            job, 1, rows,
            (tile_column){s.r0.b1, s.r1.b1, s.r2.b1, s.r3.b1, s.r4.b1, s.r5.b1, s.r6.b1, s.r7.b1},
            blocks > 2 ? LANES : last);
    }
    if (blocks > 2) {
        tile_finish_block(
            job, 2, rows,
            (tile_column){s.r0.b2, s.r1.b2, s.r2.b2, s.r3.b2, s.r4.b2, s.r5.b2, s.r6.b2, s.r7.b2},
            blocks > 3 ? LANES : last);
    }
    if (blocks > 3) {
        tile_finish_block(
            job, 3, rows,
            (tile_column){s.r0.b3, s.r1.b3, s.r2.b3, s.r3.b3, s.r4.b3, s.r5.b3, s.r6.b3, s.r7.b3},
            last);
    }
}

#include "quantizer/kernels/tile_chains.h"

TILE_INLINE void tile_compute(const tile_job *shared, const uint32_t rows, const uint32_t blocks,
                              const bool far)
{
    const tile_job job = *shared; /* a copy of our own: stores to y can't be thought to change it */
    tile_finish(&job, tile_sum(&job, rows, blocks, far), rows, blocks);
}

/* --- the shapes, and the walk over a layer --- */

#define TILE_DEFINE_4(name, blocks, far)                                                           \
    static void name##_1(const tile_job *job)                                                      \
    {                                                                                              \
        tile_compute(job, 1, blocks, far);                                                         \
    }                                                                                              \
    static void name##_2(const tile_job *job)                                                      \
    {                                                                                              \
        tile_compute(job, 2, blocks, far);                                                         \
    }                                                                                              \
    static void name##_3(const tile_job *job)                                                      \
    {                                                                                              \
        tile_compute(job, 3, blocks, far);                                                         \
    }                                                                                              \
    static void name##_4(const tile_job *job)                                                      \
    {                                                                                              \
        tile_compute(job, 4, blocks, far);                                                         \
    }
#if TILE_ROWS == 8
#define TILE_DEFINE(name, blocks, far)                                                             \
    TILE_DEFINE_4(name, blocks, far)                                                               \
    static void name##_5(const tile_job *job)                                                      \
    {                                                                                              \
        tile_compute(job, 5, blocks, far);                                                         \
    }                                                                                              \
    static void name##_6(const tile_job *job)                                                      \
    {                                                                                              \
        tile_compute(job, 6, blocks, far);                                                         \
    }                                                                                              \
    static void name##_7(const tile_job *job)                                                      \
    {                                                                                              \
        tile_compute(job, 7, blocks, far);                                                         \
    }                                                                                              \
    static void name##_8(const tile_job *job)                                                      \
    {                                                                                              \
        tile_compute(job, 8, blocks, far);                                                         \
    }
#define TILE_TABLE(name)                                                                           \
    {                                                                                              \
        name##_1, name##_2, name##_3, name##_4, name##_5, name##_6, name##_7, name##_8             \
    }
#else
#define TILE_DEFINE TILE_DEFINE_4
#define TILE_TABLE(name)                                                                           \
    {                                                                                              \
        name##_1, name##_2, name##_3, name##_4                                                     \
    }
#endif

TILE_DEFINE(tile_one, 1, false)
TILE_DEFINE(tile_two, 2, false)
#if TILE_BLOCKS > 2
TILE_DEFINE(tile_three, 3, false)
#endif
#if TILE_BLOCKS > 3
TILE_DEFINE(tile_four, 4, false)
#endif
TILE_DEFINE(tile_far, TILE_BLOCKS, true)

typedef void tile_function(const tile_job *job);

/* [blocks - 1][rows - 1]; the last is the full tile of a layer whose weights are far. */
static tile_function *const tile_table[TILE_BLOCKS + 1][TILE_ROWS] = {
    TILE_TABLE(tile_one),   TILE_TABLE(tile_two),
#if TILE_BLOCKS > 2
    TILE_TABLE(tile_three),
#endif
#if TILE_BLOCKS > 3
    TILE_TABLE(tile_four),
#endif
    TILE_TABLE(tile_far),
};

/* Rows in the next tile where `left` are left: the last two share what is left. */
static size_t tile_height(size_t left)
{
    if (left <= TILE_ROWS) {
        return left;
    }
    return left < 2 * TILE_ROWS ? (left + 1) / 2 : TILE_ROWS;
}

/* One tile, `width` blocks wide, for all rows; `job` is at the first of them, and moves on. By
 * address: as a value it would be copied in vectors, right after it was written in words. */
static void tile_rows(tile_job *job, const aq_kernel_input *input, uint32_t width, bool far)
{
    const unsigned char *x = job->x;
    float *y = job->y;
    /* After the first rows the weights are near. */
    uint32_t shape = far && width == TILE_BLOCKS ? TILE_BLOCKS : width - 1;
    for (size_t row = 0, rows; row < input->rows; row += rows) {
        rows = tile_height(input->rows - row);
        job->x = x + row * job->x_stride;
        job->quant = input->quant == NULL ? NULL : input->quant + row;
        job->y = y + row * job->y_stride;
        tile_table[shape][rows - 1](job);
        shape = width - 1;
    }
}

/* `x` is the bytes of q or the floats, rows x_stride (bytes) apart. What tiles have in common is
 * written once: a tile of one row takes hardly longer than writing all of it. */
static void tile_layer(const aq_packed_layer *layer, size_t row_bytes, const void *x,
                       size_t x_stride, const aq_kernel_input *input, float *y, size_t y_stride)
{
    const uint32_t steps = tile_steps(row_bytes);
    const uint32_t pieces = input->pieces > 0 ? input->pieces : 1;
    const bool far = tile_packed_bytes(row_bytes, layer->outputs) > FAR_BYTES_MIN;
    tile_job job = {
        .weights = layer->weights,
        .scale = layer->scale,
        .sum = layer->sum,
        .bias = layer->bias,
        .x_stride = x_stride,
        .piece_stride = input->piece_stride,
        .y_stride = y_stride,
        .pieces = pieces,
        .steps = steps / pieces,
        .last_lanes = LANES,
        .relu = layer->activation == AQ_ACTIVATION_RELU,
        .chains = aq_float_chains(layer->inputs, layer->outputs),
    };
    uint32_t output = 0;
    for (uint32_t left = tile_block_count(layer->outputs), width; left > 0; left -= width) {
        width = tile_width(left);
        if (width == left) {
            job.last_lanes = (layer->outputs - 1) % LANES + 1;
        }
        job.x = x;
        job.y = y + output;
        tile_rows(&job, input, width, far);
        job.weights += (size_t)width * steps * BLOCK_STEP_BYTES;
        job.scale += width * LANES;
        job.sum += width * LANES;
        job.bias += width * LANES;
        output += width * LANES;
    }
}

#endif
