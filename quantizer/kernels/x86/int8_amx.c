/*
 * int8 layers of several rows with AMX: tdpbusd multiplies a tile of up to 16 rows of activations
 * by a tile of 16 outputs, 64 inputs of each at most, and adds to 16 by 16 int32, exactly.
 *
 * Weights are packed as VNNI has them (tile.h): what a block of outputs takes at 16 steps is a tile
 * of weights where it lies. So a layer goes to VNNI's kernel or to this one as a call has few rows
 * or many. Tiles of a call are equally high, so that registers get their shape once: where rows
 * don't divide, the last tile begins before the one before it ends, and some are computed twice.
 */
#include "common/sys/tiles.h"
#include "quantizer/kernels/x86/dot_vnni.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

enum {
    WEIGHT_UNIT_BYTES = AQ_TILE_UNIT,
    WEIGHT_BYTES = 1,
    BLOCK_STEP_BYTES = LANES * WEIGHT_UNIT_BYTES,
};

#include "quantizer/kernels/tile_pack.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    SUMS = AQ_TILE_ROWS * LANES,
    /* What is less is VNNI's. Giving registers their shape takes 50 ns, and a product of tiles as
     * long whatever they have in them. */
    ROWS_LEAST = 4,
    STEPS_LEAST = 6, /* of a tile of weights */
    PRODUCTS_LEAST = 48 * 1024,
};

_Static_assert(TILE_BLOCKS == 3, "as many registers there are for sums, and for weights");

/* The sums of `blocks` blocks for the rows at job->x, `steps` steps at a time. Registers 0 to 2 are
 * sums, 4 is activations, 5 to 7 are the weights of as many blocks. Their numbers are part of the
 * instructions. */
INLINE void multiply_tiles(const tile_job *job, uint32_t steps, const uint32_t blocks,
                           int32_t sums[][SUMS])
{
    const size_t stride = (size_t)blocks * BLOCK_STEP_BYTES;
    const unsigned char *from = job->weights;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    for (uint32_t piece = 0; piece < job->pieces; piece++) {
        const unsigned char *x = job->x + piece * job->piece_stride;
        for (uint32_t step = 0; step < job->steps; step += steps) {
            _tile_loadd(4, x, job->x_stride);
            _tile_loadd(5, from, stride);
            _tile_dpbusd(0, 4, 5);
            if (blocks > 1) {
                _tile_loadd(6, from + BLOCK_STEP_BYTES, stride);
                _tile_dpbusd(1, 4, 6);
            }
            if (blocks > 2) {
                _tile_loadd(7, from + 2 * BLOCK_STEP_BYTES, stride);
                _tile_dpbusd(2, 4, 7);
            }
            x += steps * WEIGHT_UNIT_BYTES;
            from += steps * stride;
        }
    }
    _tile_stored(0, sums[0], BLOCK_STEP_BYTES);
    if (blocks > 1) {
        _tile_stored(1, sums[1], BLOCK_STEP_BYTES);
    }
    if (blocks > 2) {
        _tile_stored(2, sums[2], BLOCK_STEP_BYTES);
    }
}

/* `quant` is a copy where rows share it: so no store to y can be thought to change it. */
INLINE void finish_rows(const tile_job *job, const aq_row_quant *quant, const bool is_shared,
                        uint32_t block, uint32_t rows, const int32_t *sums, uint32_t lanes)
{
    const block_constants constants = load_constants(job, block);
    float *y = job->y + block * LANES;
    const size_t y_stride = job->y_stride;
    const bool relu = job->relu;
    for (uint32_t row = 0; row < rows; row++, sums += LANES, y += y_stride) {
        const tile_job now = {.quant = is_shared ? quant : quant + row};
        store_lanes(y, finish(&now, constants, 0, load_ints(sums)), relu, lanes);
    }
}

static void finish_block(const tile_job *job, uint32_t block, uint32_t rows, const int32_t *sums,
                         uint32_t lanes)
{
    if (job->shares_quant) {
        const aq_row_quant shared = job->quant[0];
        finish_rows(job, &shared, true, block, rows, sums, lanes);
    } else {
        finish_rows(job, job->quant, false, block, rows, sums, lanes);
    }
}

