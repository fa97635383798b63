/*
 * Hidden layers: see hidden_layers.h.
 */
#include "learner/nn/hidden_layers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/policy/snapshot.h"
#include "common/policy/torso.h"

int aq_hidden_layers_of(const aq_run_config *config, const aq_space *obs,
                        aq_hidden_layers *ret_hidden, aq_error *error)
{
    aq_hidden_layers hidden = {
        .activation = aq_run_config_activation(config),
        .norm = config->learner.norm,
        .norm_first = config->learner.norm_first,
        .torso = config->learner.torso,
        .obs = obs,
    };
    int rc = aq_run_config_hidden(config, &hidden.shape);
    if (rc != 0) {
        return aq_fail(error, rc, "learner.hidden: '%s' is not a list of widths",
                       config->learner.hidden);
    }
    *ret_hidden = hidden;
    return 0;
}

int aq_hidden_layers_of_critic(const aq_run_config *config, const aq_space *obs,
                               aq_hidden_layers *ret_hidden, aq_error *error)
{
    aq_hidden_layers hidden = {
        .activation = aq_run_config_critic_activation(config),
        .norm = config->learner.critic_norm,
        .norm_first = config->learner.critic_norm_first,
        .torso = config->learner.torso,
        .obs = obs,
    };
    int rc = aq_run_config_critic_hidden(config, &hidden.shape);
    if (rc != 0) {
        return aq_fail(error, rc, "learner.critic_hidden: '%s' is not a list of widths",
                       config->learner.critic_hidden);
    }
    *ret_hidden = hidden;
    return 0;
}

static int add_all(const aq_layer_spec *layers, size_t count, aq_net_spec *spec, aq_error *error)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = aq_net_spec_add(spec, &layers[i], error);
    }
    return rc;
}

/* Where the noisy layer begins, the value that it takes is the one before it. */
int aq_noisy_layer_add(const aq_layer_spec *linear, uint32_t group, aq_net_spec *spec,
                       aq_error *error)
{
    const uint32_t from = spec->layer_count;
    const aq_layer_spec bare = aq_layer_linear(linear->inputs, linear->outputs, AQ_ACTIVATION_NONE);
    aq_layer_spec layers[] = {
        bare, aq_layer_noise(linear->inputs, 1, 1, AQ_ACTIVATION_NONE), bare,
        aq_layer_noise(linear->outputs, 2, group, (enum aq_activation)linear->activation)};
    layers[1].sources = (aq_layer_sources){.count = 1, .values = {from}};
    layers[3].sources = (aq_layer_sources){.count = 2, .values = {from + 1, from + 3}};
    return add_all(layers, 4, spec, error);
}

/* Deviations are what is made of inputs times noise. */
void aq_noisy_layers_reset(const aq_net_spec *spec, double sigma, aq_params *params)
{
    for (uint32_t l = 1; l < spec->layer_count; l++) {
        const aq_layer_spec *layer = &spec->layers[l], *before = layer - 1;
        if (!aq_layer_is_affine(layer) || !aq_net_is_chained(spec, l) ||
            aq_layer_noise_count(before) == 0 || before->inputs > before->outputs) {
            continue;
        }
        const size_t count = aq_layer_parameters(layer);
        for (size_t i = 0; i < count; i++) {
            params->weight[l][i] = (float)(sigma / sqrt(layer->inputs));
        }
    }
}

static int add_one(const aq_hidden_layers *hidden, uint32_t index, uint32_t inputs,
                   aq_net_spec *spec, aq_error *error)
{
    const bool is_tanh = hidden->norm_first && index == 0;
    const bool has_norm = hidden->norm || is_tanh;
    const enum aq_activation activation = is_tanh ? AQ_ACTIVATION_TANH : hidden->activation;
    const uint32_t width = hidden->shape.widths[index];
    const aq_layer_spec linear =
        aq_layer_linear(inputs, width, has_norm ? AQ_ACTIVATION_NONE : activation);
    const aq_layer_spec norm = aq_layer_norm(width, activation);
    int rc = index + hidden->noisy >= hidden->shape.count
                 ? aq_noisy_layer_add(&linear, 1, spec, error)
                 : aq_net_spec_add(spec, &linear, error);
    return rc == 0 && has_norm ? aq_net_spec_add(spec, &norm, error) : rc;
}

