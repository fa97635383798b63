/*
 * The planted faults of half floats, groups and sparse blocks. They know the layouts that the
 * scalar reference packs.
 */
#include "tests/kernels/faulty_formats.h"

#include <math.h>
#include <string.h>

static float relu_if(const aq_packed_layer *layer, float value)
{
    return layer->activation == AQ_ACTIVATION_RELU && value < 0.0f ? 0.0f : value;
}

/* --- half floats and groups: packed right, then spoilt --- */

static size_t pack_right(uint32_t format, const aq_snapshot_layer *layer, uint32_t inputs,
                         uint32_t outputs, void *packed)
{
    const aq_linear_kernel *right = aq_qkernels_linear(aq_qkernels_scalar(), format);
    right->pack(layer, inputs, outputs, packed);
    return right->packed_bytes(layer, inputs, outputs);
}

void f16_flushes_subnormals(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                            void *packed)
{
    const size_t bytes = pack_right(AQ_FORMAT_F16, layer, inputs, outputs, packed);
    float *weights = packed;
    for (size_t i = 0; i < bytes / sizeof(*weights); i++) {
        weights[i] = fabsf(weights[i]) < 0x1p-14f ? 0.0f : weights[i];
    }
}

void bf16_drops_the_last_bit(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                             void *packed)
{
    const size_t bytes = pack_right(AQ_FORMAT_BF16, layer, inputs, outputs, packed);
    uint32_t *weights = packed;
    for (size_t i = 0; i < bytes / sizeof(*weights); i++) {
        weights[i] &= 0xFFFE0000;
    }
}

/* Of each byte that a snapshot has them in. */
static void reverse_levels(int8_t *levels, size_t count, size_t in_a_byte)
{
    for (size_t first = 0; first + in_a_byte <= count; first += in_a_byte) {
        for (size_t i = 0; i < in_a_byte / 2; i++) {
            const int8_t level = levels[first + i];
            levels[first + i] = levels[first + in_a_byte - 1 - i];
            levels[first + in_a_byte - 1 - i] = level;
        }
    }
}

void int4_swaps_halves(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                       void *packed)
{
    pack_right(AQ_FORMAT_INT4, layer, inputs, outputs, packed);
    reverse_levels(packed, (size_t)outputs * aq_format_groups(inputs) * AQ_FORMAT_GROUP, 2);
}

void int2_reverses_quarters(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                            void *packed)
{
    pack_right(AQ_FORMAT_INT2, layer, inputs, outputs, packed);
    reverse_levels(packed, (size_t)outputs * aq_format_groups(inputs) * AQ_FORMAT_GROUP, 4);
}

/* --- running groups --- */

enum group_fault {
    GROUPS_RIGHT,
    GROUPS_NEXT_SCALE,
    GROUPS_NEXT_SUM,
    GROUPS_DOWNWARDS,
    GROUPS_FUSE,
    GROUPS_SCALE_ONCE,
};

/* One output of one row. `first` is its first group. */
static float run_output(enum group_fault fault, const aq_packed_layer *layer, size_t first,
                        const uint8_t *q, const aq_row_quant *quant)
{
    const uint32_t groups = aq_format_groups(layer->inputs);
    const int8_t *levels = layer->weights;
    const float *scale =
        (const float *)(const void *)(levels + (size_t)layer->outputs * groups * AQ_FORMAT_GROUP);
    const int32_t *sum = (const int32_t *)(const void *)(scale + (size_t)layer->outputs * groups);
    float total = 0.0f;
    for (uint32_t turn = 0; turn < groups; turn++) {
        const uint32_t g = fault == GROUPS_DOWNWARDS ? groups - 1 - turn : turn;
        const uint32_t next = (g + 1) % groups;
        const int8_t *level = levels + (first + g) * AQ_FORMAT_GROUP;
        int32_t dot = 0;
        for (uint32_t i = 0; i < AQ_FORMAT_GROUP; i++) {
            dot += q[g * AQ_FORMAT_GROUP + i] * level[i];
        }
        const int32_t of = sum[first + (fault == GROUPS_NEXT_SUM ? next : g)];
        const float centred = (float)(dot - quant->zero_point * of);
        const float factor = scale[first + (fault == GROUPS_NEXT_SCALE ? next : g)];
        if (fault == GROUPS_FUSE) {
            total = fmaf(factor, centred, total);
        } else if (fault == GROUPS_SCALE_ONCE) { /* the row's scale into each group */
            total += quant->scale * factor * centred;
        } else {
            total += factor * centred;
        }
    }
    return fault == GROUPS_SCALE_ONCE ? total : quant->scale * total;
}

static void run_groups(enum group_fault fault, const aq_packed_layer *layer,
                       const aq_kernel_input *input, float *y, size_t y_stride)
{
    const size_t groups = aq_format_groups(layer->inputs);
    for (size_t row = 0; row < input->rows; row++) {
        for (uint32_t o = 0; o < layer->outputs; o++) {
            const float value = run_output(fault, layer, o * groups,
                                           input->q + row * input->q_stride, &input->quant[row]);
            y[row * y_stride + o] = relu_if(layer, value + layer->bias[o]);
        }
    }
}

