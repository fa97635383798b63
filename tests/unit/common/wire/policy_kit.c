/*
 * Levels change by changing sign, which every format allows; floats by their last bits.
 */
#include "tests/unit/common/wire/policy_kit.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"
#include "tests/unit/common/wire/wire_random.h"

/* A tensor of no bytes may be NULL. */
static void assert_same_tensor(const void *a, const void *b, size_t bytes)
{
    if (bytes > 0) {
        assert_memory_equal(a, b, bytes);
    }
}

static void assert_same_layer(const aq_snapshot *a, const aq_snapshot *b, uint32_t layer)
{
    const aq_snapshot_layer *x = &a->layers[layer];
    const aq_snapshot_layer *y = &b->layers[layer];
    const size_t rows = aq_layer_matrix(&a->spec.layers[layer]).rows;
    assert_int_equal(x->format, y->format);
    assert_int_equal(x->sizes.weights_bytes, y->sizes.weights_bytes);
    assert_memory_equal(&x->sizes, &y->sizes, sizeof(x->sizes));
    assert_same_tensor(x->weights, y->weights, x->sizes.weights_bytes);
    assert_same_tensor(x->bias, y->bias, rows * sizeof(float));
    assert_same_tensor(x->scale, y->scale, x->sizes.scales * sizeof(float));
    assert_same_tensor(x->sum, y->sum, x->sizes.sums * sizeof(int32_t));
    assert_same_tensor(x->mask, y->mask, x->sizes.mask_bytes);
    assert_int_equal(x->weight_zero, y->weight_zero);
    assert_true(x->input_scale == y->input_scale);
    assert_int_equal(x->input_zero, y->input_zero);
}

void assert_same_policy(const aq_snapshot *a, const aq_snapshot *b)
{
    assert_true(a->run_id == b->run_id);
    assert_true(a->version == b->version);
    assert_true(a->learner_step == b->learner_step);
    assert_string_equal(a->task, b->task);
    assert_true(aq_schema_hash(&a->schema) == aq_schema_hash(&b->schema));
    assert_true(aq_net_spec_hash(&a->spec) == aq_net_spec_hash(&b->spec));
    assert_int_equal(a->head, b->head);
    assert_memory_equal(&a->quant_error, &b->quant_error, sizeof(a->quant_error));
    for (uint32_t i = 0; i < a->spec.layer_count; i++) {
        assert_same_layer(a, b, i);
    }
    assert_same_tensor(a->arrays, b->arrays, aq_net_spec_array_values(&a->spec) * sizeof(float));
}

static void change_floats(aq_rng *rng, float *values, size_t count, double share)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof(bits));
        if (aq_rng_uniform(rng) < share && (bits & 0x7F800000U) != 0) {
            bits ^= 1U + (uint32_t)aq_rng_below(rng, 255);
            memcpy(&values[i], &bits, sizeof(bits));
        }
    }
}

static void change_signs(aq_rng *rng, uint8_t *weights, size_t size, uint32_t bits, double share)
{
    const unsigned mask = (1U << bits) - 1;
    for (size_t i = 0; i < size * 8 / bits; i++) {
        uint8_t *byte = &weights[i * bits / 8];
        const uint32_t at = (uint32_t)(i * bits % 8);
        if (aq_rng_uniform(rng) < share) {
            const unsigned level = *byte >> at & mask;
            *byte = (uint8_t)((*byte & ~(mask << at)) | ((0U - level) & mask) << at);
        }
    }
}

static void change_weights(aq_rng *rng, const aq_snapshot_layer *layer, void *weights, double share)
{
    uint16_t *halves = weights;
    switch (layer->format) {
    case AQ_FORMAT_F32:
        change_floats(rng, weights, layer->sizes.weights_bytes / sizeof(float), share);
        break;
    case AQ_FORMAT_F16:
    case AQ_FORMAT_BF16:
        for (size_t i = 0; i < layer->sizes.weights_bytes / sizeof(*halves); i++) {
            halves[i] ^= aq_rng_uniform(rng) < share ? (uint16_t)(1 + aq_rng_below(rng, 127)) : 0;
        }
        break;
    case AQ_FORMAT_INT4:
        change_signs(rng, weights, layer->sizes.weights_bytes, 4, share);
        break;
    case AQ_FORMAT_INT2:
        change_signs(rng, weights, layer->sizes.weights_bytes, 2, share);
        break;
    default:
        change_signs(rng, weights, layer->sizes.weights_bytes, 8, share);
        break;
    }
}

