/*
 * The daemon's end of RPC over NNG: a REP socket whose contexts grow with the calls in progress, so
 * that a held-back answer never keeps another caller waiting. Requests reach the dispatcher on the
 * loop's thread.
 */
#ifndef AQ_COMMON_NET_RPC_RPC_SERVER_H
#define AQ_COMMON_NET_RPC_RPC_SERVER_H

#include <uv.h>

#include "common/net/rpc/rpc.h"
#include "common/net/sockets/net.h"

typedef struct aq_rpc_server aq_rpc_server;

/* Listens at `url` (port 0 is resolved; see aq_rpc_server_url). AQ_E_IN_USE names the url. When
 * limits->security has a token the dispatcher is guarded with it. limits->message_bytes_max is of
 * requests; what a reply may be the dispatcher says. */
int aq_rpc_server_create(uv_loop_t *loop, const char *url, const aq_net_limits *limits,
                         aq_rpc_dispatcher *dispatcher, aq_rpc_server **ret_server,
                         aq_error *error) AQ_MUST_USE;

/* Stops listening; answers to calls still in progress go nowhere. NULL is fine. Answer all calls
 * before the dispatcher is destroyed. */
void aq_rpc_server_close(aq_rpc_server *server);

/* Requests of up to so many bytes are taken from now on; and a caller may ask for so many bytes of
 * replies before it takes the first, beside what may wait for anybody. */
void aq_rpc_server_allow(aq_rpc_server *server, size_t request_bytes_max, size_t ahead_bytes);

/* The url with the port that was really bound. */
const char *aq_rpc_server_url(const aq_rpc_server *server);

/* Connections refused by the transport so far: peers that spoke something else (HTTP, …). */
uint64_t aq_rpc_server_foreign_peers(const aq_rpc_server *server);

#endif
