/*
 * Layers of int8 blocks of which some are missing, from none of them to all: the reference's bits.
 */
#include <math.h>
#include <string.h>

#include "tests/kernels/layer_check.h"

/* Whole blocks: up to 15 rows and 3 columns more than the weights. */
static int8_t levels[(LAYER_WIDTH_MAX + AQ_BLOCK_ROWS) * (LAYER_WIDTH_MAX + AQ_BLOCK_COLUMNS) / 8];
static uint8_t mask[sizeof(levels) / AQ_BLOCK_BYTES];
static float scale[LAYER_WIDTH_MAX];
static int32_t sum[LAYER_WIDTH_MAX];
static float bias[LAYER_WIDTH_MAX];

enum { PERCENT_ALL = 100 };

/* A block's levels, zero where the matrix ends before it. */
static void fill_block(aq_rng *rng, enum fill fill, const layer_shape *shape, uint32_t row,
                       uint32_t column, int8_t *block)
{
    for (uint32_t r = 0; r < AQ_BLOCK_ROWS; r++) {
        for (uint32_t c = 0; c < AQ_BLOCK_COLUMNS; c++) {
            const bool inside = row + r < shape->outputs && column + c < shape->inputs;
            const int32_t level = inside ? filled(rng, fill, -127, 127) : 0;
            block[r * AQ_BLOCK_COLUMNS + c] = (int8_t)level;
            if (inside) {
                sum[row + r] += level;
            }
        }
    }
}

/* Returns the number of blocks. */
static size_t fill_blocks(aq_rng *rng, enum fill fill, uint32_t percent, const layer_shape *shape)
{
    const size_t mask_row_bytes = aq_block_mask_row_bytes(shape->inputs);
    const uint32_t rows = aq_block_row_count(shape->outputs);
    size_t blocks = 0;
    memset(mask, 0, rows * mask_row_bytes);
    memset(sum, 0, sizeof(sum));
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < aq_block_column_count(shape->inputs); column++) {
            if (aq_rng_below(rng, PERCENT_ALL) < percent) {
                mask[row * mask_row_bytes + column / 8] |= (uint8_t)(1u << (column % 8));
                fill_block(rng, fill, shape, row * AQ_BLOCK_ROWS, column * AQ_BLOCK_COLUMNS,
                           levels + blocks * AQ_BLOCK_BYTES);
                blocks++;
            }
        }
    }
    for (uint32_t o = 0; o < shape->outputs; o++) {
        scale[o] = fabsf(random_scaled(rng, -20, 4));
    }
    fill_bias(rng, shape->outputs, bias);
    return blocks;
}

static void check_case(kernel_check *check, const layer_case *at, enum fill fill, uint32_t percent)
{
    output_pair y;
    const size_t blocks = fill_blocks(&check->rng, fill, percent, &at->shape);
    const aq_snapshot_layer layer = {
        .format = AQ_FORMAT_INT8_SPARSE,
        .weights = levels,
        .scale = scale,
        .sum = sum,
        .mask = mask,
        .bias = bias,
        .sizes =
            aq_format_sizes(AQ_FORMAT_INT8_SPARSE, at->shape.outputs, at->shape.inputs, blocks),
    };
    const aq_kernel_input input =
        random_levels(&check->rng, at, fill == FILL_RANDOM ? FILL_RANDOM : FILL_GREATEST);
    run_layer(check, at, &layer, &input, &y);
    kernel_check_case(check, same_bits(&y),
                      "int8-sparse %u to %u, %zu rows, %u %% of the blocks, fill %d, activation %u",
                      at->shape.inputs, at->shape.outputs, at->rows, percent, (int)fill,
                      at->activation);
    output_pair_fini(&y);
}

void check_linear_sparse(kernel_check *check)
{
    static const uint32_t shares[] = {0, 5, 50, PERCENT_ALL};
    layer_case at;
    for (size_t i = 0; layer_case_at(check, i, &at); i++) {
        for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
            check_case(check, &at, FILL_RANDOM, shares[s]);
        }
        check_case(check, &at, FILL_GREATEST, 50);
        check_case(check, &at, FILL_LEAST, PERCENT_ALL);
    }
}
