/*
 * Networks and policies of tests: see policy_of.h.
 */
#include "tests/support/policy_of.h"

#include "common/base/parse.h"
#include "tests/support/test.h"

void net_add(aq_net_spec *spec, aq_layer_spec layer)
{
    assert_succeeds(aq_net_spec_add(spec, &layer, &refusal));
}

aq_net_spec net_of_layers(const aq_layer_spec *layers, size_t count)
{
    aq_net_spec spec = {0};
    for (size_t i = 0; i < count; i++) {
        net_add(&spec, layers[i]);
    }
    return spec;
}

aq_snapshot *blank_policy(const aq_net_spec *spec, const uint32_t *formats, const size_t *blocks)
{
    aq_snapshot *policy = NULL;
    assert_int_equal(aq_snapshot_create(spec, formats, blocks, &policy), 0);
    memset(aq_snapshot_arrays_edit(policy), 0, aq_net_spec_array_values(spec) * sizeof(float));
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_tensor_sizes *sizes = &policy->layers[i].sizes;
        aq_snapshot_layer_data layer;
        aq_snapshot_layer_edit(policy, i, &layer);
        memset(layer.weights, 0, sizes->weights_bytes);
        memset(layer.bias, 0, aq_layer_matrix(&spec->layers[i]).rows * sizeof(float));
        if (layer.scale != NULL) {
            memset(layer.scale, 0, sizes->scales * sizeof(float));
        }
        if (layer.sum != NULL) {
            memset(layer.sum, 0, sizes->sums * sizeof(int32_t));
        }
        if (layer.mask != NULL) {
            memset(layer.mask, 0, sizes->mask_bytes);
        }
    }
    return policy;
}

TEST_ENDING(unref, aq_snapshot_unref);

aq_snapshot *policy_of(const aq_net_spec *spec, uint32_t head, const char *task,
                       const aq_schema *schema)
{
    uint32_t formats[AQ_NET_LAYERS_MAX];
    aq_snapshot *policy = NULL;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        formats[i] = AQ_FORMAT_F32;
    }
    policy = blank_policy(spec, formats, NULL);
    at_end(unref, policy);
    policy->run_id = policy->version = 1;
    policy->head = head;
    policy->schema = *schema;
    assert_int_equal(aq_text_set(policy->task, sizeof(policy->task), task), 0);
    return policy;
}
