/*
 * An actor's connections to its shards: for each lane a client for credit and a socket for steps.
 * Loop thread only.
 */
#ifndef AQ_ACTOR_DAEMON_SHARD_SOCKETS_H
#define AQ_ACTOR_DAEMON_SHARD_SOCKETS_H

#include <uv.h>

#include "actor/session/actor_session.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/security/security.h"
#include "common/net/sockets/push.h"

/* Where other members are called from: the loop, the learner's address, and with what this process
 * proves itself. */
typedef struct aq_call_place {
    uv_loop_t *loop;
    const char *learner_url;
    aq_security *security;
} aq_call_place;

/* An address that the learner has told, as it is reached from here: what is on the learner's host
 * may be known to it by one that only that host can use. */
int aq_call_place_url(const aq_call_place *place, const char *url, char *ret_url, size_t size,
                      aq_error *error) AQ_MUST_USE;

/* `limits` with what this process proves itself with. */
aq_net_limits aq_call_place_limits(const aq_call_place *place, const aq_net_limits *limits);

typedef struct aq_shard_sockets aq_shard_sockets;

typedef struct aq_lane_sockets {
    aq_shard_sockets *all;
    uint32_t lane;
    aq_rpc_client *flow; /* with `push`: NULL while they are closed */
    aq_push *push;
} aq_lane_sockets;

struct aq_shard_sockets {
    const aq_call_place *place;
    aq_actor_session *session; /* which opens and closes lanes, and is told of them */
    aq_lane_sockets of[AQ_SPREAD_SHARDS_MAX];
};

aq_shard_transport aq_shard_sockets_transport(aq_shard_sockets *sockets);

#endif
