/*
 * Random networks of every kind of layer, and random policies in every format: all valid, small
 * enough that thousands are made in a second.
 */
#include "common/base/parse.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"
#include "tests/unit/common/wire/wire_random.h"

/* ---- networks ------------------------------------------------------------------------------- */

static enum aq_activation any_activation(aq_rng *rng)
{
    return (enum aq_activation)between(rng, AQ_ACTIVATION_NONE, AQ_ACTIVATION_ELU);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A square of up to 3 x 3 pixels that fits, and how it moves. */
static void random_patches(aq_rng *rng, aq_conv_shape *shape)
{
    shape->kernel = between(rng, 1, smaller(3, smaller(shape->height, shape->width)));
    shape->stride = between(rng, 1, 3);
    shape->padding = between(rng, 0, shape->kernel - 1);
}

static aq_conv_shape image_behind(const aq_conv_shape *shape)
{
    return (aq_conv_shape){
        aq_conv_out_height(shape), aq_conv_out_width(shape), shape->filters, 0, 0, 0, 0};
}

/* Up to two convolutions, each with a pool behind it or none; returns the width of what comes out
 * of them. */
static uint32_t random_images(aq_rng *rng, aq_net_spec *spec)
{
    aq_conv_shape shape = {between(rng, 1, 6), between(rng, 1, 6), between(rng, 1, 3), 0, 0, 0, 0};
    const uint32_t count = between(rng, 1, 2);
    for (uint32_t i = 0; i < count; i++) {
        shape.filters = between(rng, 1, 5);
        random_patches(rng, &shape);
        net_add(spec, aq_layer_conv2d(&shape, any_activation(rng)));
        shape = image_behind(&shape);
        if (coin(rng)) {
            shape.filters = shape.channels;
            random_patches(rng, &shape);
            net_add(spec, aq_layer_pool(&shape, any_activation(rng)));
            shape = image_behind(&shape);
        }
    }
    return shape.height * shape.width * shape.channels;
}

static uint32_t random_gru(aq_rng *rng, aq_net_spec *spec, uint32_t width)
{
    const uint32_t kept = between(rng, 1, 9);
    net_add(spec, aq_layer_linear(width, AQ_GRU_GATES * kept, AQ_ACTIVATION_NONE));
    net_add(spec, aq_layer_gru(kept));
    return kept;
}

/* A linear layer, and what noise adds to what it gives. */
static uint32_t random_noise(aq_rng *rng, aq_net_spec *spec, uint32_t width)
{
    const uint32_t from = spec->layer_count, group = between(rng, 1, 3);
    const aq_layer_spec linear =
        aq_layer_linear(width, group * between(rng, 1, 3), AQ_ACTIVATION_NONE);
    aq_layer_spec in = aq_layer_noise(width, 1, 1, AQ_ACTIVATION_NONE);
    aq_layer_spec out = aq_layer_noise(linear.outputs, 2, group, any_activation(rng));
    in.sources = (aq_layer_sources){.count = 1, .values = {from}};
    out.sources = (aq_layer_sources){.count = 2, .values = {from + 1, from + 3}};
    net_add(spec, linear);
    net_add(spec, in);
    net_add(spec, linear);
    net_add(spec, out);
    return linear.outputs;
}

static void random_end(aq_rng *rng, aq_net_spec *spec, uint32_t width)
{
    const uint32_t choices = between(rng, 1, 6);
    const aq_head_shape head = {choices, between(rng, 2, 5), -1.5f, (float)aq_rng_uniform(rng)};
    switch (aq_rng_below(rng, 5)) {
    case 0:
        net_add(spec, aq_layer_linear(width, choices, AQ_ACTIVATION_TANH));
        break;
    case 1:
        net_add(spec, aq_layer_linear(width, 1 + choices, AQ_ACTIVATION_NONE));
        net_add(spec, aq_layer_dueling(choices, 1));
        break;
    case 2:
        net_add(spec, aq_layer_linear(width, (1 + choices) * head.atoms, AQ_ACTIVATION_NONE));
        net_add(spec, aq_layer_dueling(choices, head.atoms));
        net_add(spec, aq_layer_categorical(&head));
        break;
    case 3:
        net_add(spec, aq_layer_linear(width, choices * head.atoms, AQ_ACTIVATION_NONE));
        net_add(spec, aq_layer_categorical(&head));
        break;
    default:
        net_add(spec, aq_layer_linear(width, choices, AQ_ACTIVATION_NONE));
        break;
    }
}

void fixture_random_network(aq_rng *rng, aq_net_spec *ret_spec)
{
    memset(ret_spec, 0, sizeof(*ret_spec));
    uint32_t width = coin(rng) ? random_images(rng, ret_spec) : between(rng, 1, 20);
    const uint32_t hidden_count = between(rng, 0, 11);
    for (uint32_t i = 0; i < hidden_count; i++) {
        if (aq_rng_below(rng, 4) == 0) {
            net_add(ret_spec, aq_layer_norm(width, any_activation(rng)));
        } else if (i > 0 && aq_rng_below(rng, 4) == 0) {
            aq_layer_spec twice = aq_layer_add(width);
            const uint32_t value = ret_spec->layer_count;
            twice.sources = (aq_layer_sources){.count = 2, .values = {value, value}};
            net_add(ret_spec, twice);
        } else {
            const uint32_t outputs = between(rng, 1, i == 0 ? 80 : 9);
            net_add(ret_spec, aq_layer_linear(width, outputs, any_activation(rng)));
            width = outputs;
        }
    }
    width = coin(rng) ? random_gru(rng, ret_spec, width) : width;
    width = coin(rng) ? random_noise(rng, ret_spec, width) : width;
    random_end(rng, ret_spec, width);
    ret_spec->array_count = coin(rng) ? between(rng, 0, AQ_NET_ARRAYS_MAX) : 0;
    for (uint32_t i = 0; i < ret_spec->array_count; i++) {
        ret_spec->arrays[i] = (aq_net_array){.name = {(char)('a' + i)}, .count = 1 + 7 * i};
    }
    assert_int_equal(aq_net_spec_validate(ret_spec, NULL), 0);
}

/* ---- tensors -------------------------------------------------------------------------------- */

typedef struct filling {
    aq_rng *rng;
    aq_layer_matrix_shape matrix;
    aq_snapshot_layer *layer;
    aq_snapshot_layer_data data;
} filling;

static int8_t any_level(aq_rng *rng, int greatest)
{
    return (int8_t)((int)aq_rng_below(rng, 2 * (uint64_t)greatest + 1) - greatest);
}

static void fill_f32(const filling *it)
{
    any_floats(it->rng, it->data.weights, it->layer->sizes.weights_bytes / sizeof(float));
}

/* Without the highest bit of its exponent, which both kinds of halves have in the same place, a
 * number is finite. */
static void fill_halves(const filling *it)
{
    uint16_t *weights = it->data.weights;
    for (size_t i = 0; i < it->layer->sizes.weights_bytes / sizeof(*weights); i++) {
        weights[i] = (uint16_t)(aq_rng_next(it->rng) & 0xBFFF);
    }
}

static void fill_int8(const filling *it)
{
    const bool is_tensor = it->layer->format == AQ_FORMAT_INT8_TENSOR;
    int8_t *weights = it->data.weights;
    for (uint32_t row = 0; row < it->matrix.rows; row++) {
        for (uint32_t i = 0; i < it->matrix.columns; i++) {
            *weights = any_level(it->rng, 127);
            if (i == 0 && *weights == 0) {
                *weights = is_tensor ? -128 : 1;
            }
            it->data.sum[row] += *weights++;
        }
    }
    it->layer->weight_zero = is_tensor ? (int32_t)between(it->rng, 0, 255) - 128 : 0;
}

static void fill_groups(const filling *it, uint32_t bits)
{
    const size_t row_bytes = ((size_t)it->matrix.columns * bits + 7) / 8;
    uint8_t *weights = it->data.weights;
    for (uint32_t row = 0; row < it->matrix.rows; row++, weights += row_bytes) {
        for (uint32_t i = 0; i < it->matrix.columns; i++) {
            const int level = any_level(it->rng, (1 << (bits - 1)) - 1);
            const unsigned stored = (unsigned)level & ((1U << bits) - 1);
            weights[i * bits / 8] |= (uint8_t)(stored << (i * bits % 8));
        }
    }
}

static void fill_block(const filling *it, uint32_t block_row, uint32_t block_column, int8_t *levels)
{
    for (uint32_t k = 0; k < AQ_BLOCK_BYTES; k++) {
        const uint32_t row = block_row * AQ_BLOCK_ROWS + k / AQ_BLOCK_COLUMNS;
        const uint32_t column = block_column * AQ_BLOCK_COLUMNS + k % AQ_BLOCK_COLUMNS;
        if (row < it->matrix.rows && column < it->matrix.columns) {
            levels[k] = any_level(it->rng, 127);
            it->data.sum[row] += levels[k];
        }
    }
}

/* Any choice of as many blocks as there is room for, each as likely. */
static void fill_sparse(const filling *it)
{
    const uint32_t columns = aq_block_column_count(it->matrix.columns);
    const uint32_t total = aq_block_row_count(it->matrix.rows) * columns;
    size_t left = it->layer->sizes.weights_bytes / AQ_BLOCK_BYTES;
    int8_t *levels = it->data.weights;
    for (uint32_t i = 0; i < total; i++) {
        if (aq_rng_below(it->rng, total - i) >= left) {
            continue;
        }
        const uint32_t row = i / columns;
        const uint32_t column = i % columns;
        it->data.mask[row * aq_block_mask_row_bytes(it->matrix.columns) + column / 8] |=
            (uint8_t)(1U << (column % 8));
        fill_block(it, row, column, levels);
        levels += AQ_BLOCK_BYTES;
        left--;
    }
}

static filling filling_of(aq_rng *rng, aq_snapshot *snapshot, uint32_t layer)
{
    filling it = {.rng = rng,
                  .matrix = aq_layer_matrix(&snapshot->spec.layers[layer]),
                  .layer = &snapshot->layers[layer]};
    aq_snapshot_layer_edit(snapshot, layer, &it.data);
    return it;
}

void fixture_random_weights(aq_rng *rng, aq_snapshot *snapshot, uint32_t layer)
{
    const filling it = filling_of(rng, snapshot, layer);
    switch (it.layer->format) {
    case AQ_FORMAT_F32:
        fill_f32(&it);
        break;
    case AQ_FORMAT_F16:
    case AQ_FORMAT_BF16:
        fill_halves(&it);
        break;
    case AQ_FORMAT_INT4:
        fill_groups(&it, 4);
        break;
    case AQ_FORMAT_INT2:
        fill_groups(&it, 2);
        break;
    case AQ_FORMAT_INT8_SPARSE:
        fill_sparse(&it);
        break;
    default:
        fill_int8(&it);
        break;
    }
}

static void random_tensors(aq_rng *rng, aq_snapshot *snapshot, uint32_t layer)
{
    const filling it = filling_of(rng, snapshot, layer);
    any_floats(rng, it.data.bias, it.matrix.rows);
    for (size_t i = 0; i < it.layer->sizes.scales; i++) {
        it.data.scale[i] = (float)(1e-6 + aq_rng_uniform(rng));
    }
    fixture_random_weights(rng, snapshot, layer);
    if (aq_format_is_integer(it.layer->format) && coin(rng)) {
        it.layer->input_scale = (float)(1e-6 + aq_rng_uniform(rng));
        it.layer->input_zero = (int32_t)between(rng, 0, 255);
    }
}

/* ---- policies ------------------------------------------------------------------------------- */

static void random_formats(aq_rng *rng, const aq_net_spec *spec, uint32_t *formats, size_t *blocks)
{
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&spec->layers[i]);
        const bool may_choose = aq_layer_is_quantizable(&spec->layers[i]);
        formats[i] = may_choose ? between(rng, 1, AQ_FORMAT_COUNT) : AQ_FORMAT_F32;
        blocks[i] =
            formats[i] == AQ_FORMAT_INT8_SPARSE
                ? between(rng, 1,
                          aq_block_row_count(matrix.rows) * aq_block_column_count(matrix.columns))
                : 0;
    }
}