static int add_block(const aq_hidden_layers *hidden, aq_net_spec *spec, aq_error *error)
{
    const uint32_t width = hidden->shape.widths[0], inner = AQ_SIMBA_WIDER * width;
    const uint32_t from = spec->layer_count; /* the value of the layer before */
    aq_layer_spec layers[] = {
        aq_layer_norm(width, AQ_ACTIVATION_NONE), aq_layer_linear(width, inner, hidden->activation),
        aq_layer_linear(inner, width, AQ_ACTIVATION_NONE), aq_layer_add(width)};
    layers[3].sources = (aq_layer_sources){.count = 2, .values = {from, from + 3}};
    return add_all(layers, 4, spec, error);
}

static int add_simba(const aq_hidden_layers *hidden, uint32_t inputs, aq_net_spec *spec,
                     aq_error *error)
{
    const uint32_t width = hidden->shape.widths[0];
    const aq_layer_spec first = aq_layer_linear(inputs, width, AQ_ACTIVATION_NONE);
    const aq_layer_spec last = aq_layer_norm(width, AQ_ACTIVATION_NONE);
    int rc = aq_net_spec_add(spec, &first, error);
    for (uint32_t i = 0; i < hidden->shape.blocks && rc == 0; i++) {
        rc = add_block(hidden, spec, error);
    }
    return rc == 0 ? aq_net_spec_add(spec, &last, error) : rc;
}

int aq_hidden_layers_add(const aq_hidden_layers *hidden, uint32_t beside, uint32_t *ret_width,
                         aq_net_spec *spec, aq_error *error)
{
    uint32_t width;
    if (beside > 0 && hidden->torso[0] != '\0') {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.torso is for networks that take what is seen alone, and a critic "
                       "of continuous actions takes the action, too; ppo, a2c, impala, reinforce "
                       "and trpo have none");
    }
    int rc = aq_torso_add(hidden->torso, hidden->obs, hidden->activation, &width, spec, error);
    width += rc == 0 ? beside : 0;
    for (uint32_t i = 0; i < hidden->shape.count && rc == 0; i++) {
        rc = hidden->shape.blocks > 0 ? add_simba(hidden, width, spec, error)
                                      : add_one(hidden, i, width, spec, error);
        width = hidden->shape.widths[i];
    }
    if (rc == 0) {
        *ret_width = width;
    }
    return rc;
}

int aq_hidden_layers_network(const aq_hidden_layers *hidden, uint32_t beside,
                             const aq_layer_spec *last, aq_net_spec *ret_spec, aq_error *error)
{
    aq_net_spec spec;
    aq_layer_spec end = *last;
    memset(&spec, 0, sizeof(spec));
    int rc = aq_hidden_layers_add(hidden, beside, &end.inputs, &spec, error);
    if (rc == 0) {
        rc = aq_net_spec_add(&spec, &end, error);
    }
    if (rc == 0) {
        rc = aq_net_spec_validate(&spec, error);
    }
    if (rc == 0) {
        *ret_spec = spec;
    }
    return rc;
}

int aq_hidden_layers_check_policy(const aq_net_spec *spec, aq_error *error)
{
    const uint64_t bytes = aq_net_spec_parameters(spec) * (uint64_t)sizeof(float);
    return bytes <= AQ_SNAPSHOT_BYTES_MAX
               ? 0
               : aq_fail(error, AQ_E_TOO_BIG,
                         "learner.hidden and learner.torso make a network of %" PRIu64
                         " bytes, and a policy has at most %" PRIu64 "; narrower layers work",
                         bytes, (uint64_t)AQ_SNAPSHOT_BYTES_MAX);
}

void aq_last_layer_begin(const aq_net_spec *spec, aq_params *params)
{
    const uint32_t last = spec->layer_count - 1;
    const size_t count = aq_layer_parameters(&spec->layers[last]);
    for (size_t i = 0; i < count; i++) {
        params->weight[last][i] *= AQ_LAST_LAYER_SHARE; /* its biases lie behind its weights */
    }
}
