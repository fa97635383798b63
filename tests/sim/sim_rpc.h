/*
 * Remote calls over the simulated network: channels for callers (aq_rpc_channel), and places where
 * dispatchers listen.
 *
 * As NNG's REQ does, a caller whose connection is lost sends its request again, with the same id,
 * when it is connected again; a request that vanishes without a sign waits for its deadline. Which
 * of the two a lost message is, is chance. Closing a client answers all that is out.
 */
#ifndef AQ_TESTS_SIM_SIM_RPC_H
#define AQ_TESTS_SIM_SIM_RPC_H

#include <stdbool.h>

#include "common/net/address/url.h"
#include "common/net/rpc/rpc.h"
#include "tests/sim/sim_network.h"

enum { SIM_SERVERS_MAX = 16 };

/* Hears what a server is asked and answers, to check it. */
typedef struct sim_tap {
    void *user;
    /* Returns what the request is about, for `answered`. */
    uint64_t (*read)(void *user, const char *method, const ProtobufCBinaryData *body);
    /* It was taken, not refused as a repeat. */
    void (*called)(void *user, const char *method, const ProtobufCBinaryData *body);
    /* With OK. Also when an answer is given again. */
    void (*answered)(void *user, const char *method, const ProtobufCBinaryData *body,
                     uint64_t about);
} sim_tap;

typedef struct sim_server {
    char url[AQ_URL_MAX];
    uint32_t host;
    bool listens;
    aq_rpc_dispatcher *dispatcher;
    sim_tap tap;
} sim_server;

typedef struct sim_call sim_call;

typedef struct sim_rpc {
    sim_network *network;
    sim_server servers[SIM_SERVERS_MAX];
    size_t server_count;
    sim_call *calls; /* out */
    uint64_t next_call;
    uint64_t timeouts;
} sim_rpc;

void sim_rpc_init(sim_rpc *rpc, sim_network *network);
void sim_rpc_fini(sim_rpc *rpc); /* every client is closed */

/* Whose address this is, whether or not anybody listens there. Before the first call to it. */
void sim_rpc_place(sim_rpc *rpc, const char *url, uint32_t host);

/* `tap` may be NULL. */
void sim_rpc_listen(sim_rpc *rpc, const char *url, aq_rpc_dispatcher *dispatcher,
                    const sim_tap *tap);
void sim_rpc_close(sim_rpc *rpc, const char *url);

typedef struct sim_client sim_client;

/* `woken` (may be NULL) runs after each answer. */
sim_client *sim_client_open(sim_rpc *rpc, uint32_t host, const char *url, size_t calls_max,
                            void (*woken)(void *user), void *user);
void sim_client_close(sim_client *client); /* NULL is fine */
aq_rpc_channel *sim_client_channel(sim_client *client);

#endif
