/*
 * int8-sparse: which blocks are kept, and int8 levels of those.
 *
 * The blocks with the largest sum of squares over the whole layer are kept, so that what is left
 * out weighs least in the layer's output; but every row of blocks keeps its best, so that no output
 * loses all its inputs. Which of two equal blocks is kept is decided by their place.
 */
#include <float.h>
#include <math.h>

#include "common/base/memory.h"
#include "quantizer/quantize/quantize_layer.h"
#include "quantizer/quantize/rank.h"

/* Block (row, column) of a layer; the part of it that lies in the matrix. */
typedef struct block {
    uint32_t first_row, rows;
    uint32_t first_column, columns;
} block;

static block block_at(const aq_layer_matrix_shape *matrix, uint32_t row, uint32_t column)
{
    block at = {.first_row = row * AQ_BLOCK_ROWS, .first_column = column * AQ_BLOCK_COLUMNS};
    at.rows =
        matrix->rows - at.first_row < AQ_BLOCK_ROWS ? matrix->rows - at.first_row : AQ_BLOCK_ROWS;
    at.columns = matrix->columns - at.first_column < AQ_BLOCK_COLUMNS
                     ? matrix->columns - at.first_column
                     : AQ_BLOCK_COLUMNS;
    return at;
}

size_t aq_sparse_block_count(const aq_layer_matrix_shape *matrix, float density)
{
    const size_t rows = aq_block_row_count(matrix->rows);
    const size_t total = rows * aq_block_column_count(matrix->columns);
    const size_t share = (size_t)llrint((double)density * (double)total);
    const size_t kept = share < total ? share : total;
    return kept > rows ? kept : rows;
}

/* ---- which blocks --------------------------------------------------------------------------- */

static bool was_kept(const aq_quantize_layer *layer, uint32_t row, uint32_t column)
{
    return layer->previous != NULL &&
           aq_block_is_stored(layer->previous->mask +
                                  row * aq_block_mask_row_bytes(layer->matrix.columns),
                              column);
}

/* The root of the mean square: it has the order of the sum, and is never more than a float. */
static float block_weight(const aq_quantize_layer *layer, uint32_t row, uint32_t column)
{
    const block at = block_at(&layer->matrix, row, column);
    double squares = 0.0;
    for (uint32_t r = 0; r < at.rows; r++) {
        const float *w =
            layer->weights + (size_t)(at.first_row + r) * layer->matrix.columns + at.first_column;
        for (uint32_t c = 0; c < at.columns; c++) {
            squares += (double)w[c] * (double)w[c];
        }
    }
    const double root = sqrt(squares / AQ_BLOCK_BYTES);
    const double biased = was_kept(layer, row, column) ? root * AQ_QUANTIZE_BLOCK_STAYS : root;
    return biased < (double)FLT_MAX ? (float)biased : FLT_MAX;
}

/* Weights of all blocks; the best of each row of them, the first of equals, becomes infinite. */
static void weigh_blocks(const aq_quantize_layer *layer, float *weights)
{
    const uint32_t columns = aq_block_column_count(layer->matrix.columns);
    for (uint32_t row = 0; row < aq_block_row_count(layer->matrix.rows); row++) {
        float *row_weights = weights + (size_t)row * columns;
        uint32_t best = 0;
        for (uint32_t column = 0; column < columns; column++) {
            row_weights[column] = block_weight(layer, row, column);
            best = row_weights[column] > row_weights[best] ? column : best;
        }
        row_weights[best] = INFINITY;
    }
}

/* Sets the mask's bits of the `kept` heaviest blocks, the first of equals. */
static void choose_blocks(const aq_quantize_layer *layer, const float *weights, size_t kept)
{
    const uint32_t columns = aq_block_column_count(layer->matrix.columns);
    const size_t total = (size_t)aq_block_row_count(layer->matrix.rows) * columns;
    const float least = aq_rank_value(weights, total, total - kept);
    size_t equals = kept;
    for (size_t i = 0; i < total; i++) {
        equals -= weights[i] > least;
    }
    for (size_t i = 0; i < total; i++) {
        const bool takes_equal = weights[i] == least && equals > 0;
        if (weights[i] > least || takes_equal) {
            const size_t column = i % columns;
            uint8_t *row =
                layer->to.mask + i / columns * aq_block_mask_row_bytes(layer->matrix.columns);
            row[column / 8] |= (uint8_t)(1U << (column % 8));
            equals -= takes_equal;
        }
    }
}

