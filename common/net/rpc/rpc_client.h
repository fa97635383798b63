/*
 * The caller's end of RPC over NNG: one REQ socket, any number of calls in flight on contexts of
 * their own. Dials without blocking and goes on dialling with back-off; a call made while the peer
 * is away waits for it, up to its deadline. Loop thread only.
 */
#ifndef AQ_COMMON_NET_RPC_RPC_CLIENT_H
#define AQ_COMMON_NET_RPC_RPC_CLIENT_H

#include <stdbool.h>
#include <uv.h>

#include "common/net/rpc/rpc.h"
#include "common/net/sockets/net.h"

typedef struct aq_rpc_client aq_rpc_client;

/* `limits` as agreed; at most `calls_max` in flight (AQ_E_FULL beyond). */
int aq_rpc_client_create(uv_loop_t *loop, const char *url, const aq_net_limits *limits,
                         size_t calls_max, aq_rpc_client **ret_client, aq_error *error) AQ_MUST_USE;

/* Calls in flight are answered with AQ_E_CLOSED first. The memory goes when the loop has run its
 * close callbacks. NULL is fine. */
void aq_rpc_client_close(aq_rpc_client *client);

aq_rpc_channel *aq_rpc_client_channel(aq_rpc_client *client);
bool aq_rpc_client_connected(const aq_rpc_client *client);

#endif