/* --- running sparse blocks --- */

enum sparse_fault {
    SPARSE_RIGHT,
    SPARSE_COLUMN_OFF,
    SPARSE_MASK_BYTE_SHORT,
    SPARSE_FORGETS_ROW,
    SPARSE_TRANSPOSES,
};

typedef struct sparse_walk {
    const uint8_t *mask;
    size_t mask_row_bytes;
    const int8_t *block; /* the next */
    uint32_t columns;
} sparse_walk;

static sparse_walk start_walk(enum sparse_fault fault, const aq_packed_layer *layer)
{
    const size_t row_bytes = aq_block_mask_row_bytes(layer->inputs);
    const size_t mask_bytes = aq_block_row_count(layer->outputs) * row_bytes;
    const int8_t *packed = layer->weights;
    return (sparse_walk){
        .mask = layer->weights,
        .mask_row_bytes =
            fault == SPARSE_MASK_BYTE_SHORT && row_bytes > 1 ? row_bytes - 1 : row_bytes,
        .block = packed + (mask_bytes + AQ_BLOCK_BYTES - 1) / AQ_BLOCK_BYTES * AQ_BLOCK_BYTES,
        .columns = aq_block_column_count(layer->inputs),
    };
}

/* dots (AQ_BLOCK_ROWS) of the next row of blocks */
static void walk_row(enum sparse_fault fault, sparse_walk *walk, const uint8_t *q, int32_t *dots)
{
    memset(dots, 0, AQ_BLOCK_ROWS * sizeof(*dots));
    for (uint32_t column = 0; column < walk->columns; column++) {
        if (!aq_block_is_stored(walk->mask, column)) {
            continue;
        }
        const uint32_t at = fault == SPARSE_COLUMN_OFF ? (column + 1) % walk->columns : column;
        for (uint32_t i = 0; i < AQ_BLOCK_BYTES; i++) {
            const uint32_t row =
                fault == SPARSE_TRANSPOSES ? i % AQ_BLOCK_ROWS : i / AQ_BLOCK_COLUMNS;
            const uint32_t input =
                fault == SPARSE_TRANSPOSES ? i / AQ_BLOCK_ROWS : i % AQ_BLOCK_COLUMNS;
            dots[row] += q[at * AQ_BLOCK_COLUMNS + input] * walk->block[i];
        }
        walk->block += AQ_BLOCK_BYTES;
    }
    walk->mask += walk->mask_row_bytes;
}

static void run_sparse(enum sparse_fault fault, const aq_packed_layer *layer,
                       const aq_kernel_input *input, float *y, size_t y_stride)
{
    for (size_t row = 0; row < input->rows; row++) {
        const aq_row_quant quant = input->quant[row];
        sparse_walk walk = start_walk(fault, layer);
        for (uint32_t first = 0; first < layer->outputs; first += AQ_BLOCK_ROWS) {
            int32_t dots[AQ_BLOCK_ROWS];
            walk_row(fault, &walk, input->q + row * input->q_stride, dots);
            if (fault == SPARSE_FORGETS_ROW) {
                dots[AQ_BLOCK_ROWS - 1] = 0;
            }
            for (uint32_t r = 0; r < AQ_BLOCK_ROWS && first + r < layer->outputs; r++) {
                const uint32_t o = first + r;
                const int32_t centred = dots[r] - quant.zero_point * layer->sum[o] + quant.offset;
                const float value = quant.scale * layer->scale[o] * (float)centred;
                y[row * y_stride + o] = relu_if(layer, value + layer->bias[o]);
            }
        }
    }
}

/* --- by name --- */

#define FAULTY_RUN(name, family, fault)                                                            \
    void name(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,                \
              size_t y_stride)                                                                     \
    {                                                                                              \
        family(fault, layer, input, y, y_stride);                                                  \
    }
FAULTY_RUN(groups_right, run_groups, GROUPS_RIGHT)
FAULTY_RUN(groups_take_the_next_scale, run_groups, GROUPS_NEXT_SCALE)
FAULTY_RUN(groups_take_the_next_sum, run_groups, GROUPS_NEXT_SUM)
FAULTY_RUN(groups_add_downwards, run_groups, GROUPS_DOWNWARDS)
FAULTY_RUN(groups_fuse, run_groups, GROUPS_FUSE)
FAULTY_RUN(groups_scale_once, run_groups, GROUPS_SCALE_ONCE)
FAULTY_RUN(sparse_right, run_sparse, SPARSE_RIGHT)
FAULTY_RUN(sparse_is_a_column_off, run_sparse, SPARSE_COLUMN_OFF)
FAULTY_RUN(sparse_is_a_mask_byte_short, run_sparse, SPARSE_MASK_BYTE_SHORT)
FAULTY_RUN(sparse_forgets_the_last_row, run_sparse, SPARSE_FORGETS_ROW)
FAULTY_RUN(sparse_transposes_blocks, run_sparse, SPARSE_TRANSPOSES)
