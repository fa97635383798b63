/*
 * What the tests of sockets share: running a loop until something is true, urls of every transport
 * that nobody else uses, and a server and a client on one loop.
 */
#ifndef AQ_TESTS_UNIT_COMMON_NET_NET_KIT_H
#define AQ_TESTS_UNIT_COMMON_NET_NET_KIT_H

#include <netdb.h>
#include <nng/nng.h>
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

/* A loop; when the test is over it runs until the last handle is closed. */
uv_loop_t *net_kit_loop(void);
void net_kit_finish_loop(uv_loop_t *loop);

/* A plain connection to where somebody of this host listens; the caller's. */
int net_kit_connect(const char *url);

/* Closes a socket, and stays until NNG has done so, which may take it seconds. */
void net_kit_close_socket(nng_socket socket);

/* "tcp", "ipc" or "inproc" to a url to listen at, where nobody else does (own_host.h). */
const char *net_kit_url(const char *transport, char *ret_url);

enum { NET_PAIR_CALLS_MAX = 100, NET_PAIR_RESULTS_MAX = 512 };

/* One address, in one piece, which freeaddrinfo frees. */
struct addrinfo *net_kit_address(const char *host, uint16_t port);

/* Pushes so many messages to a shard on this host, which are all there, whole and in order. The
 * pusher dials what `rename` makes of the shard's url; NULL: the url. */
void net_kit_deliver(const aq_net_limits *pull_limits, const aq_net_limits *push_limits,
                     void (*rename)(const char *url, char *ret_url), unsigned messages);

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
    const aq_security *own; /* NULL, or the server's credentials, and the client's */
    const aq_security *callers;
    char url[AQ_URL_MAX];
    rpc_result results[NET_PAIR_RESULTS_MAX];
    size_t result_count;
    bool is_closed;
} net_pair;

/* With deadlines of timeout_ms; closed when the test is over. */
net_pair *net_pair_open(const char *transport, uint32_t timeout_ms);

/* A server at 127.0.0.1, and no client yet, with credentials for both or NULL. */
net_pair *net_pair_serve(const aq_security *own, const aq_security *callers, uint32_t timeout_ms);

/* The client dials this. It stays until it has connected, or NNG may lose a connection. */
void net_pair_dial(net_pair *pair, const char *url);

/* Before the test is over: closes what is still open; held calls are answered. */
void net_pair_close(net_pair *pair);

/* Listens again where the closed server did. */
void net_pair_restart_server(net_pair *pair);
void net_pair_stop_server(net_pair *pair);

/* Makes a call; its result stays as long as the pair. */
const rpc_result *net_pair_fetch(net_pair *pair, uint32_t bytes);
const rpc_result *net_pair_stop(net_pair *pair, const char *reason);

/* Runs the loop until the result is there, and returns it. */
const rpc_result *net_pair_wait(net_pair *pair, const rpc_result *result);

/* Makes so many calls of Stop, which are held, and sees them arrive. */
void net_pair_hold(net_pair *pair, const rpc_result **ret_results, size_t count);

/* Closes the client before the server. */
void net_pair_close_client(net_pair *pair);

/* Runs the loop until so many methods were carried out, or calls are held. */
void net_pair_wait_carried_out(net_pair *pair, unsigned count);
void net_pair_wait_held(net_pair *pair, size_t count);

#endif
