/*
 * Door: how many connections a process lets in over TCP, and for how long a peer may take to say a
 * message that it has begun. Private to net, but for the counters (net.h).
 *
 * NNG takes every connection that comes, for as long as there are descriptors: whoever connects
 * often enough leaves none for segments and checkpoints. It gives a peer ten seconds for its
 * greeting, and then for ever for a message. So this stands in for the functions of the C library
 * with which NNG accepts, reads and closes, as nng_mend.c does:
 *
 * - a connection beyond the most that there may be, in all or from one address, is reset at once;
 * - a message that has begun must come at a rate, after some time that it may take anyhow;
 * - the parts of messages that have not come whole are bounded, over all connections.
 *
 * What is read is followed only as far as its lengths: a peer that does not greet as NNG peers do
 * (TLS, or a stranger) is NNG's to judge. Between messages there is no limit of time: a member may
 * have nothing to say, and keep-alive finds out whether it is there.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_TCP_DOOR_H
#define AQ_COMMON_NET_NNG_MEND_TCP_DOOR_H

#include <stddef.h>
#include <stdint.h>

typedef struct aq_tcp_limits {
    size_t connections_max;
    size_t connections_per_address_max;
    int64_t message_ms;          /* that any message may take … */
    size_t message_bytes_per_s;  /* … and then it must have come at this rate */
    size_t unfinished_bytes_max; /* of messages that have not come whole, in all */
} aq_tcp_limits;

/* Before the first connection; again is fine. Any thread. The limits follow from how many
 * descriptors the process may have. */
void aq_tcp_door(void);

/* The C library's close(), by way of the thread sanitizer where there is one: it has to see that a
 * descriptor's number is free again. Without it the system is called. */
void aq_tcp_door_closes_with(int (*real)(int descriptor));

/* For tests: other limits. */
void aq_tcp_door_set(const aq_tcp_limits *limits);

#endif
