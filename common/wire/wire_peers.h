/*
 * Peers on the wire: how many came, and how many were shown out.
 */
#ifndef AQ_COMMON_WIRE_WIRE_PEERS_H
#define AQ_COMMON_WIRE_WIRE_PEERS_H

#include "common/net/nng_mend/net_peers.h"
#include "proto/operations.pb-c.h"

void aq_wire_peers_to(const aq_net_peers *peers, Actorq__V1__PeerStatus *ret_message);

#endif
