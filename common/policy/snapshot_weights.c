/*
 * What the levels of a stored layer stand for, format by format: the definition that quantizing
 * must invert, and that error figures and inspection read. Not a fast path.
 */
#include <string.h>

#include "common/base/assert.h"
#include "common/policy/half.h"
#include "common/policy/snapshot.h"

typedef struct layer_reader {
    const aq_snapshot_layer *layer;
    aq_layer_matrix_shape matrix;
    float *out;
} layer_reader;

static void read_f32(const layer_reader *reader)
{
    memcpy(reader->out, reader->layer->weights, reader->layer->sizes.weights_bytes);
}

static void read_f16(const layer_reader *reader)
{
    const uint16_t *weights = reader->layer->weights;
    for (size_t i = 0; i < (size_t)reader->matrix.rows * reader->matrix.columns; i++) {
        reader->out[i] = aq_f16_to_f32(weights[i]);
    }
}

static void read_bf16(const layer_reader *reader)
{
    const uint16_t *weights = reader->layer->weights;
    for (size_t i = 0; i < (size_t)reader->matrix.rows * reader->matrix.columns; i++) {
        reader->out[i] = aq_bf16_to_f32(weights[i]);
    }
}

/* Per channel and per tensor: the number of scales tells which. */
static void read_int8(const layer_reader *reader)
{
    const aq_snapshot_layer *layer = reader->layer;
    const int8_t *q = layer->weights;
    const size_t columns = reader->matrix.columns;
    for (size_t row = 0; row < reader->matrix.rows; row++) {
        const float scale = layer->scale[layer->sizes.scales == 1 ? 0 : row];
        for (size_t i = 0; i < columns; i++) {
            reader->out[row * columns + i] =
                scale * (float)(q[row * columns + i] - layer->weight_zero);
        }
    }
}

static void read_groups(const layer_reader *reader, uint32_t bits)
{
    const aq_snapshot_layer *layer = reader->layer;
    const uint32_t columns = reader->matrix.columns;
    const uint32_t groups = aq_format_groups(columns);
    const size_t row_bytes = ((size_t)columns * bits + 7) / 8;
    for (size_t row = 0; row < reader->matrix.rows; row++) {
        const uint8_t *bytes = (const uint8_t *)layer->weights + row * row_bytes;
        for (uint32_t i = 0; i < columns; i++) {
            const float scale = layer->scale[row * groups + i / AQ_FORMAT_GROUP];
            reader->out[row * columns + i] = scale * (float)aq_packed_level(bytes, i, bits);
        }
    }
}

static void read_int4(const layer_reader *reader)
{
    read_groups(reader, 4);
}

static void read_int2(const layer_reader *reader)
{
    read_groups(reader, 2);
}

/* A block's levels go to those of its places that the matrix has. */
static void read_block(const layer_reader *reader, uint32_t block_row, uint32_t block_column,
                       const int8_t *levels)
{
    for (uint32_t r = 0; r < AQ_BLOCK_ROWS; r++) {
        const size_t row = (size_t)block_row * AQ_BLOCK_ROWS + r;
        for (uint32_t c = 0; c < AQ_BLOCK_COLUMNS; c++) {
            const size_t column = (size_t)block_column * AQ_BLOCK_COLUMNS + c;
            if (row < reader->matrix.rows && column < reader->matrix.columns) {
                reader->out[row * reader->matrix.columns + column] =
                    reader->layer->scale[row] * (float)levels[r * AQ_BLOCK_COLUMNS + c];
            }
        }
    }
}

static void read_sparse(const layer_reader *reader)
{
    const aq_layer_matrix_shape matrix = reader->matrix;
    const size_t mask_row_bytes = aq_block_mask_row_bytes(matrix.columns);
    const int8_t *levels = reader->layer->weights;
    memset(reader->out, 0, (size_t)matrix.rows * matrix.columns * sizeof(*reader->out));
    for (uint32_t row = 0; row < aq_block_row_count(matrix.rows); row++) {
        for (uint32_t column = 0; column < aq_block_column_count(matrix.columns); column++) {
            if (aq_block_is_stored(reader->layer->mask + row * mask_row_bytes, column)) {
                read_block(reader, row, column, levels);
                levels += AQ_BLOCK_BYTES;
            }
        }
    }
}

void aq_snapshot_layer_weights(const aq_snapshot *snapshot, uint32_t layer, float *out)
{
    static void (*const readers[AQ_FORMAT_COUNT + 1])(const layer_reader *reader) = {
        [AQ_FORMAT_F32] = read_f32,          [AQ_FORMAT_INT8_CHANNEL] = read_int8,
        [AQ_FORMAT_F16] = read_f16,          [AQ_FORMAT_BF16] = read_bf16,
        [AQ_FORMAT_INT8_TENSOR] = read_int8, [AQ_FORMAT_INT4] = read_int4,
        [AQ_FORMAT_INT2] = read_int2,        [AQ_FORMAT_INT8_SPARSE] = read_sparse,
    };
    AQ_ASSERT(layer < snapshot->spec.layer_count);
    const layer_reader reader = {
        .layer = &snapshot->layers[layer],
        .matrix = aq_layer_matrix(&snapshot->spec.layers[layer]),
        .out = out,
    };
    AQ_ASSERT(aq_format_known(reader.layer->format));
    readers[reader.layer->format](&reader);
}
