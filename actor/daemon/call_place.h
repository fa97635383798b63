/*
 * Where an actor calls other members from: its loop, the learner's address, and with what it proves
 * itself.
 */
#ifndef AQ_ACTOR_DAEMON_CALL_PLACE_H
#define AQ_ACTOR_DAEMON_CALL_PLACE_H

#include <uv.h>

#include "common/net/address/url.h"
#include "common/net/security/security.h"
#include "common/net/sockets/net.h"

typedef struct aq_call_place {
    uv_loop_t *loop;
    const char *learner_url;
    aq_security *security;
} aq_call_place;

/* An address that the learner has told, as it is reached from here: what is on the learner's host
 * may be known to it by one that only that host can use. */
int aq_call_place_url(const aq_call_place *place, const char *url, char ret_url[AQ_URL_MAX],
                      aq_error *error) AQ_MUST_USE;

/* `limits` that somebody agreed on, with what this process proves itself with. */
aq_net_limits aq_call_place_limits(const aq_call_place *place, const aq_net_limits *limits);

#endif
