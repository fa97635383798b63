/*
 * What follows from the graph of a valid network: where its values may lie while it runs, and what
 * is left of it without noise. Pure; any thread.
 */
#ifndef AQ_COMMON_POLICY_NET_GRAPH_H
#define AQ_COMMON_POLICY_NET_GRAPH_H

#include "common/policy/netspec.h"

/* Buffers for the values of a network while its layers run one after the other, or for their
 * gradients while these flow back: values that meet at a layer lie in different buffers. A chain
 * takes two in turn. */
typedef struct aq_net_buffers {
    uint32_t count;
    uint32_t of[AQ_NET_VALUES_MAX]; /* by value */
} aq_net_buffers;

aq_net_buffers aq_net_all_buffers(const aq_net_spec *spec);
aq_net_buffers aq_net_inner_buffers(const aq_net_spec *spec); /* none for its input and its end */

/* Some layers of a network, as a network of its own. */
typedef struct aq_net_part {
    aq_net_spec spec;
    uint32_t layers[AQ_NET_LAYERS_MAX]; /* where each of them is in the whole */
} aq_net_part;

/* What acts where there is no noise: the network of the means, with all arrays. */
void aq_net_mean(const aq_net_spec *spec, aq_net_part *ret_part);

#endif
