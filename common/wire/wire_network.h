/*
 * Networks <-> their messages, in the manner of wire_run.h: a view points into the description and
 * into itself; what comes in is checked whole, AQ_E_CORRUPT if it is missing or cannot be.
 */
#ifndef AQ_COMMON_WIRE_WIRE_NETWORK_H
#define AQ_COMMON_WIRE_WIRE_NETWORK_H

#include "common/policy/netspec.h"
#include "proto/schema.pb-c.h"

typedef struct aq_wire_network_view {
    Actorq__V1__Network message;
    Actorq__V1__Layer layers[AQ_NET_LAYERS_MAX];
    Actorq__V1__Layer *layer_pointers[AQ_NET_LAYERS_MAX];
    Actorq__V1__NetworkArray arrays[AQ_NET_ARRAYS_MAX];
    Actorq__V1__NetworkArray *array_pointers[AQ_NET_ARRAYS_MAX];
} aq_wire_network_view;

void aq_wire_network_to(const aq_net_spec *spec, aq_wire_network_view *ret_view);
int aq_wire_network_from(const Actorq__V1__Network *message, aq_net_spec *ret_spec,
                         aq_error *error) AQ_MUST_USE;

#endif
