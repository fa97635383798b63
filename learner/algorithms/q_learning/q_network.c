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
void aq_q_network_fold(const aq_net_spec *spec, const aq_params *from, uint32_t atoms,
                       const aq_params *to)
{
    uint32_t last = spec->layer_count - 1;
    last -= spec->layers[last].kind == AQ_LAYER_DUELING;
    const aq_layer_matrix_shape matrix = aq_layer_matrix(&spec->layers[last]);
    const size_t columns = matrix.columns;
    const size_t before = (size_t)(from->weight[last] - from->block);
    memcpy(to->block, from->block, before * sizeof(*to->block));
    for (uint32_t row = 0; row < matrix.rows / atoms; row++) {
        const float *rows = from->weight[last] + (size_t)row * atoms * columns;
        for (size_t i = 0; i < columns; i++) {
            to->weight[last][row * columns + i] = mean_of(rows + i, atoms, columns);
        }
        to->bias[last][row] = mean_of(from->bias[last] + (size_t)row * atoms, atoms, 1);
    }
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

uint32_t aq_q_network_width(const aq_q_learner_kind *kind, const aq_run_config *config)
{
    return kind->learns == AQ_Q_VALUES      ? 1
           : kind->learns == AQ_Q_QUANTILES ? (uint32_t)config->learner.quantiles
                                            : (uint32_t)config->learner.atoms;
}

int aq_q_network_acting(const aq_q_learner_kind *kind, const aq_algorithm_setup *setup,
                        const aq_net_spec *learned, aq_net_spec *ret_spec, aq_error *error)
{
    const aq_run_config *config = setup->config;
    const aq_layer_spec means =
        aq_layer_categorical(&(aq_head_shape){.choices = setup->schema->action.choice_count,
                                              .atoms = (uint32_t)config->learner.atoms,
                                              .low = (float)config->learner.value_min,
                                              .high = (float)config->learner.value_max});
    if (kind->learns == AQ_Q_QUANTILES) {
        return aq_q_network_spec(config, setup->schema, 1, ret_spec, error);
    }
    *ret_spec = *learned;
    if (kind->learns == AQ_Q_VALUES) {
        return 0;
    }
    int rc = aq_net_spec_add(ret_spec, &means, error);
    return rc == 0 ? aq_net_spec_validate(ret_spec, error) : rc;
}
