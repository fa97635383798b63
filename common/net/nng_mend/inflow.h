/*
 * Inflow: what the connections that came in have begun to say, how much room that takes, and whom
 * to cut when it is too much or too slow. Private to nng_mend: tcp_door.c has the lock, the clock
 * and the sockets.
 *
 * What is read is followed only as far as its lengths. NNG makes room for a message as soon as its
 * length is there, and reads on from a connection only when somebody has taken the message; so from
 * its length on to the next read a message counts as held, whole, whatever has come of it.
 *
 * - Who has begun must go on: each byte is worth its time at a rate, and no stall is longer than
 *   what any message may take.
 * - What is held is bounded, in all and from one neighbour. Who goes is, of the neighbour that
 *   holds the most, a connection that holds the most, to a power of two, of a message that has not
 *   come whole: the one that has been silent for longest, or when all go on the one that has
 *   brought the least, so that of many that are slow some come to an end. A small message is not
 *   counted: it takes less than its connection.
 * - Under TLS a connection takes room from the start, and needs no certificate for it. So how many
 *   have not shaken hands yet is bounded, of one neighbour and in all. One more takes the place of
 *   one that has been silent for longest, of more than a second; where all go on, it is the one
 *   that is refused, so that of a crowd that comes at once each that was let in comes to an end.
 * - A connection that ends in the middle of a message, or is cut, has taken time for nothing. Its
 *   neighbour is let in again when that is worth it, at a rate, its connection counting as
 *   AQ_INFLOW_CONNECTION_BYTES: so one that comes back at once takes no more than a share of ours.
 *
 * A neighbour is who aq_peer_network says.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_INFLOW_H
#define AQ_COMMON_NET_NNG_MEND_INFLOW_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/net/nng_mend/net_peers.h"

enum {
    AQ_INFLOW_DESCRIPTORS_MAX = 65536,
    AQ_INFLOW_CONNECTIONS_MAX = 32768,
    AQ_INFLOW_SMALL_BYTES = 1024, /* a message that is not counted */
    AQ_INFLOW_CONNECTION_BYTES = 65536,
};

typedef struct aq_tcp_limits {
    size_t connections_max;
    size_t connections_per_address_max;
    int64_t message_ms;         /* that any message, and any stall in one, may take … */
    size_t message_bytes_per_s; /* … beside its time at this rate */
    size_t held_bytes_max;      /* of messages that nobody has taken yet, in all */
    size_t held_bytes_per_address_max;
    size_t handshakes_per_address_max; /* and twice as many in all; 0: nobody listens under TLS */
    size_t wasted_bytes_per_s;         /* by one neighbour; 0: any */
    int64_t barred_ms;                 /* that it waits for at most */
} aq_tcp_limits;

typedef struct aq_inflow_neighbour {
    struct in6_addr network;
    uint32_t connections;
    uint32_t handshakes; /* of them, those that are counted as such */
    uint64_t held_bytes;
    int64_t barred_until_ns; /* one that has nobody here is remembered as long as there is room */
} aq_inflow_neighbour;

typedef struct aq_inflow_guest {
    bool cut;
    bool in_tls;       /* what it says is heard behind its encryption */
    bool shakes_hands; /* has not shown yet that it may come in, and is counted */
    uint8_t phase;
    uint8_t have;        /* bytes of the greeting, the length or the header of a record */
    uint8_t record;      /* of TLS: its kind */
    uint16_t turn;       /* which connection of this descriptor's it is; not 0 */
    uint16_t neighbour;  /* index */
    uint64_t length;     /* of the message, as far as it has been said */
    uint64_t came_bytes; /* of it */
    uint64_t held_bytes;
    int64_t heard_ns;
    int64_t deadline_ns; /* 0: between two messages */
} aq_inflow_guest;

/* All zero but for limits and cut: so a variable of it takes no room in the program's file. */
typedef struct aq_inflow {
    aq_tcp_limits limits;
    void (*cut)(int descriptor);      /* its other end is told; aq_inflow_leaves comes later */
    bool (*has_more)(int descriptor); /* it has said something that was not read yet */
    aq_net_peers counters;
    uint64_t held_bytes;
    uint32_t handshakes;
    int64_t looked_ns;
    int above;                  /* every descriptor ever seen */
    uint32_t neighbours_so_far; /* places ever taken */
    aq_inflow_neighbour neighbours[AQ_INFLOW_CONNECTIONS_MAX];
    _Atomic bool here[AQ_INFLOW_DESCRIPTORS_MAX]; /* of each guest; also read without the lock */
    aq_inflow_guest guests[AQ_INFLOW_DESCRIPTORS_MAX];
} aq_inflow;

/* A connection came in from there. False: it is one too many, too many shake hands, or its
 * neighbour has wasted too much. */
bool aq_inflow_enters(aq_inflow *inflow, int descriptor, const struct in6_addr *network,
                      int64_t now_ns);
void aq_inflow_leaves(aq_inflow *inflow, int descriptor, int64_t now_ns);

/* NULL: none that came in. */
aq_inflow_guest *aq_inflow_guest_of(aq_inflow *inflow, int descriptor);

/* Bytes were read. False: the connection was cut, and nobody may have them. */
bool aq_inflow_hears(aq_inflow *inflow, int descriptor, const uint8_t *bytes, size_t size,
                     int64_t now_ns);

/* It is read from again: whoever read from it before has taken what came whole. */
void aq_inflow_goes_on(aq_inflow *inflow, aq_inflow_guest *guest);

/* Cuts those that are late; looks once a second at most. */
void aq_inflow_look(aq_inflow *inflow, int64_t now_ns);

#endif
