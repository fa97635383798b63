/*
 * Network description: a chain of layers as plain data. Immutable; shared by the learner's fp32
 * network, the quantizer and every actor.
 */
#ifndef AQ_COMMON_POLICY_NETSPEC_H
#define AQ_COMMON_POLICY_NETSPEC_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/layer_spec.h"

enum { AQ_NET_LAYERS_MAX = 16 };

typedef struct aq_net_spec {
    uint32_t layer_count;
    aq_layer_spec layers[AQ_NET_LAYERS_MAX];
} aq_net_spec;

/* inputs -> hidden[0] -> ... -> outputs, `activation` after each hidden layer, none at the end. */
int aq_net_spec_init_mlp(uint32_t inputs, const uint32_t *hidden, uint32_t hidden_count,
                         uint32_t outputs, enum aq_activation activation, aq_net_spec *ret_spec,
                         aq_error *error) AQ_MUST_USE;

/* Appends a layer; the network is validated when it is whole. AQ_E_INVALID when it is full. */
int aq_net_spec_add(aq_net_spec *spec, const aq_layer_spec *layer, aq_error *error) AQ_MUST_USE;

/* Sizes chain, and every layer is valid; AQ_E_INVALID in words. */
int aq_net_spec_validate(const aq_net_spec *spec, aq_error *error) AQ_MUST_USE;

/* 64-bit hash; equal hashes mean the same network. Never 0. */
uint64_t aq_net_spec_hash(const aq_net_spec *spec);

/* Weights and biases. */
size_t aq_net_spec_parameters(const aq_net_spec *spec);

uint32_t aq_net_spec_inputs(const aq_net_spec *spec);
uint32_t aq_net_spec_outputs(const aq_net_spec *spec);
uint32_t aq_net_spec_width_max(const aq_net_spec *spec); /* widest row, inputs included */

/* "4-64r-64r-2" (r relu, t tanh, e elu) into out[size], cut off if need be; returns out. Layers
 * that are not linear say what they are: "84x84x4-conv8/4x32r-...-512r-norm-7-dueling6". */
const char *aq_net_spec_text(const aq_net_spec *spec, char *out, size_t size);

#endif
