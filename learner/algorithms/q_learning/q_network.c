/*
 * Building the network layer by layer; it is validated when it is whole.
 */
#include "learner/algorithms/q_learning/q_network.h"

#include <string.h>

#include "learner/nn/hidden_layers.h"

static int add_outputs(const aq_run_config *config, const aq_layer_spec *linear, uint32_t actions,
                       uint32_t atoms, uint32_t group, aq_net_spec *spec, aq_error *error)
{
    const aq_layer_spec dueling = aq_layer_dueling(actions, atoms);
    int rc = config->learner.noisy > 0 ? aq_noisy_layer_add(linear, group, spec, error)
                                       : aq_net_spec_add(spec, linear, error);
    return rc == 0 && config->learner.dueling ? aq_net_spec_add(spec, &dueling, error) : rc;
}

/* The mean of `count` numbers that are `stride` apart. */
static float mean_of(const float *at, uint32_t count, size_t stride)
{
    double sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        sum += (double)at[k * stride];
    }
    return (float)(sum / count);
}

/* The mean of rows of a linear layer is such a row, and a dueling layer adds up atom by atom. */
void aq_q_network_fold(const aq_net_spec *spec, const aq_params *from, const aq_net_spec *means,
                       const aq_params *to)
{
    for (uint32_t l = 0; l < spec->layer_count; l++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&means->layers[l]);
        const size_t columns = matrix.columns;
        const uint32_t atoms =
            matrix.rows > 0 ? aq_layer_matrix(&spec->layers[l]).rows / matrix.rows : 1;
        if (atoms == 1) {
            memcpy(to->weight[l], from->weight[l],
                   aq_layer_parameters(&means->layers[l]) * sizeof(float));
            continue;
        }
        for (uint32_t row = 0; row < matrix.rows; row++) {
            const float *rows = from->weight[l] + (size_t)row * atoms * columns;
            for (size_t i = 0; i < columns; i++) {
                to->weight[l][row * columns + i] = mean_of(rows + i, atoms, columns);
            }
            to->bias[l][row] = mean_of(from->bias[l] + (size_t)row * atoms, atoms, 1);
        }
    }
}

/* As many of the hidden layers as are asked for. */
static int make_noisy(const aq_run_config *config, aq_hidden_layers *hidden, aq_error *error)
{
    const uint32_t noisy = (uint32_t)config->learner.noisy;
    hidden->noisy = noisy > 0 ? noisy - 1 : 0;
    return hidden->noisy <= (hidden->shape.blocks > 0 ? 0 : hidden->shape.count)
               ? 0
               : aq_fail(error, AQ_E_INVALID,
                         "learner.noisy is %u; learner.hidden \"%s\" has the outputs and %u layers "
                         "that can be noisy",
                         noisy, config->learner.hidden,
                         hidden->shape.blocks > 0 ? 0 : hidden->shape.count);
}

int aq_q_network_spec(const aq_value_kind *kind, const aq_run_config *config,
                      const aq_schema *schema, uint32_t atoms, aq_net_spec *ret_spec,
                      aq_error *error)
{
    const uint32_t actions = schema->action.choice_count;
    const uint32_t group = kind->learns == AQ_Q_QUANTILES ? atoms : 1;
    aq_hidden_layers hidden;
    uint32_t width = 0;
    aq_net_spec spec;
    int rc = aq_hidden_layers_of(config, &schema->obs, &hidden, error);
    rc = rc == 0 ? make_noisy(config, &hidden, error) : rc;
    if (rc != 0) {
        return rc;
    }
    memset(&spec, 0, sizeof(spec));
    rc = aq_hidden_layers_add(&hidden, 0, &width, &spec, error);
    if (rc == 0) {
        const aq_layer_spec linear = aq_layer_linear(
            width, (config->learner.dueling ? 1 + actions : actions) * atoms, AQ_ACTIVATION_NONE);
        rc = add_outputs(config, &linear, actions, atoms, group, &spec, error);
    }
    if (rc == 0) {
        rc = aq_net_spec_validate(&spec, error);
    }
    if (rc == 0) {
        *ret_spec = spec;
    }
    return rc;
}

uint32_t aq_q_network_width(const aq_value_kind *kind, const aq_run_config *config)
{
    return kind->learns == AQ_Q_VALUES      ? 1
           : kind->learns == AQ_Q_QUANTILES ? (uint32_t)config->learner.quantiles
                                            : (uint32_t)config->learner.atoms;
}

int aq_q_network_acting(const aq_value_kind *kind, const aq_algorithm_setup *setup,
                        const aq_net_spec *learned, aq_net_spec *ret_spec, aq_error *error)
{
    const aq_run_config *config = setup->config;
    const aq_layer_spec means =
        aq_layer_categorical(&(aq_head_shape){.choices = setup->schema->action.choice_count,
                                              .atoms = (uint32_t)config->learner.atoms,
                                              .low = (float)config->learner.value_min,
                                              .high = (float)config->learner.value_max});
    if (kind->learns == AQ_Q_QUANTILES) {
        return aq_q_network_spec(kind, config, setup->schema, 1, ret_spec, error);
    }
    *ret_spec = *learned;
    if (kind->learns == AQ_Q_VALUES) {
        return 0;
    }
    int rc = aq_net_spec_add(ret_spec, &means, error);
    return rc == 0 ? aq_net_spec_validate(ret_spec, error) : rc;
}