/* `rows` rows of `blocks` blocks, the last of which may be cut. */
static void compute_tile(const tile_job *job, uint32_t steps, uint32_t rows, uint32_t blocks)
{
    _Alignas(64) int32_t sums[TILE_BLOCKS][SUMS];
    switch (blocks) {
    case 1:
        multiply_tiles(job, steps, 1, sums);
        break;
    case 2:
        multiply_tiles(job, steps, 2, sums);
        break;
    default:
        multiply_tiles(job, steps, 3, sums);
        break;
    }
    for (uint32_t block = 0; block < blocks; block++) {
        finish_block(job, block, rows, sums[block],
                     block + 1 < blocks ? (uint32_t)LANES : job->last_lanes);
    }
}

/* `blocks` blocks for all rows of all lines; `job` is at the first of them. */
static void compute_blocks(tile_job job, const aq_kernel_input *input, uint32_t steps,
                           uint32_t height, uint32_t blocks)
{
    const unsigned char *x = job.x;
    float *y = job.y;
    for (uint32_t line = 0; line == 0 || line < input->lines; line++) {
        for (size_t done = 0; done < input->rows; done += height) {
            const size_t row = done + height <= input->rows ? done : input->rows - height;
            job.x = x + row * job.x_stride;
            job.quant = job.shares_quant ? input->quant : input->quant + row;
            job.y = y + row * job.y_stride;
            compute_tile(&job, steps, height, blocks);
        }
        x += input->line_stride;
        y += input->rows * job.y_stride;
    }
}

static bool pays(const aq_packed_layer *layer, const aq_kernel_input *input, uint32_t steps)
{
    const size_t rows = input->rows * (input->lines > 0 ? input->lines : 1);
    const size_t outputs = (size_t)tile_block_count(layer->outputs) * LANES;
    return input->rows >= ROWS_LEAST && steps >= STEPS_LEAST &&
           rows * layer->inputs * outputs >= PRODUCTS_LEAST;
}

static void run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride)
{
    const uint32_t all_steps = tile_steps(layer->inputs);
    const uint32_t pieces = input->pieces > 0 ? input->pieces : 1;
    const uint32_t steps = aq_tile_units_of(all_steps / pieces);
    if (!pays(layer, input, steps)) {
        aq_int8_avx512vnni.run(layer, input, y, y_stride);
        return;
    }
    const uint32_t height = aq_tile_height_of((uint32_t)input->rows);
    const aq_tile_shapes shapes = aq_tile_shapes_of(height, steps, 4, 5);
    tile_job job = {
        .weights = layer->weights,
        .scale = layer->scale,
        .sum = layer->sum,
        .bias = layer->bias,
        .x = input->q,
        .x_stride = input->q_stride,
        .piece_stride = input->piece_stride,
        .y = y,
        .y_stride = y_stride,
        .pieces = pieces,
        .steps = all_steps / pieces,
        .last_lanes = LANES,
        .relu = layer->activation == AQ_ACTIVATION_RELU,
        .shares_quant = input->lines > 0,
    };
    aq_tile_shapes_written(&shapes);
    _tile_loadconfig(&shapes);
    for (uint32_t left = tile_block_count(layer->outputs), width; left > 0; left -= width) {
        width = tile_width(left);
        if (width == left) {
            job.last_lanes = (layer->outputs - 1) % LANES + 1;
        }
        compute_blocks(job, input, steps, height, width);
        job.weights += (size_t)width * all_steps * BLOCK_STEP_BYTES;
        job.scale += width * LANES;
        job.sum += width * LANES;
        job.bias += width * LANES;
        job.y += width * LANES;
    }
    _tile_release();
}

const aq_linear_kernel aq_int8_amx = {.quantizes_input = true,
                                      .takes_pieces = true,
                                      .pack_writes_all = true,
                                      .packed_bytes = tile_packed_bytes,
                                      .pack = tile_pack,
                                      .run = run};
