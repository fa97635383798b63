/*
 * The replay daemon: what it serves over HTTP, all of it to look at. Loop thread only.
 */
#ifndef AQ_REPLAY_DAEMON_REPLAY_HTTP_H
#define AQ_REPLAY_DAEMON_REPLAY_HTTP_H

#include <uv.h>

#include "common/net/http/daemon_http.h"
#include "replay/service/replay_service.h"

/* As aq_daemon_http_open; what is given is lent until that is closed. */
int aq_replay_http_open(uv_loop_t *loop, const char *listen, aq_replay_service *service,
                        const aq_rpc_dispatcher *dispatcher, const aq_security *security,
                        aq_daemon_http **ret_http, aq_error *error) AQ_MUST_USE;

#endif
