/*
 * The sums of a layer's rows, from its levels. The levels may be anything that came in: a mask that
 * shows more blocks than there are is for aq_snapshot_validate to refuse, not to read past.
 */
#include "common/policy/snapshot.h"

/* A block's rows, of which the last ones may lie outside the matrix. */
static void add_block(const int8_t *levels, uint32_t rows, int32_t *sums)
{
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < AQ_BLOCK_COLUMNS; c++) {
            sums[r] += levels[r * AQ_BLOCK_COLUMNS + c];
        }
    }
}

static void add_blocks(const aq_snapshot_layer *layer, aq_layer_matrix_shape matrix, int32_t *sums)
{
    const size_t mask_row_bytes = aq_block_mask_row_bytes(matrix.columns);
    const int8_t *levels = layer->weights;
    size_t left = layer->sizes.weights_bytes / AQ_BLOCK_BYTES;
    for (uint32_t first = 0; first < matrix.rows; first += AQ_BLOCK_ROWS) {
        const uint8_t *mask = layer->mask + first / AQ_BLOCK_ROWS * mask_row_bytes;
        const uint32_t rows =
            matrix.rows - first < AQ_BLOCK_ROWS ? matrix.rows - first : AQ_BLOCK_ROWS;
        for (uint32_t column = 0; left > 0 && column < mask_row_bytes * 8; column++) {
            if (aq_block_is_stored(mask, column)) {
                add_block(levels, rows, sums + first);
                levels += AQ_BLOCK_BYTES;
                left--;
            }
        }
    }
}

static void add_rows(const aq_snapshot_layer *layer, aq_layer_matrix_shape matrix, int32_t *sums)
{
    for (size_t row = 0; row < matrix.rows; row++) {
        const int8_t *levels = (const int8_t *)layer->weights + row * matrix.columns;
        int32_t sum = 0;
        for (size_t i = 0; i < matrix.columns; i++) {
            sum += levels[i];
        }
        sums[row] = sum;
    }
}

void aq_snapshot_layer_add_up(aq_snapshot *snapshot, uint32_t layer)
{
    aq_snapshot_layer_data data;
    aq_snapshot_layer_edit(snapshot, layer, &data);
    const aq_snapshot_layer *view = &snapshot->layers[layer];
    const aq_layer_matrix_shape matrix = aq_layer_matrix(&snapshot->spec.layers[layer]);
    for (size_t i = 0; i < view->sizes.sums; i++) {
        data.sum[i] = 0;
    }
    if (view->sizes.sums > 0 && view->mask != NULL) {
        add_blocks(view, matrix, data.sum);
    } else if (view->sizes.sums > 0) {
        add_rows(view, matrix, data.sum);
    }
}
