/*
 * Levels are uniform, and scales such that a layer gives about what it takes.
 */
#include "tests/unit/quantizer/random_policy.h"
#include "common/policy/half.h"
#include "common/policy/torso.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/common/policy/head_kit.h"
#include "tests/unit/common/wire/wire_fixture.h"

/* ---- networks ------------------------------------------------------------------------------- */

static void add_images(aq_net_spec *spec)
{
    const aq_conv_shape first = {.height = 11,
                                 .width = 9,
                                 .channels = 3,
                                 .filters = 5,
                                 .kernel = 3,
                                 .stride = 2,
                                 .padding = 1};
    const aq_conv_shape second = {.height = aq_conv_out_height(&first),
                                  .width = aq_conv_out_width(&first),
                                  .channels = 5,
                                  .filters = 7,
                                  .kernel = 4,
                                  .stride = 1,
                                  .padding = 3};
    net_add(spec, aq_layer_conv2d(&first, AQ_ACTIVATION_RELU));
    net_add(spec, aq_layer_conv2d(&second, AQ_ACTIVATION_ELU));
    net_add(spec, aq_layer_linear(spec->layers[1].outputs, 4, AQ_ACTIVATION_NONE));
}

static void add_norms(aq_net_spec *spec)
{
    net_add(spec, aq_layer_linear(9, 33, AQ_ACTIVATION_NONE));
    net_add(spec, aq_layer_norm(33, AQ_ACTIVATION_TANH));
    net_add(spec, aq_layer_linear(33, 17, AQ_ACTIVATION_NONE));
    net_add(spec, aq_layer_norm(17, AQ_ACTIVATION_RELU));
    net_add(spec, aq_layer_linear(17, 3, AQ_ACTIVATION_NONE));
    net_add(spec, aq_layer_norm(3, AQ_ACTIVATION_NONE));
}

static void add_heads(aq_net_spec *spec)
{
    const aq_head_shape shape = {.choices = 3, .atoms = 51, .low = -10.0f, .high = 10.0f};
    net_add(spec, aq_layer_linear(6, 40, AQ_ACTIVATION_RELU));
    net_add(spec, aq_layer_linear(40, (1 + shape.choices) * shape.atoms, AQ_ACTIVATION_NONE));
    net_add(spec, aq_layer_dueling(shape.choices, shape.atoms));
    net_add(spec, aq_layer_categorical(&shape));
}

static void add_block(aq_net_spec *spec)
{
    aq_layer_spec sum = aq_layer_add(24);
    sum.sources = (aq_layer_sources){.count = 2, .values = {1, 4}};
    net_add(spec, aq_layer_linear(11, 24, AQ_ACTIVATION_NONE));
    net_add(spec, aq_layer_norm(24, AQ_ACTIVATION_NONE));
    net_add(spec, aq_layer_linear(24, 96, AQ_ACTIVATION_RELU));
    net_add(spec, aq_layer_linear(96, 24, AQ_ACTIVATION_NONE));
    net_add(spec, sum);
    net_add(spec, aq_layer_norm(24, AQ_ACTIVATION_NONE));
    net_add(spec, aq_layer_linear(24, 4, AQ_ACTIVATION_NONE));
}

static void add_torso(aq_net_spec *spec)
{
    const aq_space obs = {.kind = AQ_SPACE_BOX, .rank = 3, .shape = {5, 4, 2}};
    uint32_t width = 0;
    assert_succeeds(
        aq_torso_add("residual:17x1,pool:2/1", &obs, AQ_ACTIVATION_RELU, &width, spec, &refusal));
    net_add(spec, aq_layer_linear(width, 4, AQ_ACTIVATION_NONE));
}

aq_net_spec random_policy_spec(enum random_policy_net net)
{
    aq_net_spec spec = {0};
    switch (net) {
    case NET_RELU:
        net_add(&spec, aq_layer_linear(4, 64, AQ_ACTIVATION_RELU));
        net_add(&spec, aq_layer_linear(64, 64, AQ_ACTIVATION_RELU));
        net_add(&spec, aq_layer_linear(64, 2, AQ_ACTIVATION_NONE));
        break;
    case NET_TANH:
        net_add(&spec, aq_layer_linear(17, 256, AQ_ACTIVATION_TANH));
        net_add(&spec, aq_layer_linear(256, 6, AQ_ACTIVATION_TANH));
        break;
    case NET_ELU:
        net_add(&spec, aq_layer_linear(13, 37, AQ_ACTIVATION_ELU));
        net_add(&spec, aq_layer_linear(37, 65, AQ_ACTIVATION_ELU));
        net_add(&spec, aq_layer_linear(65, 5, AQ_ACTIVATION_NONE));
        break;
    case NET_NORM:
        add_norms(&spec);
        break;
    case NET_CONV:
        add_images(&spec);
        break;
    case NET_SIMBA:
        add_block(&spec);
        break;
    case NET_IMPALA:
        add_torso(&spec);
        break;
    case NET_GRU:
        net_add(&spec, aq_layer_linear(5, 3 * 19, AQ_ACTIVATION_NONE));
        net_add(&spec, aq_layer_gru(19));
        net_add(&spec, aq_layer_linear(19, 3 * 8, AQ_ACTIVATION_NONE));
        net_add(&spec, aq_layer_gru(8));
        net_add(&spec, aq_layer_linear(8, 3, AQ_ACTIVATION_NONE));
        break;
    case NET_DUELING:
        net_add(&spec, aq_layer_linear(8, 24, AQ_ACTIVATION_ELU));
        net_add(&spec, aq_layer_linear(24, 6, AQ_ACTIVATION_NONE));
        net_add(&spec, aq_layer_dueling(5, 1));
        break;
    default:
        add_heads(&spec);
        break;
    }
    assert_int_equal(aq_net_spec_validate(&spec, NULL), 0);
    return spec;
}

