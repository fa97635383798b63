/*
 * Hidden layers: what all networks that are learned have in common. Pure; any thread.
 *
 *   torso:  what learner.torso says, before them (common/policy/torso.h)
 *   each:   linear, the activation
 *   norm:   linear, norm, the activation
 *   first:  the first one linear, norm, tanh, whatever the others are (Acme's networks)
 *   noisy:  the last ones, in place of a linear layer y = act(W x + b)
 *             y = act(W x + b + e_out (D (e_in x) + d))
 *           with noise e_in of the inputs and e_out of the outputs (factorized noise, Fortunato et
 *           al., 2018): two linear layers and two of noise, which other kinds of layers and formats
 *           need not know of
 *   simba:  linear; blocks of x + linear(the activation(linear(norm(x)))), whose inner layer is
 *           AQ_SIMBA_WIDER as wide; norm (Lee et al., 2024). Norms are where they are
 */
#ifndef AQ_LEARNER_NN_HIDDEN_LAYERS_H
#define AQ_LEARNER_NN_HIDDEN_LAYERS_H

#include <stdbool.h>

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/experience/schema.h"
#include "common/nn/params.h"
#include "common/policy/netspec.h"

typedef struct aq_hidden_layers {
    aq_hidden_shape shape;
    enum aq_activation activation;
    bool norm, norm_first;
    uint32_t noisy;      /* of the last ones; 0: none */
    const char *torso;   /* lent; "": none */
    const aq_space *obs; /* lent; what is seen */
} aq_hidden_layers;

/* As the settings say of the policy, or the network of values, of what is seen; and of a critic.
 * Both lend to the result. AQ_E_INVALID in words. */
int aq_hidden_layers_of(const aq_run_config *config, const aq_space *obs,
                        aq_hidden_layers *ret_hidden, aq_error *error) AQ_MUST_USE;
int aq_hidden_layers_of_critic(const aq_run_config *config, const aq_space *obs,
                               aq_hidden_layers *ret_hidden, aq_error *error) AQ_MUST_USE;

/* Appends the torso and them to a network that has no layers, which takes what is seen and `beside`
 * other values, such as an action; `*ret_width` is what the last one gives. AQ_E_INVALID when there
 * are too many; AQ_E_UNSUPPORTED, in words, for a torso that can't take what is there. */
int aq_hidden_layers_add(const aq_hidden_layers *hidden, uint32_t beside, uint32_t *ret_width,
                         aq_net_spec *spec, aq_error *error) AQ_MUST_USE;

/* Appends a noisy layer in place of a linear one. Each `group` of its outputs have one number of
 * noise. */
int aq_noisy_layer_add(const aq_layer_spec *linear, uint32_t group, aq_net_spec *spec,
                       aq_error *error) AQ_MUST_USE;

/* How the deviations of a network begin: sigma / sqrt(inputs), weights and biases. */
void aq_noisy_layers_reset(const aq_net_spec *spec, double sigma, aq_params *params);

/* Makes what aq_params_randomize gave the last layer smaller, by this factor: small enough for tanh
 * not to be where it is flat. So a policy begins undecided, with actions near the middle of their
 * range, and a critic with the distributions that its biases say. */
#define AQ_LAST_LAYER_SHARE 0.01f
void aq_last_layer_begin(const aq_net_spec *spec, aq_params *params);

/* A network of them, and a last layer, whose inputs are filled in. As above. */
int aq_hidden_layers_network(const aq_hidden_layers *hidden, uint32_t beside,
                             const aq_layer_spec *last, aq_net_spec *ret_spec,
                             aq_error *error) AQ_MUST_USE;

/* Of a network that actors are to get. AQ_E_TOO_BIG, in words that name the settings, when in fp32
 * it is larger than a policy may be (AQ_SNAPSHOT_BYTES_MAX). */
int aq_hidden_layers_check_policy(const aq_net_spec *spec, aq_error *error) AQ_MUST_USE;

#endif
