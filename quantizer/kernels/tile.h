/*
 * The register tile: the matrix product that the vector rungs share, written once as a template.
 * A file of one instruction set and one format includes tile_job.h, defines what is listed here,
 * and includes this; then tile_packed_bytes, tile_pack and tile_layer are its kernel.
 *
 *   LANES                outputs in one vector: a block
 *   TILE_BLOCKS          blocks in a full tile, 2 to 4
 *   TILE_ROWS            rows in a full tile, 4 or 8; left out, 4
 *   TILE_TALL_ROWS       rows in a tile of no more than two blocks, up to 10; left out, TILE_ROWS
 *   ACCUMULATORS_MIN     independent sums that hide the latency of one multiply-add
 *   TILE_REGISTERS       of a processor whose sums are in the order of qkernels.h; left out, in any
 *   WEIGHT_UNIT_BYTES    a unit of weights; left out where it is as large as a unit of activations
 *   WEIGHT_BYTES         of one weight
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
 * 1.2 times slower). Where it always reads one row's weights well by itself, it is left alone.
 *
 * No loop runs over accumulators, because GCC and clang both keep members of a structure in
 * registers but neither does so reliably for arrays that loops walk: macros go through the rows.
 */
#ifndef AQ_QUANTIZER_KERNELS_TILE_H
#define AQ_QUANTIZER_KERNELS_TILE_H

#include <string.h>

#include "common/sys/cpu.h"
#include "quantizer/kernels/tile_job.h"

#define TILE_INLINE static inline __attribute__((always_inline))

#ifndef WEIGHT_UNIT_BYTES
#define WEIGHT_UNIT_BYTES 4
#endif

#ifndef TILE_ROWS
#define TILE_ROWS 4
#endif

#ifndef TILE_TALL_ROWS
#define TILE_TALL_ROWS TILE_ROWS
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

#define TILE_EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)

typedef struct tile_sums {
#define TILE_MEMBER(n) tile_row r##n;
    TILE_EACH_ROW(TILE_MEMBER)
#undef TILE_MEMBER
} tile_sums;

TILE_INLINE tile_sums tile_zero(void)
{
    const accumulator zero = accumulator_zero();
    const tile_row row = {zero, zero, zero, zero};
#define TILE_ZERO(n) row,
    return (tile_sums){TILE_EACH_ROW(TILE_ZERO)};
#undef TILE_ZERO
}

TILE_INLINE tile_row tile_row_add(tile_row a, tile_row b)
{
    return (tile_row){accumulator_add(a.b0, b.b0), accumulator_add(a.b1, b.b1),
                      accumulator_add(a.b2, b.b2), accumulator_add(a.b3, b.b3)};
}

TILE_INLINE tile_sums tile_add(tile_sums a, tile_sums b)
{
#define TILE_ADD(n) tile_row_add(a.r##n, b.r##n),
    return (tile_sums){TILE_EACH_ROW(TILE_ADD)};
#undef TILE_ADD
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

#define TILE_STEP(n)                                                                               \
    if (rows > n) {                                                                                \
        sums.r##n = tile_row_step(sums.r##n, x + n * x_stride, weights, blocks);                   \
    }
    TILE_EACH_ROW(TILE_STEP)
#undef TILE_STEP
    return sums;
}

typedef struct tile_column {
#define TILE_MEMBER(n) accumulator r##n;
    TILE_EACH_ROW(TILE_MEMBER)
#undef TILE_MEMBER
} tile_column;

/* One block of every row: the constants are loaded once, and so is what they make together with a
 * quant that rows share: it is a copy that stores to y can't be thought to change. */
TILE_INLINE void tile_finish_block(const tile_job *job, const uint32_t block, const uint32_t rows,
                                   tile_column column, const uint32_t lanes)
{
    const block_constants constants = load_constants(job, block);
    float *y = job->y + block * LANES;
    const size_t y_stride = job->y_stride;
    const bool relu = job->relu;

#define TILE_FINISH(of, row, n)                                                                    \
    if (rows > n) {                                                                                \
        store_lanes(y + n * y_stride, finish(of, constants, row, column.r##n), relu, lanes);       \
    }
#ifndef TILE_REGISTERS
    if (job->shares_quant) {
        const aq_row_quant quant = job->quant[0];
        const tile_job shared = {.quant = &quant};
#define TILE_FINISH_SHARED(n) TILE_FINISH(&shared, 0, n)
        TILE_EACH_ROW(TILE_FINISH_SHARED)
        return;
    }
#endif
#define TILE_FINISH_OWN(n) TILE_FINISH(job, n, n)
    TILE_EACH_ROW(TILE_FINISH_OWN)
}

TILE_INLINE void tile_finish(const tile_job *job, tile_sums s, const uint32_t rows,
                             const uint32_t blocks)
{
    const uint32_t last = job->last_lanes;
#define TILE_LANES(n) s.r##n.b0,
    tile_finish_block(job, 0, rows, (tile_column){TILE_EACH_ROW(TILE_LANES)},
                      blocks > 1 ? LANES : last);
#undef TILE_LANES
#define TILE_LANES(n) s.r##n.b1,
    if (blocks > 1) {
        tile_finish_block(job, 1, rows, (tile_column){TILE_EACH_ROW(TILE_LANES)},
                          blocks > 2 ? LANES : last);
    }
#undef TILE_LANES
#define TILE_LANES(n) s.r##n.b2,
    if (blocks > 2) {
        tile_finish_block(job, 2, rows, (tile_column){TILE_EACH_ROW(TILE_LANES)},
                          blocks > 3 ? LANES : last);
    }
#undef TILE_LANES
#define TILE_LANES(n) s.r##n.b3,
    if (blocks > 3) {
        tile_finish_block(job, 3, rows, (tile_column){TILE_EACH_ROW(TILE_LANES)}, last);
    }
#undef TILE_LANES
}

#include "quantizer/kernels/tile_chains.h"

TILE_INLINE void tile_compute(const tile_job *shared, const uint32_t rows, const uint32_t blocks,
                              const bool far)
{
    const tile_job job = *shared; /* a copy of our own: stores to y can't be thought to change it */
    tile_finish(&job, tile_sum(&job, rows, blocks, far), rows, blocks);
}

/* --- the shapes, and the walk over a layer --- */

#define TILE_HEIGHTS_4(X, ...)                                                                     \
    X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__) X(4, __VA_ARGS__)
#if TILE_ROWS == 8
#define TILE_HEIGHTS(X, ...)                                                                       \
    TILE_HEIGHTS_4(X, __VA_ARGS__)                                                                 \
    X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__) X(8, __VA_ARGS__)