/* ---- tensors -------------------------------------------------------------------------------- */

typedef struct filling {
    aq_rng rng;
    uint32_t format;
    aq_layer_matrix_shape matrix;
    aq_snapshot_layer_data to;
    const aq_snapshot_layer *layer;
} filling;

static float normal(filling *fill, double scale)
{
    return (float)(scale * aq_rng_normal(&fill->rng));
}

static void fill_floats(filling *fill)
{
    const double scale = 1.0 / sqrt(fill->matrix.columns);
    for (size_t i = 0; i < (size_t)fill->matrix.rows * fill->matrix.columns; i++) {
        const float value = normal(fill, scale);
        if (fill->format == AQ_FORMAT_F32) {
            ((float *)fill->to.weights)[i] = value;
        } else {
            ((uint16_t *)fill->to.weights)[i] =
                fill->format == AQ_FORMAT_F16 ? aq_f16_from_f32(value) : aq_bf16_from_f32(value);
        }
    }
}

/* Such that a row's sum is about as large as what it sums. */
static void fill_scales(filling *fill)
{
    const int greatest = fill->format == AQ_FORMAT_INT4   ? 7
                         : fill->format == AQ_FORMAT_INT2 ? 1
                                                          : 127;
    const double scale = 1.7 / (greatest * sqrt(fill->matrix.columns));
    for (size_t i = 0; i < fill->layer->sizes.scales; i++) {
        fill->to.scale[i] = (float)(scale * (0.5 + aq_rng_uniform(&fill->rng)));
    }
}

/* ---- the snapshot --------------------------------------------------------------------------- */

static void set_schema(aq_snapshot *snapshot, uint32_t head, const aq_space *action)
{
    snapshot->head = head;
    snapshot->schema.obs = (aq_space){.kind = AQ_SPACE_BOX,
                                      .dtype = AQ_DTYPE_F32,
                                      .rank = 1,
                                      .shape = {aq_net_spec_inputs(&snapshot->spec)},
                                      .bound_count = 1,
                                      .low = {-INFINITY},
                                      .high = {INFINITY}};
    snapshot->schema.action = *action;
}

static void fill_arrays(aq_snapshot *snapshot, aq_rng *rng)
{
    float *arrays = aq_snapshot_arrays_edit(snapshot);
    fill_range(arrays, aq_net_spec_array_values(&snapshot->spec), -1.0, 1.0, rng);
}

TEST_ENDING(unref_snapshot, aq_snapshot_unref);

aq_snapshot *random_policy_create(const aq_net_spec *layers, const random_policy_how *how)
{
    aq_net_spec with = *layers;
    const aq_net_spec *spec = &with;
    aq_space action;
    uint32_t formats[AQ_NET_LAYERS_MAX];
    size_t blocks[AQ_NET_LAYERS_MAX];
    filling fill;
    aq_snapshot *snapshot = NULL;
    aq_rng_init(&fill.rng, how->seed, 1);
    assert_true(head_kit_fit(how->head, &with, &action));
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&spec->layers[i]);
        const bool is_other = how->last != 0 && i + 1 == spec->layer_count;
        formats[i] = !aq_layer_is_quantizable(&spec->layers[i]) ? AQ_FORMAT_F32
                     : is_other                                 ? how->last
                                                                : how->format;
        blocks[i] =
            (aq_block_row_count(matrix.rows) * aq_block_column_count(matrix.columns) + 1) / 2;
    }
    assert_int_equal(aq_snapshot_create(spec, formats, blocks, &snapshot), 0);
    snapshot->version = 1;
    memcpy(snapshot->task, "random", sizeof("random"));
    set_schema(snapshot, head_kit_number(how->head), &action);
    fill_arrays(snapshot, &fill.rng);
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        fill.format = formats[i];
        fill.matrix = aq_layer_matrix(&spec->layers[i]);
        fill.layer = &snapshot->layers[i];
        aq_snapshot_layer_edit(snapshot, i, &fill.to);
        if (aq_format_is_integer(formats[i])) {
            fixture_random_weights(&fill.rng, snapshot, i);
            fill_scales(&fill);
        } else {
            fill_floats(&fill);
        }
        for (uint32_t o = 0; o < fill.matrix.rows; o++) {
            fill.to.bias[o] = normal(&fill, 0.3);
        }
        if (how->is_static && aq_format_is_integer(formats[i])) {
            snapshot->layers[i].input_scale = 0.0137f;
            snapshot->layers[i].input_zero = 101;
        }
        snapshot->layers[i].weight_zero = formats[i] == AQ_FORMAT_INT8_TENSOR ? -17 : 0;
    }
    assert_succeeds(aq_snapshot_validate(snapshot, &refusal));
    at_end(unref_snapshot, snapshot);
    return snapshot;
}

float *random_policy_observations(const aq_net_spec *spec, uint64_t seed, size_t rows)
{
    const size_t count = rows * aq_net_spec_inputs(spec);
    float *obs = aq_alloc(count, sizeof(*obs));
    assert_non_null(obs);
    aq_rng rng = rng_of(seed, 2);
    fill_normal(obs, count, 1, &rng);
    at_end(aq_free, obs);
    return obs;
}
