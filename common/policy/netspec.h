/*
 * Network description: a graph of layers as plain data. Immutable; shared by the learner's fp32
 * network, the quantizer and every actor.
 *
 * Value 0 is what the network takes, and value 1 + i what layer i gives. A layer names the values
 * that it takes (aq_layer_sources), which come before its own; one that names none takes the value
 * right before its own, so that layers which say nothing are a chain. A value may be taken by
 * several layers: branches, which meet again. The last layer's is taken by none: it is what the
 * network gives.
 *
 * Arrays are parameters that no layer owns: a log-deviation, say. They are fp32 in every format.
 */
#ifndef AQ_COMMON_POLICY_NETSPEC_H
#define AQ_COMMON_POLICY_NETSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/layer_spec.h"

enum {
    AQ_NET_LAYERS_MAX = 48,
    AQ_NET_VALUES_MAX = 1 + AQ_NET_LAYERS_MAX,
    AQ_NET_ARRAYS_MAX = 4,
    AQ_NET_ARRAY_NAME_MAX = 24,
    AQ_NET_ARRAY_VALUES_MAX = 1 << 26,
};

/* The last array may be the critic's parameters, for those who compute gradients with the network;
 * no head knows of it. */
#define AQ_CRITIC_ARRAY "critic"

typedef struct aq_net_array {
    char name[AQ_NET_ARRAY_NAME_MAX]; /* a small letter; then small letters, digits and _ */
    uint32_t count;
} aq_net_array;

typedef struct aq_net_spec {
    uint32_t layer_count;
    aq_layer_spec layers[AQ_NET_LAYERS_MAX];
    uint32_t array_count;
    aq_net_array arrays[AQ_NET_ARRAYS_MAX];
} aq_net_spec;

/* inputs -> hidden[0] -> ... -> outputs, `activation` after each hidden layer, none at the end. */
int aq_net_spec_init_mlp(uint32_t inputs, const uint32_t *hidden, uint32_t hidden_count,
                         uint32_t outputs, enum aq_activation activation, aq_net_spec *ret_spec,
                         aq_error *error) AQ_MUST_USE;

/* Appends a layer; the network is validated when it is whole. AQ_E_INVALID when it is full. */
int aq_net_spec_add(aq_net_spec *spec, const aq_layer_spec *layer, aq_error *error) AQ_MUST_USE;

/* Every layer is valid and takes values that are there, of widths that fit, and not the network's
 * input where it stands behind images; what each gives is taken, but for the last one; arrays have
 * sizes and names of their own. AQ_E_INVALID in words. */
int aq_net_spec_validate(const aq_net_spec *spec, aq_error *error) AQ_MUST_USE;

/* 64-bit hash; equal hashes mean the same network. Never 0. */
uint64_t aq_net_spec_hash(const aq_net_spec *spec);

/* Weights and biases, and arrays. */
size_t aq_net_spec_parameters(const aq_net_spec *spec);
size_t aq_net_spec_array_values(const aq_net_spec *spec);    /* the arrays alone */
uint32_t aq_net_spec_acting_arrays(const aq_net_spec *spec); /* but for the critic's */

uint32_t aq_net_spec_inputs(const aq_net_spec *spec);
uint32_t aq_net_spec_outputs(const aq_net_spec *spec);   /* of its last layer */
uint32_t aq_net_spec_width_max(const aq_net_spec *spec); /* widest row, inputs included */

/* Of all layers that keep a state, in their order: so many floats pass from step to step. */
uint32_t aq_net_spec_state(const aq_net_spec *spec);

/* Numbers of noise of all layers, in their order. */
uint32_t aq_net_spec_noise(const aq_net_spec *spec);

/* The layers that lead to the last where there is no noise: those that do not make deviations. */
void aq_net_find_acting(const aq_net_spec *spec, bool ret_acting[AQ_NET_LAYERS_MAX]);

/* What is quantized for a layer's matrix: the state of one that keeps one, or else its first
 * source. */
uint32_t aq_net_matrix_width(const aq_net_spec *spec, uint32_t layer);

/* The values that a layer takes: those that it names, or the one before its own. The network need
 * not be valid: the values may be any, up to AQ_LAYER_SOURCES_MAX of them. */
aq_layer_sources aq_net_sources(const aq_net_spec *spec, uint32_t layer);
bool aq_net_is_chained(const aq_net_spec *spec, uint32_t layer); /* that one alone */

/* The layers up to the last one that takes an image, that one included. */
uint32_t aq_net_image_layers(const aq_net_spec *spec);

uint32_t aq_net_value_width(const aq_net_spec *spec, uint32_t value);

/* How often a layer takes the value, and how often all of them do. */
uint32_t aq_net_takes(const aq_net_spec *spec, uint32_t layer, uint32_t value);
uint32_t aq_net_reader_count(const aq_net_spec *spec, uint32_t value);

/* Every layer that takes the network's input is affine, so a map of the input can become part of
 * them. */
bool aq_net_is_affine_in_input(const aq_net_spec *spec);

/* "4-64r-64r-2" (r relu, t tanh, e elu) into out[size], cut off if need be; returns out. Layers
 * that are not linear say what they are: "84x84x4-conv8/4x32r-...-512r-norm-7-dueling6". One that
 * takes other values than the one before says which: "8-32r-2-1(1)". Arrays: "+log_deviation2". */
const char *aq_net_spec_text(const aq_net_spec *spec, char *out, size_t size);

#endif
