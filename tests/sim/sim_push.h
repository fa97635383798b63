/*
 * Connections for experience (E1) over the simulated network: what an actor's shard transport and a
 * shard's PULL are made of.
 *
 * A connection keeps order and loses nothing until it breaks; then what was on its way is lost, or
 * some of it still arrives, late, as from a socket that nobody has read yet. The sender learns of
 * the break after a while and dials again, with back-off. At most a window of messages is on its
 * way; the next is refused, and `writable` tells when to go on.
 *
 * `disorder` is harsher than any connection: messages overtake one another, come twice, or vanish
 * while the connection stays.
 */
#ifndef AQ_TESTS_SIM_SIM_PUSH_H
#define AQ_TESTS_SIM_SIM_PUSH_H

#include <stdbool.h>

#include "common/net/address/url.h"
#include "common/net/sockets/net.h"
#include "tests/sim/sim_network.h"

enum { SIM_PULLS_MAX = 8, SIM_LEFTOVERS_MAX = 32 };

typedef void (*sim_pull_fn)(void *user, const uint8_t *bytes, size_t size, const char *peer);

typedef struct sim_pull {
    char url[AQ_URL_MAX];
    uint32_t host;
    bool listens;
    uint64_t life; /* grows with every listen: a connection is to one process */
    sim_pull_fn receive;
    void *user;
} sim_pull;

typedef struct sim_sender sim_sender;

/* A connection that is over, but whose messages still arrive. */
typedef struct sim_leftover {
    uint64_t connection;
    uint64_t pull_life;
} sim_leftover;

typedef struct sim_push {
    sim_network *network;
    bool disorder;
    double break_share; /* of sends that break their connection */
    sim_pull pulls[SIM_PULLS_MAX];
    size_t pull_count;
    sim_sender *senders;
    uint64_t next_sender;
    sim_leftover leftovers[SIM_LEFTOVERS_MAX]; /* the most recent, a ring */
    size_t next_leftover;
    uint64_t breaks;
} sim_push;

void sim_push_init(sim_push *push, sim_network *network);
void sim_push_fini(sim_push *push); /* every sender is closed */

/* Whose address this is. Before the first sender to it. */
void sim_push_place(sim_push *push, const char *url, uint32_t host);
void sim_push_listen(sim_push *push, const char *url, sim_pull_fn receive, void *user);

/* The process there is gone: its connections break. */
void sim_push_close(sim_push *push, const char *url);

/* Breaks every connection from or to the host; told soon, or late. */
void sim_push_break(sim_push *push, uint32_t host);

/* Whether no connection is broken without its sender knowing. */
bool sim_push_is_whole(const sim_push *push);

typedef struct sim_sender_events {
    void *user;
    void (*connected)(void *user);
    void (*disconnected)(void *user);
    void (*writable)(void *user);
} sim_sender_events;

sim_sender *sim_sender_open(sim_push *push, uint32_t host, const char *url,
                            const aq_net_limits *limits, const sim_sender_events *events);
void sim_sender_close(sim_sender *sender); /* NULL is fine; what is on its way may still arrive */

/* As aq_push_send. */
int sim_sender_send(sim_sender *sender, const uint8_t *frame, size_t size);

#endif
