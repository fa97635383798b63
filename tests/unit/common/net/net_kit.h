/*
 * What the tests of sockets share: running a loop until something is true, urls of every transport
 * that nobody else uses, and a server and a client on one loop.
 */
#ifndef AQ_TESTS_UNIT_COMMON_NET_NET_KIT_H
#define AQ_TESTS_UNIT_COMMON_NET_NET_KIT_H

#include <stdbool.h>
#include <uv.h>

#include "common/net/address/url.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/rpc/rpc_server.h"
#include "common/net/security/security.h"
#include "tests/unit/common/net/rpc_kit.h"

enum { NET_KIT_MESSAGE_MAX = 1 << 20, NET_KIT_PATIENCE_MS = 120000 };

extern const aq_net_limits net_kit_limits;

/* These, with credentials or NULL. */
aq_net_limits net_kit_secured(const aq_security *security);

typedef bool (*net_kit_fn)(void *user);

/* Runs the loop until `done` says so; fails the test after NET_KIT_PATIENCE_MS. */
void net_kit_run_until(uv_loop_t *loop, net_kit_fn done, void *user);

/* Runs the loop for a while, to see that something does not happen. */
void net_kit_run_for(uv_loop_t *loop, int time_ms);

/* Runs the loop until the last handle is closed, and closes it. */
void net_kit_finish_loop(uv_loop_t *loop);

/* "tcp", "ipc" or "inproc" to a url to listen at. */
const char *net_kit_url(const char *transport, char *ret_url);

/* A server with the made-up services and a client with a stub for each, on one loop. */
typedef struct net_pair {
    uv_loop_t loop;
    rpc_kit kit;
    aq_rpc_dispatcher *dispatcher;
    aq_rpc_server *server;
    aq_rpc_client *client;
    aq_rpc_stub policy;
    aq_rpc_stub operations;
    uint32_t timeout_ms;
    aq_security *own; /* NULL, or the server's credentials, and the client's; they go with it */
    aq_security *callers;
    char url[AQ_URL_MAX];
} net_pair;

enum { NET_PAIR_CALLS_MAX = 40 };

/* With deadlines of timeout_ms. */
void net_pair_open(net_pair *pair, const char *transport, uint32_t timeout_ms);

/* A server over TCP, and no client yet, with credentials for both or NULL. */
void net_pair_serve(net_pair *pair, aq_security *own, aq_security *callers, uint32_t timeout_ms);

/* The client dials this. It stays until it has connected, or NNG may lose a connection. */
void net_pair_dial(net_pair *pair, const char *url);

/* Closes what is still open; held calls are answered. */
void net_pair_close(net_pair *pair);

/* Listens again where the closed server did. */
void net_pair_restart_server(net_pair *pair);
void net_pair_stop_server(net_pair *pair);

/* Makes a call; the result's stub is set. */
void net_pair_fetch(net_pair *pair, uint32_t bytes, rpc_result *result);
void net_pair_stop(net_pair *pair, const char *reason, rpc_result *result);

/* Runs the loop until the result is there. */
void net_pair_wait(net_pair *pair, const rpc_result *result);

/* Runs the loop until so many methods were carried out, or calls are held. */
void net_pair_wait_carried_out(net_pair *pair, unsigned count);
void net_pair_wait_held(net_pair *pair, size_t count);

#endif
