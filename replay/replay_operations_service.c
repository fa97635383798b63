/*
 * What people ask a shard. A Status is put together in place from views, so it costs one packing.
 */
#include "replay/replay_operations_service.h"

#include <math.h>

#include "common/base/clock.h"
#include "common/net/rpc.h"
#include "common/sys/machine.h"

/* protobuf-c's messages hold writable pointers; packing only reads. */
static char *writable(const char *text)
{
    return (char *)(uintptr_t)text;
}

void aq_operations_statistics(const aq_replay_host *host, Actorq__V1__ReplayStats *ret_statistics)
{
    actorq__v1__replay_stats__init(ret_statistics);
    ret_statistics->resident_bytes = aq_machine_resident_bytes();
    if (host->core == NULL) {
        return;
    }
    aq_replay_counters counters = aq_replay_core_counters(host->core);
    ret_statistics->inserted = counters.inserted;
    ret_statistics->sampled = counters.sampled;
    ret_statistics->stored = counters.stored;
    ret_statistics->bytes = counters.bytes;
    ret_statistics->duplicates = counters.duplicates;
    ret_statistics->gaps = counters.gaps;
    ret_statistics->rejected = counters.rejected;
    ret_statistics->insert_per_s = host->insert_per_s;
    ret_statistics->sample_per_s = host->sample_per_s;
    ret_statistics->waiting = writable(aq_replay_core_waiting(host->core));
}

/* The actors that were heard from, the most recently met first. */
static size_t list_members(aq_operations_service *operations)
{
    const aq_replay_host *host = operations->host;
    size_t actors = aq_replay_core_actors(host->core);
    size_t count = actors < AQ_STATUS_MEMBERS_MAX ? actors : AQ_STATUS_MEMBERS_MAX;
    for (size_t i = 0; i < count; i++) {
        aq_replay_actor_view actor = aq_replay_core_actor(host->core, actors - 1 - i);
        Actorq__V1__MemberStatus *member = &operations->members[i];
        Actorq__V1__ActorStats *stats = &operations->member_stats[i];
        actorq__v1__member_status__init(member);
        actorq__v1__actor_stats__init(stats);
        stats->env_steps = actor.received;
        stats->return_mean = NAN;
        member->member = actor.actor;
        member->role = ACTORQ__V1__ROLE__ROLE_ACTOR;
        member->incarnation = actor.incarnation;
        member->joined_ms = (uint64_t)((host->now_ns - actor.met_ns) / AQ_NS_PER_MS);
        member->heartbeat_ms = (uint64_t)((host->now_ns - actor.heard_ns) / AQ_NS_PER_MS);
        member->actor = stats;
        operations->member_pointers[i] = member;
    }
    return count;
}

static void operations_status(Actorq__V1__Operations_Service *service,
                              const Actorq__V1__StatusRequest *input,
                              Actorq__V1__StatusReply_Closure closure, void *closure_data)
{
    static char role[] = "replay";
    static char software[] = AQ_VERSION;
    aq_operations_service *operations = (aq_operations_service *)service;
    const aq_replay_host *host = operations->host;
    (void)input;
    if (host->core == NULL) {
        aq_rpc_fail(closure_data, AQ_RPC_UNAVAILABLE, "this shard has not joined a run yet");
        return;
    }
    const aq_run_settings *settings = aq_replay_core_settings(host->core);
    Actorq__V1__ReplayStats statistics;
    aq_operations_statistics(host, &statistics);
    Actorq__V1__StatusReply reply = ACTORQ__V1__STATUS_REPLY__INIT;
    reply.role = role;
    reply.software = software;
    reply.run_id = aq_replay_core_run_id(host->core);
    reply.task = writable(settings->task);
    reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    reply.uptime_s = (double)(host->now_ns - host->started_ns) / (double)AQ_NS_PER_S;
    reply.resident_bytes = statistics.resident_bytes;
    reply.replay = &statistics;
    reply.n_members = list_members(operations);
    reply.members = operations->member_pointers;
    reply.seed = settings->seed;
    closure(&reply, closure_data);
}

static void operations_stop(Actorq__V1__Operations_Service *service,
                            const Actorq__V1__StopRequest *input,
                            Actorq__V1__StopReply_Closure closure, void *closure_data)
{
    aq_operations_service *operations = (aq_operations_service *)service;
    Actorq__V1__StopReply reply = ACTORQ__V1__STOP_REPLY__INIT;
    operations->owner.stop(operations->owner.user, aq_rpc_call_peer(closure_data), input->reason);
    closure(&reply, closure_data);
}

static void operations_checkpoint(Actorq__V1__Operations_Service *service,
                                  const Actorq__V1__CheckpointRequest *input,
                                  Actorq__V1__CheckpointReply_Closure closure, void *closure_data)
{
    (void)service;
    (void)input;
    (void)closure;
    aq_rpc_fail(closure_data, AQ_RPC_UNIMPLEMENTED,
                "a replay shard holds its steps in memory only; ask the learner for a checkpoint");
}

void aq_operations_service_init(aq_operations_service *operations, const aq_replay_host *host,
                                const aq_replay_service_owner *owner)
{
    *operations = (aq_operations_service){
        .base = ACTORQ__V1__OPERATIONS__INIT(operations_),
        .host = host,
        .owner = *owner,
    };
}
