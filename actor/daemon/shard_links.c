#include "actor/daemon/shard_links.h"

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/net/address/url.h"

/* Of Credit. */
enum { CALLS_MAX = 2 };

int aq_call_place_url(const aq_call_place *place, const char *url, char *ret_url, size_t size,
                      aq_error *error)
{
    int rc = aq_url_reachable(url, place->learner_url, ret_url, size);
    return rc != 0 ? aq_fail(error, rc, "%s: %s", url, aq_error_text(rc)) : 0;
}

aq_net_limits aq_call_place_limits(const aq_call_place *place, const aq_net_limits *limits)
{
    aq_net_limits own = *limits;
    own.security = place->security;
    return own;
}

static void on_connected(void *user)
{
    const aq_shard_link *link = user;
    aq_actor_session_connected(link->links->session, link->lane, aq_clock_monotonic_ns());
}

static void on_disconnected(void *user)
{
    const aq_shard_link *link = user;
    aq_actor_session_disconnected(link->links->session, link->lane);
}

static void on_writable(void *user)
{
    const aq_shard_link *link = user;
    aq_actor_session_writable(link->links->session, link->lane);
}

static void close_shard(void *user, uint32_t lane)
{
    aq_shard_links *links = user;
    aq_shard_link *link = &links->of[lane];
    aq_push_close(link->push);
    aq_rpc_client_close(link->flow);
    link->push = NULL;
    link->flow = NULL;
}

static int open_shard(void *user, uint32_t lane, const char *rpc_url, const char *push_url,
                      const aq_net_limits *limits, aq_rpc_channel **ret_flow, aq_error *error)
{
    aq_shard_links *links = user;
    const aq_call_place *place = links->place;
    aq_shard_link *link = &links->of[lane];
    const aq_push_events events = {
        .connected = on_connected,
        .disconnected = on_disconnected,
        .writable = on_writable,
        .user = link,
    };
    const aq_net_limits own = aq_call_place_limits(place, limits);
    char url[AQ_URL_MAX];
    AQ_ASSERT(link->push == NULL);
    link->links = links;
    link->lane = lane;
    int rc = aq_call_place_url(place, rpc_url, url, sizeof(url), error);
    if (rc == 0) {
        rc = aq_rpc_client_create(place->loop, url, &own, CALLS_MAX, &link->flow, error);
    }
    if (rc == 0) {
        rc = aq_call_place_url(place, push_url, url, sizeof(url), error);
    }
    if (rc == 0) {
        rc = aq_push_create(place->loop, url, &own, &events, &link->push, error);
    }
    if (rc != 0) {
        close_shard(links, lane);
        return rc;
    }
    *ret_flow = aq_rpc_client_channel(link->flow);
    return 0;
}

static int send_frame(void *user, uint32_t lane, const uint8_t *frame, size_t size)
{
    const aq_shard_links *links = user;
    return aq_push_send(links->of[lane].push, frame, size);
}

aq_shard_transport aq_shard_links_transport(aq_shard_links *links)
{
    return (aq_shard_transport){
        .user = links,
        .open = open_shard,
        .close = close_shard,
        .send = send_frame,
    };
}