static aq_snapshot *copy_of(const aq_snapshot *policy)
{
    uint32_t formats[AQ_NET_LAYERS_MAX];
    size_t blocks[AQ_NET_LAYERS_MAX];
    aq_snapshot *copy;
    for (uint32_t i = 0; i < policy->spec.layer_count; i++) {
        const aq_snapshot_layer *layer = &policy->layers[i];
        formats[i] = layer->format;
        blocks[i] = layer->mask != NULL ? layer->sizes.weights_bytes / AQ_BLOCK_BYTES : 0;
    }
    assert_int_equal(aq_snapshot_create(&policy->spec, formats, blocks, &copy), 0);
    copy->run_id = policy->run_id;
    copy->schema = policy->schema;
    copy->head = policy->head;
    memcpy(copy->task, policy->task, sizeof(copy->task));
    for (uint32_t i = 0; i < policy->spec.layer_count; i++) {
        const aq_snapshot_layer *layer = &policy->layers[i];
        aq_snapshot_layer_data data;
        aq_snapshot_layer_edit(copy, i, &data);
        memcpy(data.weights, layer->weights, layer->sizes.weights_bytes);
        memcpy(data.bias, layer->bias,
               aq_layer_matrix(&policy->spec.layers[i]).rows * sizeof(float));
        if (layer->scale != NULL) {
            memcpy(data.scale, layer->scale, layer->sizes.scales * sizeof(float));
        }
        if (layer->mask != NULL) {
            memcpy(data.mask, layer->mask, layer->sizes.mask_bytes);
        }
        copy->layers[i].weight_zero = layer->weight_zero;
        copy->layers[i].input_scale = layer->input_scale;
        copy->layers[i].input_zero = layer->input_zero;
    }
    memcpy(aq_snapshot_arrays_edit(copy), policy->arrays,
           aq_net_spec_array_values(&policy->spec) * sizeof(float));
    return copy;
}

aq_snapshot *policy_trained(aq_rng *rng, const aq_snapshot *policy, double share)
{
    aq_snapshot *next = copy_of(policy);
    next->version = policy->version + 1 + aq_rng_below(rng, 3);
    next->learner_step = policy->learner_step + 100;
    change_floats(rng, aq_snapshot_arrays_edit(next), aq_net_spec_array_values(&next->spec), share);
    next->quant_error = (aq_quant_error){.rows = 7, .output_rms = 0.25f, .output_max = 1.5f};
    for (uint32_t i = 0; i < next->spec.layer_count; i++) {
        aq_snapshot_layer *layer = &next->layers[i];
        aq_snapshot_layer_data data;
        aq_snapshot_layer_edit(next, i, &data);
        change_weights(rng, layer, data.weights, share);
        change_floats(rng, data.scale, layer->sizes.scales, share);
        change_floats(rng, data.bias, aq_layer_matrix(&next->spec.layers[i]).rows, share);
        aq_snapshot_layer_add_up(next, i);
        if (layer->input_scale != 0.0f) {
            layer->input_zero = (int32_t)between(rng, 0, 255);
        }
    }
    assert_int_equal(aq_snapshot_validate(next, NULL), 0);
    return next;
}

aq_snapshot *policy_plain(void)
{
    static const uint32_t hidden[] = {256, 256};
    static const uint32_t formats[] = {AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_INT8_CHANNEL,
                                       AQ_FORMAT_INT8_CHANNEL};
    aq_snapshot *policy;
    aq_net_spec spec;
    assert_int_equal(aq_net_spec_init_mlp(4, hidden, 2, 2, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    assert_int_equal(aq_snapshot_create(&spec, formats, NULL, &policy), 0);
    for (uint32_t i = 0; i < spec.layer_count; i++) {
        aq_snapshot_layer_data data;
        aq_snapshot_layer_edit(policy, i, &data);
        memset(data.weights, 3, policy->layers[i].sizes.weights_bytes);
        for (size_t k = 0; k < policy->layers[i].sizes.scales; k++) {
            data.scale[k] = 1;
        }
        aq_snapshot_layer_add_up(policy, i);
    }
    policy->version = 1;
    policy->head = AQ_HEAD_ARGMAX;
    fixture_schema(&policy->schema);
    memcpy(policy->task, "t", 2);
    assert_int_equal(aq_snapshot_validate(policy, NULL), 0);
    return policy;
}
