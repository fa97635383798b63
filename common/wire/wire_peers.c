/*
 * Peers on the wire: see wire_peers.h.
 */
#include "common/wire/wire_peers.h"

void aq_wire_peers_to(const aq_net_peers *peers, Actorq__V1__PeerStatus *ret_message)
{
    actorq__v1__peer_status__init(ret_message);
    ret_message->connections = peers->connections;
    ret_message->accepted = peers->accepted;
    ret_message->strangers = peers->strangers;
    ret_message->refused_connections = peers->refused_connections;
    ret_message->cut_slow = peers->cut_slow;
    ret_message->cut_full = peers->cut_full;
}
