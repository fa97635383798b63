/*
 * How many connections came in over TCP, and what became of them. Any thread.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_NET_PEERS_H
#define AQ_COMMON_NET_NNG_MEND_NET_PEERS_H

#include <stdint.h>

/* Connections over TCP that came in, of the whole process; docs/protocol.md has the bounds. */
typedef struct aq_net_peers {
    uint64_t connections; /* now */
    uint64_t accepted;    /* in all */
    uint64_t strangers;   /* of them, went without a word that NNG knows, or were sent away */
    uint64_t refused_connections; /* beyond the most, in all or from one address */
    uint64_t cut_slow;            /* a message or handshake that had begun came too slowly */
    uint64_t cut_full;            /* it held the most when too much was held, its words or ours */
} aq_net_peers;

aq_net_peers aq_net_peer_counters(void); /* any thread */

/* A connection was closed for the replies that it did not take. */
void aq_net_peers_cut_full(void);

#endif
