/*
 * Building the network layer by layer; it is validated when it is whole.
 */
#include "learner/q_network.h"

#include <inttypes.h>
#include <string.h>

static int add_hidden(const aq_run_config *config, uint32_t inputs, uint32_t width,
                      aq_net_spec *spec, aq_error *error)
{
    const enum aq_activation activation = aq_run_config_activation(config);
    const bool has_norm = config->learner.norm;
    const aq_layer_spec linear =
        aq_layer_linear(inputs, width, has_norm ? AQ_ACTIVATION_NONE : activation);
    const aq_layer_spec norm = aq_layer_norm(width, activation);
    int rc = aq_net_spec_add(spec, &linear, error);

    return rc == 0 && has_norm ? aq_net_spec_add(spec, &norm, error) : rc;
}

static int add_outputs(const aq_run_config *config, uint32_t inputs, uint32_t actions,
                       aq_net_spec *spec, aq_error *error)
{
    const bool is_dueling = config->learner.dueling;
    const aq_layer_spec linear =
        aq_layer_linear(inputs, is_dueling ? 1 + actions : actions, AQ_ACTIVATION_NONE);
    const aq_layer_spec dueling = aq_layer_dueling(actions, 1);
    int rc = aq_net_spec_add(spec, &linear, error);

    return rc == 0 && is_dueling ? aq_net_spec_add(spec, &dueling, error) : rc;
}

int aq_q_network_spec(const aq_run_config *config, const aq_schema *schema, aq_net_spec *ret_spec,
                      aq_error *error)
{
    uint32_t hidden[AQ_HIDDEN_LAYERS_MAX], hidden_count;
    size_t inputs = aq_space_elements(&schema->obs);
    uint32_t width;
    aq_net_spec spec;
    int rc = 0;

    if (inputs > AQ_NET_WIDTH_MAX) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "a network takes observations of up to %" PRIu32
                       " elements; this task's have %zu",
                       AQ_NET_WIDTH_MAX, inputs);
    }
    if (aq_run_config_hidden(config, hidden, &hidden_count) != 0) {
        return aq_fail(error, AQ_E_INVALID, "learner.hidden: '%s' is not a list of widths",
                       config->learner.hidden);
    }
    memset(&spec, 0, sizeof(spec));
    width = (uint32_t)inputs;
    for (uint32_t i = 0; rc == 0 && i < hidden_count; i++) {
        rc = add_hidden(config, width, hidden[i], &spec, error);
        width = hidden[i];
    }
    if (rc == 0) {
        rc = add_outputs(config, width, schema->action.choice_count, &spec, error);
    }
    if (rc == 0) {
        rc = aq_net_spec_validate(&spec, error);
    }
    if (rc == 0) {
        *ret_spec = spec;
    }
    return rc;
}
