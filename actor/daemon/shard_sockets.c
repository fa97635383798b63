/*
 * The sockets of each lane, opened and closed as the session asks; what happens to them is told it.
 */
#include "actor/daemon/shard_sockets.h"

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/net/address/url.h"

/* Of Credit. */
enum { CALLS_MAX = 2 };

static void on_connected(void *user)
{
    const aq_lane_sockets *own = user;
    aq_shard_session_connected(own->all->session, own->lane, aq_clock_monotonic_ns());
}

static void on_disconnected(void *user)
{
    const aq_lane_sockets *own = user;
    aq_shard_session_disconnected(own->all->session, own->lane);
}

static void on_writable(void *user)
{
    const aq_lane_sockets *own = user;
    aq_shard_session_writable(own->all->session, own->lane);
}

static void close_shard(void *user, uint32_t lane)
{
    aq_shard_sockets *sockets = user;
    aq_lane_sockets *own = &sockets->of[lane];
    aq_push_close(own->push);
    aq_rpc_client_close(own->flow);
    own->push = NULL;
    own->flow = NULL;
}

static int open_shard(void *user, uint32_t lane, const char *rpc_url, const char *push_url,
                      const aq_net_limits *limits, aq_rpc_channel **ret_flow, aq_error *error)
{
    aq_shard_sockets *sockets = user;
    const aq_call_place *place = sockets->place;
    aq_lane_sockets *own = &sockets->of[lane];
    const aq_push_events events = {
        .connected = on_connected,
        .disconnected = on_disconnected,
        .writable = on_writable,
        .user = own,
    };
    const aq_net_limits secured = aq_call_place_limits(place, limits);
    char url[AQ_URL_MAX];
    AQ_ASSERT(own->push == NULL);
    own->all = sockets;
    own->lane = lane;
    int rc = aq_call_place_url(place, rpc_url, url, error);
    if (rc == 0) {
        rc = aq_rpc_client_create(place->loop, url, &secured, CALLS_MAX, &own->flow, error);
    }
    if (rc == 0) {
        rc = aq_call_place_url(place, push_url, url, error);
    }
    if (rc == 0) {
        rc = aq_push_create(place->loop, url, &secured, &events, &own->push, error);
    }
    if (rc != 0) {
        close_shard(sockets, lane);
        return rc;
    }
    *ret_flow = aq_rpc_client_channel(own->flow);
    return 0;
}

static int send_frame(void *user, uint32_t lane, const uint8_t *frame, size_t size)
{
    const aq_shard_sockets *sockets = user;
    return aq_push_send(sockets->of[lane].push, frame, size);
}

aq_shard_transport aq_shard_sockets_transport(aq_shard_sockets *sockets)
{
    return (aq_shard_transport){
        .user = sockets,
        .open = open_shard,
        .close = close_shard,
        .send = send_frame,
    };
}
