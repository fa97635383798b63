/*
 * An actor's or evaluator's process: what it serves over HTTP, all of it to look at. Loop thread
 * only.
 */
#ifndef AQ_ACTOR_DAEMON_ACTOR_HTTP_H
#define AQ_ACTOR_DAEMON_ACTOR_HTTP_H

#include <stdbool.h>
#include <uv.h>

#include "actor/session/participant_session.h"
#include "common/net/http/daemon_http.h"

/* As aq_daemon_http_open; what is given is lent until that is closed. */
int aq_actor_http_open(uv_loop_t *loop, const char *listen, const aq_participant *participant,
                       const aq_security *security, bool evaluates, aq_daemon_http **ret_http,
                       aq_error *error) AQ_MUST_USE;

#endif
