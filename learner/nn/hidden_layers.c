/*
 * Building hidden layers one by one; the network is validated by its owner when it is whole.
 */
#include "learner/nn/hidden_layers.h"

#include <inttypes.h>

int aq_hidden_layers_of(const aq_run_config *config, aq_hidden_layers *ret_hidden, aq_error *error)
{
    aq_hidden_layers hidden = {
        .activation = aq_run_config_activation(config),
        .norm = config->learner.norm,
        .norm_first = config->learner.norm_first,
    };
    int rc = aq_run_config_hidden(config, hidden.widths, &hidden.count);
    if (rc != 0) {
        return aq_fail(error, rc, "learner.hidden: '%s' is not a list of widths",
                       config->learner.hidden);
    }
    *ret_hidden = hidden;
    return 0;
}

static int add_one(const aq_hidden_layers *hidden, uint32_t index, uint32_t inputs,
                   aq_net_spec *spec, aq_error *error)
{
    const bool is_tanh = hidden->norm_first && index == 0;
    const bool has_norm = hidden->norm || is_tanh;
    const enum aq_activation activation = is_tanh ? AQ_ACTIVATION_TANH : hidden->activation;
    const uint32_t width = hidden->widths[index];
    const aq_layer_spec linear =
        aq_layer_linear(inputs, width, has_norm ? AQ_ACTIVATION_NONE : activation);
    const aq_layer_spec norm = aq_layer_norm(width, activation);
    int rc = aq_net_spec_add(spec, &linear, error);

    return rc == 0 && has_norm ? aq_net_spec_add(spec, &norm, error) : rc;
}

int aq_hidden_layers_add(const aq_hidden_layers *hidden, uint32_t *width, aq_net_spec *spec,
                         aq_error *error)
{
    for (uint32_t i = 0; i < hidden->count; i++) {
        int rc = add_one(hidden, i, *width, spec, error);
        if (rc != 0) {
            return rc;
        }
        *width = hidden->widths[i];
    }
    return 0;
}

int aq_network_inputs(const aq_schema *schema, const char *algorithm, uint32_t *ret_inputs,
                      aq_error *error)
{
    size_t inputs = aq_space_elements(&schema->obs);
    if (schema->obs.kind != AQ_SPACE_BOX) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s needs observations of numbers; those of this task are a discrete state "
                       "(if it has the option, TASK?one_hot=yes shows that as numbers)",
                       algorithm);
    }
    if (inputs > AQ_NET_WIDTH_MAX) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "a network takes observations of up to %" PRIu32
                       " elements; this task's have %zu",
                       AQ_NET_WIDTH_MAX, inputs);
    }
    *ret_inputs = (uint32_t)inputs;
    return 0;
}
