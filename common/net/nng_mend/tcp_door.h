/*
 * Door: how many connections a process lets in over TCP, for how long a peer may take to say a
 * message that it has begun, and how much of messages is held. Private to net, but for the counters
 * (net_peers.h).
 *
 * NNG takes every connection that comes, for as long as there are descriptors: whoever connects
 * often enough leaves none for segments and checkpoints. It gives a peer ten seconds for its
 * greeting, and then for ever for a message, for which it makes room as soon as its length is
 * known. So this stands in for the functions of the C library with which NNG accepts, reads and
 * closes, as nng_mend.c does; inflow.h has the rules. A connection beyond the most that there may
 * be, in all or from one address, is reset at once.
 *
 * Over TLS what a peer says is known only behind the encryption, where no descriptor is. So each
 * connection has a ticket, which tls_mend.c takes where it is read from and brings back with what
 * was decrypted.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_TCP_DOOR_H
#define AQ_COMMON_NET_NNG_MEND_TCP_DOOR_H

#include "common/net/nng_mend/inflow.h"

/* A listener takes messages of up to so many bytes: what may be held is at least two of them, and
 * from one address one. How many connections there may be follows from how many descriptors the
 * process may have when the first one listens. Any thread. */
void aq_tcp_door_expects(size_t message_bytes_max);

/* A listener speaks TLS: of connections that have not shaken hands yet there may be so many. Any
 * thread. */
void aq_tcp_door_expects_handshakes(void);

/* The C library's close(), by way of the thread sanitizer where there is one: it has to see that a
 * descriptor's number is free again. Without it the system is called. */
void aq_tcp_door_closes_with(int (*real)(int descriptor));

/* For tests: other limits. */
void aq_tcp_door_set(const aq_tcp_limits *limits);

/* ---- TLS ------------------------------------------------------------------------------------ */

/* From now on reading on this thread writes there the ticket of the connection that is read from,
 * if that came in; 0 is no connection's. NULL: nowhere. Returns where it was written before. */
uintptr_t *aq_tcp_door_note(uintptr_t *place);

/* Before bytes are decrypted, and with those that were. False: the connection was cut. */
void aq_tcp_door_goes_on(uintptr_t ticket);
bool aq_tcp_door_hears(uintptr_t ticket, const void *bytes, size_t size);

#endif
