/*
 * Whose a connection is, as far as bounds are concerned: its IPv4 address, or the upper half of its
 * IPv6 address, since the lower is its owner's to choose. Any thread.
 */
#ifndef AQ_COMMON_NET_ADDRESS_PEER_NETWORK_H
#define AQ_COMMON_NET_ADDRESS_PEER_NETWORK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

/* IPv4 as IPv6 writes it. False: neither. */
bool aq_peer_network(const struct sockaddr *address, struct in6_addr *ret_network);

#endif
