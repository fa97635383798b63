/*
 * Building hidden layers one by one; the network is validated by its owner when it is whole.
 */
#include "learner/nn/hidden_layers.h"

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