/* Outputs that end in tanh may be actions as they are. */
static void random_ends(aq_rng *rng, aq_snapshot *snapshot)
{
    const aq_net_spec *spec = &snapshot->spec;
    const aq_space numbers = {.kind = AQ_SPACE_BOX,
                              .dtype = AQ_DTYPE_F32,
                              .rank = 1,
                              .bound_count = 1,
                              .low = {-1.0f},
                              .high = {1.0f}};
    snapshot->schema.obs = numbers;
    snapshot->schema.obs.shape[0] = aq_net_spec_inputs(spec);
    if (spec->layers[spec->layer_count - 1].activation == AQ_ACTIVATION_TANH && coin(rng)) {
        snapshot->head = AQ_HEAD_TANH_BOX;
        snapshot->schema.action = numbers;
        snapshot->schema.action.shape[0] = aq_net_spec_outputs(spec);
    } else {
        snapshot->head = AQ_HEAD_ARGMAX;
        aq_space_init_discrete(&snapshot->schema.action, aq_net_spec_outputs(spec));
    }
}

aq_snapshot *fixture_random_snapshot(aq_rng *rng, const aq_net_spec *spec)
{
    uint32_t formats[AQ_NET_LAYERS_MAX];
    size_t blocks[AQ_NET_LAYERS_MAX];
    aq_snapshot *snapshot;
    random_formats(rng, spec, formats, blocks);
    assert_int_equal(aq_snapshot_create(spec, formats, blocks, &snapshot), 0);
    snapshot->run_id = aq_rng_next(rng);
    snapshot->version = 1 + aq_rng_below(rng, UINT64_MAX);
    snapshot->learner_step = aq_rng_next(rng);
    snapshot->quant_error = (aq_quant_error){
        .rows = between(rng, 1, 1000),
        .cost = (float)aq_rng_uniform(rng),
        .output_rms = (float)aq_rng_uniform(rng),
        .output_max = (float)aq_rng_uniform(rng),
        .kl = (float)aq_rng_uniform(rng),
    };
    assert_int_equal(
        aq_text_format(snapshot->task, sizeof(snapshot->task), "task %u", between(rng, 0, 99999)),
        0);
    random_ends(rng, snapshot);
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        random_tensors(rng, snapshot, i);
    }
    any_floats(rng, aq_snapshot_arrays_edit(snapshot), aq_net_spec_array_values(spec));
    if (aq_snapshot_validate(snapshot, &refusal) != 0) {
        fail_msg("a random policy that is none: %s", refusal.text);
    }
    return snapshot;
}