#else
#define TILE_HEIGHTS TILE_HEIGHTS_4
#endif
#if TILE_TALL_ROWS == 10
#define TILE_TALL_HEIGHTS(X, ...) TILE_HEIGHTS(X, __VA_ARGS__) X(9, __VA_ARGS__) X(10, __VA_ARGS__)
#else
#define TILE_TALL_HEIGHTS TILE_HEIGHTS
#endif

#define TILE_FUNCTION(rows, name, blocks, far)                                                     \
    static void name##_##rows(const tile_job *job)                                                 \
    {                                                                                              \
        tile_compute(job, rows, blocks, far);                                                      \
    }
#define TILE_NAME(rows, name) name##_##rows,

TILE_TALL_HEIGHTS(TILE_FUNCTION, tile_one, 1, false)
TILE_TALL_HEIGHTS(TILE_FUNCTION, tile_two, 2, false)
#if TILE_BLOCKS > 2
TILE_HEIGHTS(TILE_FUNCTION, tile_three, 3, false)
#endif
#if TILE_BLOCKS > 3
TILE_HEIGHTS(TILE_FUNCTION, tile_four, 4, false)
#endif
TILE_HEIGHTS(TILE_FUNCTION, tile_far, TILE_BLOCKS, true)

typedef void tile_function(const tile_job *job);

/* [blocks - 1][rows - 1]; the last is the full tile of a layer whose weights are far. */
static tile_function *const tile_table[TILE_BLOCKS + 1][TILE_TALL_ROWS] = {
    {TILE_TALL_HEIGHTS(TILE_NAME, tile_one)}, {TILE_TALL_HEIGHTS(TILE_NAME, tile_two)},
#if TILE_BLOCKS > 2
    {TILE_HEIGHTS(TILE_NAME, tile_three)},
#endif
#if TILE_BLOCKS > 3
    {TILE_HEIGHTS(TILE_NAME, tile_four)},
#endif
    {TILE_HEIGHTS(TILE_NAME, tile_far)},
};

/* Rows in the next tile where `left` are left: the last two share what is left. */
static size_t tile_height(size_t left, size_t most)
{
    if (left <= most) {
        return left;
    }
    return left < 2 * most ? (left + 1) / 2 : most;
}

/* One tile, `width` blocks wide, for all rows of all lines; `job` is at the first of them, and
 * moves on. By address: as a value it would be copied in vectors, right after it was written in
 * words. */
static void tile_rows(tile_job *job, const aq_kernel_input *input, uint32_t width, bool far)
{
    const unsigned char *x = job->x;
    float *y = job->y;
    /* After the first rows the weights are near. */
    uint32_t shape = far && width == TILE_BLOCKS ? TILE_BLOCKS : width - 1;
    const size_t most = shape < 2 ? TILE_TALL_ROWS : TILE_ROWS;
    for (uint32_t line = 0; line == 0 || line < input->lines; line++) {
        for (size_t row = 0, rows; row < input->rows; row += rows) {
            rows = tile_height(input->rows - row, most);
            job->x = x + row * job->x_stride;
            job->quant =
                input->quant == NULL || job->shares_quant ? input->quant : input->quant + row;
            job->y = y + row * job->y_stride;
            tile_table[shape][rows - 1](job);
            shape = width - 1;
        }
        x += input->line_stride;
        y += input->rows * job->y_stride;
    }
}

/* `x` is the bytes of q or the floats, rows x_stride (bytes) apart. What tiles have in common is
 * written once: a tile of one row takes hardly longer than writing all of it. */
static void tile_layer(const aq_packed_layer *layer, const void *x, size_t x_stride,
                       const aq_kernel_input *input, float *y, size_t y_stride)
{
    const uint32_t steps = tile_steps(layer->inputs);
    const uint32_t pieces = input->pieces > 0 ? input->pieces : 1;
    const bool far = tile_packed_bytes(NULL, layer->inputs, layer->outputs) > FAR_BYTES_MIN &&
                     !(input->rows == 1 && aq_cpu_streams_alone());
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
        .shares_quant = input->lines > 0,
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
