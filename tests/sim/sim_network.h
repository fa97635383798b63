/*
 * Network: hosts, the weather between them, and messages on their way.
 *
 * A message is lost, late, doubled or overtaken as the weather says; between two hosts that are cut
 * off from one another nothing arrives, in one direction or in both. A host that stands still (a
 * stopped process, a long pause) is handed what arrived when it goes on. A host that is down is
 * handed nothing.
 *
 * What a message that did not arrive means is for those above to say: sim_rpc and sim_push model
 * connections.
 */
#ifndef AQ_TESTS_SIM_SIM_NETWORK_H
#define AQ_TESTS_SIM_SIM_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/sim_world.h"

enum { SIM_HOSTS_MAX = 16 };

typedef struct sim_weather {
    int64_t delay_min_ns, delay_max_ns;
    double late_share; /* of messages that take up to late_max_ns */
    int64_t late_max_ns;
    double loss_share;
    double twice_share;
} sim_weather;

typedef struct sim_host {
    bool up;
    uint64_t
        life; /* grows with every start, so that what an earlier life asked for is told apart */
    int64_t still_until_ns;
} sim_host;

typedef struct sim_message sim_message;

typedef struct sim_network {
    sim_world *world;
    sim_weather weather;
    sim_host hosts[SIM_HOSTS_MAX];
    bool cut[SIM_HOSTS_MAX][SIM_HOSTS_MAX]; /* [from][to] */
    sim_message *messages;                  /* all on their way */
    size_t message_count;
    uint64_t lost, doubled;
} sim_network;

void sim_network_init(sim_network *network, sim_world *world);
void sim_network_fini(sim_network *network);

/* A sunny day. */
sim_weather sim_weather_calm(void);

void sim_host_start(sim_network *network, uint32_t host);
void sim_host_stop(sim_network *network, uint32_t host);
void sim_host_stand_still(sim_network *network, uint32_t host, int64_t until_ns);

/* Whether the event, which is for this host, has to wait until the host goes on; it will then come
 * again. */
bool sim_host_postpones(sim_network *network, uint32_t host, sim_event_fn run, void *user,
                        uint64_t tag);

/* The bytes are there for the call only. `frame` NULL: the message is lost, told when it would have
 * arrived. A message that is doubled may arrive twice; at most one loss is told. */
typedef void (*sim_arrival_fn)(void *user, uint64_t tag, const uint8_t *frame, size_t size);

typedef struct sim_route {
    uint32_t from, to;
    sim_arrival_fn arrival;
    void *user; /* lives as long as the network */
    uint64_t tag;
    int64_t not_before_ns; /* for messages that keep their order */
    bool is_stream;        /* the weather only delays it: a connection loses all or nothing */
} sim_route;

/* Returns when it will arrive. */
int64_t sim_network_carry(sim_network *network, const sim_route *route, const uint8_t *frame,
                          size_t size);

#endif
