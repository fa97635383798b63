/*
 * The policy broadcast (E4) over the simulated network: one publisher's url, any number of
 * subscribers, lossy. A subscriber connects after a while, and again after a while when the
 * publisher was started anew or the connection was lost; what is sent in between it never hears.
 */
#ifndef AQ_TESTS_SIM_SIM_BROADCAST_H
#define AQ_TESTS_SIM_SIM_BROADCAST_H

#include <stdbool.h>

#include "tests/sim/sim_network.h"

typedef struct sim_subscriber sim_subscriber;

typedef struct sim_broadcast {
    sim_network *network;
    uint32_t host; /* of the publisher */
    bool publishes;
    sim_subscriber *subscribers;
    uint64_t next_subscriber;
} sim_broadcast;

void sim_broadcast_init(sim_broadcast *broadcast, sim_network *network, uint32_t host);
void sim_broadcast_fini(sim_broadcast *broadcast); /* everybody has unsubscribed */

void sim_broadcast_open(sim_broadcast *broadcast);
void sim_broadcast_close(sim_broadcast *broadcast);
void sim_broadcast_send(sim_broadcast *broadcast, const uint8_t *frame, size_t size);

typedef void (*sim_heard_fn)(void *user, const uint8_t *frame, size_t size);

sim_subscriber *sim_subscribe(sim_broadcast *broadcast, uint32_t host, sim_heard_fn heard,
                              void *user);
void sim_unsubscribe(sim_subscriber *subscriber); /* NULL is fine */

#endif
