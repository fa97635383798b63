/*
 * What people ask a shard. A Status is put together in place from views, so it costs one packing.
 */
#include "replay/service/replay_operations_service.h"

#include <math.h>

#include "common/base/clock.h"
#include "common/net/rpc/rpc.h"
#include "common/net/security/incarnation.h"
#include "common/wire/wire_frame.h"
#include "common/wire/wire_peers.h"
#include "replay/shard/replay_credit.h"

static void describe_intake(const aq_replay_actor *actor, Actorq__V1__IntakeStats *intake)
{
    actorq__v1__intake_stats__init(intake);
    intake->transitions = actor->transitions;
    intake->taken = actor->sequence.taken;
    intake->acknowledged = actor->sequence.acknowledged;
    intake->duplicates = actor->sequence.duplicates;
    intake->gaps = actor->sequence.gaps;
    /* The grant itself may go on from that of an earlier store, whose steps are not counted. */
    intake->granted = actor->transitions + aq_replay_credit_outstanding(actor);
}

/* The actors that were heard from, the most recently met first. */
static size_t list_members(aq_operations_service *operations)
{
    const aq_replay_host *host = operations->host;
    size_t actors = aq_replay_core_actors(host->core);
    size_t count = actors < AQ_STATUS_MEMBERS_MAX ? actors : AQ_STATUS_MEMBERS_MAX;
    for (size_t i = 0; i < count; i++) {
        const aq_replay_actor *actor = aq_replay_core_actor(host->core, actors - 1 - i);
        Actorq__V1__MemberStatus *member = &operations->members[i];
        Actorq__V1__ActorStats *stats = &operations->member_stats[i];
        actorq__v1__member_status__init(member);
        actorq__v1__actor_stats__init(stats);
        stats->env_steps = actor->transitions;
        stats->return_mean = NAN;
        member->member = actor->actor;
        member->role = ACTORQ__V1__ROLE__ROLE_ACTOR;
        member->incarnation = aq_incarnation_name(actor->incarnation);
        member->joined_ms = (uint64_t)((host->now_ns - actor->met_ns) / AQ_NS_PER_MS);
        member->heartbeat_ms = (uint64_t)((host->now_ns - actor->heard_ns) / AQ_NS_PER_MS);
        member->actor = stats;
        describe_intake(actor, &operations->member_intakes[i]);
        member->intake = &operations->member_intakes[i];
        operations->member_pointers[i] = member;
    }
    return count;
}

static void operations_status(Actorq__V1__Operations_Service *service,
                              const Actorq__V1__StatusRequest *input,
                              Actorq__V1__StatusReply_Closure closure, void *closure_data)
{
    aq_operations_service *operations = (aq_operations_service *)service;
    const aq_replay_host *host = operations->host;
    (void)input;
    if (!aq_replay_host_has_run(host, closure_data)) {
        return;
    }
    const aq_run_settings *settings = aq_replay_core_settings(host->core);
    aq_replay_stats *stats = &operations->stats;
    aq_replay_stats_fill(host, stats);
    Actorq__V1__StatusReply reply = ACTORQ__V1__STATUS_REPLY__INIT;
    reply.role = aq_wire_text("replay");
    reply.software = aq_wire_text(AQ_VERSION);
    reply.run_id = aq_replay_core_run_id(host->core);
    reply.task = aq_wire_text(settings->task);
    reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    reply.uptime_s = aq_ns_to_s(host->now_ns - host->started_ns);
    reply.resident_bytes = stats->message.resident_bytes;
    reply.replay = &stats->message;
    reply.run_dir = aq_wire_text(host->folder);
    reply.n_members = list_members(operations);
    reply.members = operations->member_pointers;
    reply.seed = settings->seed;
    reply.incarnation = host->process;
    Actorq__V1__PeerStatus peers;
    const aq_net_peers counted = aq_net_peer_counters();
    aq_wire_peers_to(&counted, &peers);
    reply.peers = &peers;
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
    aq_operations_service *operations = (aq_operations_service *)service;
    const aq_replay_host *host = operations->host;
    (void)input;
    if (!aq_replay_host_has_run(host, closure_data)) {
        return;
    }
    if (operations->held_count == AQ_HELD_CHECKPOINTS_MAX) {
        aq_rpc_fail(closure_data, AQ_RPC_RESOURCE_EXHAUSTED, "%d others wait for a snapshot",
                    AQ_HELD_CHECKPOINTS_MAX);
        return;
    }
    aq_held_checkpoint held = {
        .until_ns = aq_replay_host_until_ns(host, AQ_REPLAY_WAIT_MS_MAX, closure_data),
        .closure = closure,
        .closure_data = closure_data,
    };
    if (aq_replay_core_snapshot_now(host->core, &held.snapshots) != 0) {
        aq_rpc_fail(closure_data, AQ_RPC_UNIMPLEMENTED,
                    "this shard holds its steps in memory only; ask the learner for a checkpoint");
        return;
    }
    operations->held[operations->held_count++] = held;
}

/* What the run is set to, and who is in it, is the learner's. */
static void refuse_for_learner(void *closure_data)
{
    aq_rpc_fail(closure_data, AQ_RPC_UNIMPLEMENTED,
                "this is a replay shard; ask the learner of the run");
}

static void operations_configure(Actorq__V1__Operations_Service *service,
                                 const Actorq__V1__ConfigureRequest *input,
                                 Actorq__V1__ConfigureReply_Closure closure, void *closure_data)
{
    (void)service;
    (void)input;
    (void)closure;
    refuse_for_learner(closure_data);
}

static void operations_drain(Actorq__V1__Operations_Service *service,
                             const Actorq__V1__DrainRequest *input,
                             Actorq__V1__DrainReply_Closure closure, void *closure_data)
{
    (void)service;
    (void)input;
    (void)closure;
    refuse_for_learner(closure_data);
}

/* False while there is nothing to say. */
static bool answer_checkpoint(const aq_replay_host *host, const aq_held_checkpoint *held)
{
    const aq_log_progress *progress = aq_replay_core_log_progress(host->core);
    const char *trouble = aq_replay_core_log_trouble(host->core);
    if (progress->snapshots >= held->snapshots) {
        Actorq__V1__CheckpointReply reply = ACTORQ__V1__CHECKPOINT_REPLY__INIT;
        reply.path = aq_wire_text(host->folder);
        held->closure(&reply, held->closure_data);
        return true;
    }
    if (host->now_ns >= held->until_ns) {
        aq_rpc_fail(held->closure_data, AQ_RPC_UNAVAILABLE,
                    "the snapshot is not on the disk yet%s%s", trouble[0] != '\0' ? ": " : "",
                    trouble);
        return true;
    }
    return false;
}

void aq_operations_service_tick(aq_operations_service *operations)
{
    for (size_t i = 0; i < operations->held_count;) {
        aq_held_checkpoint held = operations->held[i];
        if (answer_checkpoint(operations->host, &held)) {
            operations->held[i] = operations->held[--operations->held_count];
        } else {
            i++;
        }
    }
}

void aq_operations_service_release(aq_operations_service *operations, const char *reason)
{
    while (operations->held_count > 0) {
        aq_rpc_fail(operations->held[--operations->held_count].closure_data, AQ_RPC_UNAVAILABLE,
                    "%s", reason);
    }
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
