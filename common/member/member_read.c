/*
 * The checks of what a learner answers. What a URL means is the sockets' business; here it has to
 * fit and to be there.
 */
#include "common/member/member_read.h"

#include <inttypes.h>
#include <string.h>

#include "common/wire/wire_frame.h"
#include "common/wire/wire_run.h"

static int read_state(Actorq__V1__RunState state, enum aq_run_state *ret_state, aq_error *error)
{
    switch ((int)state) {
    case AQ_RUN_RUNNING:
    case AQ_RUN_SOLVED:
    case AQ_RUN_BUDGET:
    case AQ_RUN_STOPPED:
    case AQ_RUN_DIVERGED:
        *ret_state = (enum aq_run_state)state;
        return 0;
    default:
        return aq_fail(error, AQ_E_CORRUPT, "the run is in state %d, which is not known here",
                       (int)state);
    }
}

static int read_url(char *out, const char *url, const char *name, aq_error *error)
{
    if (url[0] == '\0') {
        return aq_fail(error, AQ_E_CORRUPT, "%s is empty", name);
    }
    return aq_wire_text_copy(out, AQ_URL_MAX, url, name, error);
}

int aq_member_read_join(const Actorq__V1__JoinReply *reply, aq_member_view *view, aq_error *error)
{
    if (reply->run_id == 0 || reply->member == 0) {
        return aq_fail(error, AQ_E_CORRUPT, "member %" PRIu64 " of run %" PRIx64 "; neither is 0",
                       reply->member, reply->run_id);
    }
    view->run_id = reply->run_id;
    view->member = reply->member;
    view->slot = reply->slot;
    int rc = read_state(reply->state, &view->run_state, error);
    if (rc == 0) {
        rc = read_url(view->policy_url, reply->policy_url, "policy_url", error);
    }
    if (rc == 0) {
        rc = aq_wire_settings_from(reply->settings, &view->settings, error);
    }
    view->settings_generation = reply->settings_generation;
    return rc;
}

static int read_shard(const Actorq__V1__ShardAddress *shard, uint32_t index, aq_member_view *view,
                      aq_error *error)
{
    if (shard->member == 0) {
        return aq_fail(error, AQ_E_CORRUPT, "shard %u has no member number", index);
    }
    if (shard->slot >= AQ_MEMBER_SHARDS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "shard %u has slot %u; at most %d are possible", index,
                       shard->slot, AQ_MEMBER_SHARDS_MAX);
    }
    for (uint32_t i = 0; i < index; i++) {
        if (view->shards[i].member == shard->member) {
            return aq_fail(error, AQ_E_CORRUPT, "shard %u is named twice: member %" PRIu64, index,
                           shard->member);
        }
        if (view->shards[i].slot == shard->slot) {
            return aq_fail(error, AQ_E_CORRUPT, "two shards have slot %u", shard->slot);
        }
    }
    view->shards[index].member = shard->member;
    view->shards[index].store = shard->store;
    view->shards[index].instance = shard->instance;
    view->shards[index].slot = shard->slot;
    int rc = read_url(view->shards[index].rpc_url, shard->rpc_url, "a shard's rpc_url", error);
    if (rc == 0) {
        rc = read_url(view->shards[index].push_url, shard->push_url, "a shard's push_url", error);
    }
    return rc;
}

int aq_member_read_heartbeat(const Actorq__V1__HeartbeatReply *reply, aq_member_view *view,
                             aq_error *error)
{
    if (reply->n_shards > AQ_MEMBER_SHARDS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "%zu shards; at most %d are possible", reply->n_shards,
                       AQ_MEMBER_SHARDS_MAX);
    }
    int rc = read_state(reply->state, &view->run_state, error);
    view->is_asked_to_leave = view->is_asked_to_leave || reply->leave;
    view->version = reply->version;
    view->shard_count = (uint32_t)reply->n_shards;
    memset(view->shards, 0, sizeof(view->shards)); /* so that views can be compared as bytes */
    for (uint32_t i = 0; rc == 0 && i < view->shard_count; i++) {
        rc = read_shard(reply->shards[i], i, view, error);
    }
    return rc;
}

int aq_member_read_settings(const Actorq__V1__HeartbeatReply *reply, aq_member_view *view,
                            aq_error *error)
{
    aq_run_settings now;
    if (reply->settings == NULL) {
        return 0;
    }
    int rc = aq_wire_settings_from(reply->settings, &now, error);
    if (rc == 0) {
        view->settings_generation = reply->settings_generation;
        aq_run_settings_take_live(&view->settings, &now);
    }
    return rc;
}
