/*
 * Shared network: see shared_network.h. In a block of parameters arrays come first, so the critic's
 * lies between the policy's own and its layers.
 */
#include "learner/algorithms/shared_network.h"

#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

static void copy(float *to, const float *from, size_t count)
{
    if (count > 0) { /* of none there is no place */
        memcpy(to, from, count * sizeof(*to));
    }
}

int aq_shared_network_init(aq_shared_network *network, const aq_net_spec *policy, size_t critic,
                           aq_error *error)
{
    network->policy = *policy;
    network->spec = *policy;
    if (critic > 0) {
        AQ_ASSERT(policy->array_count < AQ_NET_ARRAYS_MAX);
        aq_net_array *array = &network->spec.arrays[network->spec.array_count++];
        (void)snprintf(array->name, sizeof(array->name), "%s", AQ_CRITIC_ARRAY);
        array->count = (uint32_t)critic;
    }
    int rc = aq_net_spec_validate(&network->spec, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_params_init(&network->spec, &network->params);
    network->flat = aq_alloc_large(network->params.count, sizeof(float));
    return rc == 0 && network->flat != NULL
               ? 0
               : aq_fail(error, AQ_E_NOMEM, "no memory for a network of %zu parameters",
                         aq_net_spec_parameters(&network->spec));
}

void aq_shared_network_fini(aq_shared_network *network)
{
    aq_params_fini(&network->params);
    aq_free(network->flat);
    network->flat = NULL;
}

/* How the two orders differ: numbers of the policy's arrays, of the critic, of the layers. */
typedef struct parts {
    size_t arrays, critic, layers;
} parts;

static parts parts_of(const aq_shared_network *network)
{
    const size_t arrays = aq_net_spec_array_values(&network->policy);
    return (parts){.arrays = arrays,
                   .critic = aq_net_spec_array_values(&network->spec) - arrays,
                   .layers = aq_net_spec_parameters(&network->policy) - arrays};
}

const aq_params *aq_shared_network_join(aq_shared_network *network, const float *flat)
{
    const parts of = parts_of(network);
    float *to = network->params.block;
    copy(to, flat, of.arrays);
    copy(to + of.arrays, flat + of.arrays + of.layers, of.critic);
    copy(to + of.arrays + of.critic, flat + of.arrays, of.layers);
    return &network->params;
}

int aq_shared_network_split(aq_shared_network *network, const aq_snapshot *snapshot,
                            const float **ret_flat)
{
    const parts of = parts_of(network);
    if (aq_net_spec_hash(&snapshot->spec) != aq_net_spec_hash(&network->spec)) {
        return AQ_E_SCHEMA;
    }
    aq_params params = aq_params_view(&network->policy, network->flat);
    copy(network->flat, snapshot->arrays, of.arrays);
    copy(network->flat + of.arrays + of.layers, snapshot->arrays + of.arrays, of.critic);
    for (uint32_t i = 0; i < network->policy.layer_count; i++) {
        const uint32_t rows = aq_layer_matrix(&network->policy.layers[i]).rows;
        if (rows > 0) {
            aq_snapshot_layer_weights(snapshot, i, params.weight[i]);
            copy(params.bias[i], snapshot->layers[i].bias, rows);
        }
    }
    *ret_flat = network->flat;
    return 0;
}
