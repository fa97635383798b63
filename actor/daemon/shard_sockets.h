/*
 * An actor's connections to its shards: for each lane a client for credit and a socket for steps.
 * Loop thread only.
 */
#ifndef AQ_ACTOR_DAEMON_SHARD_SOCKETS_H
#define AQ_ACTOR_DAEMON_SHARD_SOCKETS_H

#include "actor/daemon/call_place.h"
#include "actor/session/shard_session.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/sockets/push.h"

typedef struct aq_shard_sockets aq_shard_sockets;

typedef struct aq_lane_sockets {
    aq_shard_sockets *all;
    uint32_t lane;
    aq_rpc_client *flow; /* with `push`: NULL while they are closed */
    aq_push *push;
} aq_lane_sockets;

struct aq_shard_sockets {
    const aq_call_place *place;
    aq_shard_session *session; /* which opens and closes lanes, and is told of them */
    aq_lane_sockets of[AQ_SPREAD_SHARDS_MAX];
};

aq_shard_transport aq_shard_sockets_transport(aq_shard_sockets *sockets);

#endif
