/*
 * A small HTTP server beside a daemon's own sockets: it answers GET and HEAD on a fixed list of
 * paths with what a function writes on the loop's thread, and everything else with a status. It
 * changes nothing: whoever reaches it can look, and no more.
 *
 * Connections (64), their idle time, the size of a request (8 KiB) and of an answer (16 MiB), and
 * the time that either may take are bounded; a peer beyond a bound is closed and counted. When all
 * connections are taken, a new one takes the place of one whose peer keeps it waiting, for a
 * request or for more of an answer to be taken: of the neighbour with the most connections the one
 * that waits for longest, and of one with more than half of them one in any case.
 *
 * The loop's thread, all of it.
 */
#ifndef AQ_COMMON_NET_HTTP_HTTP_SERVER_H
#define AQ_COMMON_NET_HTTP_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "common/base/error.h"
#include "common/net/http/http_site.h"

typedef struct aq_http_server aq_http_server;

/* Listens at "host:port" (port 0: any). `routes` (32 at most) are copied. AQ_E_IN_USE,
 * AQ_E_INVALID, AQ_E_NOT_FOUND and what the system says name the address. The loop must run its
 * close callbacks after a failure, too. */
int aq_http_server_create(uv_loop_t *loop, const char *listen, const aq_http_route *routes,
                          size_t count, aq_http_server **ret_server, aq_error *error) AQ_MUST_USE;

/* Besides numbers and names without a dot; borrowed. See aq_http_host_is_known. */
void aq_http_server_name(aq_http_server *server, const char *names);

const char *aq_http_server_url(const aq_http_server *server); /* "http://127.0.0.1:41234" */

/* Whether it can be reached from this host only. */
bool aq_http_server_is_local(const aq_http_server *server);

aq_http_counters aq_http_server_counters(const aq_http_server *server);

/* Once; NULL is fine; a route's function may call it. What is under way ends unanswered. The memory
 * goes when the loop has run its close callbacks. */
void aq_http_server_close(aq_http_server *server);

#endif
