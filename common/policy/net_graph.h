/*
 * The graph of a network: which values its layers take, where these may lie while it runs, and its
 * parts. Pure; any thread. Networks are valid but where it says otherwise.
 */
#ifndef AQ_COMMON_POLICY_NET_GRAPH_H
#define AQ_COMMON_POLICY_NET_GRAPH_H

#include <stdbool.h>

#include "common/policy/netspec.h"

/* The values that a layer takes: those that it names, or the one before its own. The network need
 * not be valid: the values may be any, up to AQ_LAYER_SOURCES_MAX of them. */
aq_layer_sources aq_net_sources(const aq_net_spec *spec, uint32_t layer);
bool aq_net_is_chained(const aq_net_spec *spec, uint32_t layer); /* that one alone */

uint32_t aq_net_value_width(const aq_net_spec *spec, uint32_t value);
uint32_t aq_net_reader_count(const aq_net_spec *spec, uint32_t value);

/* Layers whose values no layer takes; at least one, the last. */
bool aq_net_is_end(const aq_net_spec *spec, uint32_t layer);
uint32_t aq_net_end_count(const aq_net_spec *spec);

/* Every layer that takes the network's input is affine, so a map of the input can become part of
 * them. */
bool aq_net_is_affine_in_input(const aq_net_spec *spec);

/* Buffers for the values of a network while its layers run one after the other, or for their
 * gradients while these flow back: values that meet at a layer lie in different buffers. A chain
 * takes two in turn. */
typedef struct aq_net_buffers {
    uint32_t count;
    uint32_t of[AQ_NET_VALUES_MAX]; /* by value */
} aq_net_buffers;

aq_net_buffers aq_net_all_buffers(const aq_net_spec *spec);
aq_net_buffers aq_net_inner_buffers(const aq_net_spec *spec); /* none for its input and its ends */

/* A part of a network: the layers that lead to one of them, as a network that ends there, with all
 * arrays. Actors get such a part: a critic that branches off stays where it is trained. When the
 * layers of the part come first in the whole, so do its parameters. */
typedef struct aq_net_part {
    aq_net_spec spec;
    uint32_t layers[AQ_NET_LAYERS_MAX]; /* where each of them is in the whole */
} aq_net_part;

void aq_net_cut(const aq_net_spec *spec, uint32_t end, aq_net_part *ret_part);

#endif
