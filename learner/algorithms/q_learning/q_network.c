/*
 * Building the network layer by layer; it is validated when it is whole.
 */
#include "learner/algorithms/q_learning/q_network.h"

#include <string.h>

#include "learner/nn/hidden_layers.h"

static int add_outputs(const aq_run_config *config, uint32_t inputs, uint32_t actions,
                       uint32_t atoms, aq_net_spec *spec, aq_error *error)
{
    const bool is_dueling = config->learner.dueling;
    const aq_layer_spec linear =
        aq_layer_linear(inputs, (is_dueling ? 1 + actions : actions) * atoms, AQ_ACTIVATION_NONE);
    const aq_layer_spec dueling = aq_layer_dueling(actions, atoms);
    int rc = aq_net_spec_add(spec, &linear, error);

    return rc == 0 && is_dueling ? aq_net_spec_add(spec, &dueling, error) : rc;
}

int aq_q_network_spec(const aq_run_config *config, const aq_schema *schema, uint32_t atoms,
                      aq_net_spec *ret_spec, aq_error *error)
{
    aq_hidden_layers hidden;
    uint32_t width = 0;
    aq_net_spec spec;
    int rc = aq_hidden_layers_of(config, &schema->obs, &hidden, error);
    if (rc != 0) {
        return rc;
    }
    memset(&spec, 0, sizeof(spec));
    rc = aq_hidden_layers_add(&hidden, 0, &width, &spec, error);
    if (rc == 0) {
        rc = add_outputs(config, width, schema->action.choice_count, atoms, &spec, error);
    }
    if (rc == 0) {
        rc = aq_net_spec_validate(&spec, error);
    }
    if (rc == 0) {
        *ret_spec = spec;
    }
    return rc;
}
