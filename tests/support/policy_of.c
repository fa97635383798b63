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

TEST_ENDING(unref, aq_snapshot_unref);

aq_snapshot *policy_of(const aq_net_spec *spec, uint32_t head, const char *task,
                       const aq_schema *schema)
{
    uint32_t formats[AQ_NET_LAYERS_MAX];
    aq_snapshot *policy = NULL;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        formats[i] = AQ_FORMAT_F32;
    }
    assert_int_equal(aq_snapshot_create(spec, formats, NULL, &policy), 0);
    at_end(unref, policy);
    policy->run_id = policy->version = 1;
    policy->head = head;
    policy->schema = *schema;
    assert_int_equal(aq_text_set(policy->task, sizeof(policy->task), task), 0);
    return policy;
}