/* ---- their levels --------------------------------------------------------------------------- */

static void block_magnitudes(const aq_quantize_layer *layer, const block *at, float *magnitudes)
{
    for (uint32_t r = 0; r < at->rows; r++) {
        const float *w =
            layer->weights + (size_t)(at->first_row + r) * layer->matrix.columns + at->first_column;
        const float greatest = aq_greatest_magnitude(w, at->columns);
        magnitudes[r] = greatest > magnitudes[r] ? greatest : magnitudes[r];
    }
}

/* A row of which nothing is kept, or only weights too small for a scale, gets scale 1. */
static void choose_scales(const aq_quantize_layer *layer, uint32_t block_row,
                          const float *magnitudes)
{
    for (uint32_t r = 0; r < AQ_BLOCK_ROWS; r++) {
        const size_t row = (size_t)block_row * AQ_BLOCK_ROWS + r;
        if (row < layer->matrix.rows) {
            const float kept = layer->previous != NULL ? layer->previous->scale[row] : 0.0f;
            const float scale = aq_quantize_scale(magnitudes[r], INT8_MAX, kept);
            layer->to.scale[row] = scale != 0.0f ? scale : 1.0f;
        }
    }
}

static void fill_block(const aq_quantize_layer *layer, const block *at, int8_t *levels)
{
    for (uint32_t r = 0; r < at->rows; r++) {
        const size_t row = (size_t)at->first_row + r;
        const float *w = layer->weights + row * layer->matrix.columns + at->first_column;
        for (uint32_t c = 0; c < at->columns; c++) {
            const int32_t level =
                aq_quantize_level(w[c], layer->to.scale[row], -INT8_MAX, INT8_MAX);
            levels[r * AQ_BLOCK_COLUMNS + c] = (int8_t)level;
            layer->to.sum[row] += level;
        }
    }
}

/* Returns where the next row's levels go. */
static int8_t *fill_block_row(const aq_quantize_layer *layer, uint32_t row, int8_t *levels)
{
    const uint32_t columns = aq_block_column_count(layer->matrix.columns);
    const uint8_t *mask = layer->to.mask + row * aq_block_mask_row_bytes(layer->matrix.columns);
    float magnitudes[AQ_BLOCK_ROWS] = {0};
    for (uint32_t column = 0; column < columns; column++) {
        if (aq_block_is_stored(mask, column)) {
            const block at = block_at(&layer->matrix, row, column);
            block_magnitudes(layer, &at, magnitudes);
        }
    }
    choose_scales(layer, row, magnitudes);
    for (uint32_t column = 0; column < columns; column++) {
        if (aq_block_is_stored(mask, column)) {
            const block at = block_at(&layer->matrix, row, column);
            fill_block(layer, &at, levels);
            levels += AQ_BLOCK_BYTES;
        }
    }
    return levels;
}

int aq_quantize_sparse(const aq_quantize_layer *layer)
{
    const uint32_t rows = aq_block_row_count(layer->matrix.rows);
    const size_t total = (size_t)rows * aq_block_column_count(layer->matrix.columns);
    float *weights = aq_alloc(total, sizeof(*weights));
    int8_t *levels = layer->to.weights;
    if (weights == NULL) {
        return aq_fail(layer->error, AQ_E_NOMEM, "quantize: layer %u: %s", layer->index,
                       aq_error_text(AQ_E_NOMEM));
    }
    weigh_blocks(layer, weights);
    choose_blocks(layer, weights, layer->view->sizes.weights_bytes / AQ_BLOCK_BYTES);
    aq_free(weights);
    for (uint32_t row = 0; row < rows; row++) {
        levels = fill_block_row(layer, row, levels);
    }
    return 0;
}
