/*
 * Network description: a multi-layer perceptron as plain data. Immutable; shared by the learner's
 * fp32 network, the quantizer and every actor. Layer kinds join by adding to enum aq_layer_kind.
 */
#ifndef AQ_COMMON_RL_NETSPEC_H
#define AQ_COMMON_RL_NETSPEC_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { AQ_NET_LAYERS_MAX = 16 };
#define AQ_NET_WIDTH_MAX UINT32_C(16384)

enum aq_layer_kind { AQ_LAYER_LINEAR = 1 };
enum aq_activation {
    AQ_ACTIVATION_NONE = 1,
    AQ_ACTIVATION_RELU = 2,
    AQ_ACTIVATION_TANH = 3,
    AQ_ACTIVATION_ELU = 4,
};

typedef struct aq_layer_spec {
    uint32_t kind;
    uint32_t inputs;
    uint32_t outputs;
    uint32_t activation;
} aq_layer_spec;

typedef struct aq_net_spec {
    uint32_t layer_count;
    aq_layer_spec layers[AQ_NET_LAYERS_MAX];
} aq_net_spec;

/* inputs -> hidden[0] -> ... -> outputs, `activation` after each hidden layer, none at the end. */
int aq_net_spec_init_mlp(uint32_t inputs, const uint32_t *hidden, uint32_t hidden_count,
                         uint32_t outputs, enum aq_activation activation, aq_net_spec *ret_spec,
                         aq_error *error) AQ_MUST_USE;

/* Sizes chain, kinds and activations are known, limits hold; AQ_E_INVALID in words. */
int aq_net_spec_validate(const aq_net_spec *spec, aq_error *error) AQ_MUST_USE;

/* 64-bit hash; equal hashes mean the same network. Never 0. */
uint64_t aq_net_spec_hash(const aq_net_spec *spec);

/* Weights and biases. */
size_t aq_net_spec_parameters(const aq_net_spec *spec);

uint32_t aq_net_spec_inputs(const aq_net_spec *spec);
uint32_t aq_net_spec_outputs(const aq_net_spec *spec);
uint32_t aq_net_spec_width_max(const aq_net_spec *spec); /* widest row, inputs included */

/* "4-64r-64r-2" (r relu, t tanh, e elu) into out[size], cut off if need be; returns out. */
const char *aq_net_spec_text(const aq_net_spec *spec, char *out, size_t size);

/* "none", "relu", "tanh", "elu"; AQ_E_INVALID for another text, "unknown" for another number. */
int aq_activation_from_text(const char *text, enum aq_activation *ret_activation) AQ_MUST_USE;
const char *aq_activation_name(uint32_t activation);

#endif
