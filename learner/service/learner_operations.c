/*
 * Learner service: the Operations methods, status, stop, checkpoint, configure and drain.
 */
#include <inttypes.h>
#include <math.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/security/incarnation.h"
#include "common/sys/machine.h"
#include "common/wire/wire_frame.h"
#include "common/wire/wire_peers.h"
#include "learner/service/learner_service_priv.h"

static aq_learner_service *of_operations(Actorq__V1__Operations_Service *methods)
{
    char *at = (char *)methods - offsetof(aq_learner_service, operations);
    return (aq_learner_service *)(void *)at;
}

static uint64_t ms_since(int64_t now_ns, int64_t then_ns)
{
    return now_ns > then_ns ? (uint64_t)((now_ns - then_ns) / AQ_NS_PER_MS) : 0;
}

static void fill_member(const aq_learner_service *service, const aq_member_record *record,
                        int64_t now_ns, Actorq__V1__MemberStatus *status)
{
    actorq__v1__member_status__init(status);
    status->member = record->member;
    status->role = (Actorq__V1__Role)record->role;
    status->slot = record->slot;
    status->host = aq_wire_text(record->host);
    status->pid = record->pid;
    status->incarnation = aq_incarnation_name(record->incarnation);
    status->joined_ms = ms_since(now_ns, record->joined_ns);
    status->heartbeat_ms = ms_since(now_ns, record->heard_ns);
    status->address = aq_wire_text(record->address);
    status->leaving = record->leaving;
    aq_member_stats_row *row = aq_member_stats_find(&service->stats, record->incarnation);
    if (row) {
        status->actor = row->has_actor ? &row->actor : NULL;
        status->replay = row->replay ? &row->replay->stats : NULL;
    }
}

static void fill_returns(const aq_learner_service *service, Actorq__V1__LearnerStatus *learner)
{
    const aq_evaluation_result *latest = aq_coordinator_latest(service->coordinator);
    const aq_evaluation_result *best = aq_coordinator_best(service->coordinator);
    learner->return_mean = NAN;
    learner->return_std = NAN;
    learner->return_best = NAN;
    if (best) {
        learner->return_best = best->return_mean;
        learner->return_best_std = best->return_std;
        learner->return_best_episodes = best->episodes;
        learner->return_best_version = best->version;
        learner->return_best_confirmed = best->confirmed;
    }
    learner->evaluations = aq_coordinator_evaluations(service->coordinator);
    if (latest) {
        learner->return_mean = latest->return_mean;
        learner->return_std = latest->return_std;
        learner->return_episodes = latest->episodes;
        learner->return_version = latest->version;
        learner->return_format = aq_wire_text(aq_format_name(latest->format));
        learner->return_fell_back = latest->fell_back;
        learner->return_confirmed = latest->confirmed;
    }
}

static void fill_learner(const aq_learner_service *service, int64_t now_ns,
                         Actorq__V1__LearnerStatus *learner,
                         Actorq__V1__QuantErrorStatus *quant_error)
{
    aq_policy_totals totals = aq_policy_shelf_totals(service->shelf);
    const aq_publication *newest = aq_policy_shelf_newest(service->shelf);
    learner->env_steps = aq_coordinator_env_steps(service->coordinator);
    learner->policy_versions = totals.versions;
    learner->policy_deltas = totals.deltas;
    learner->broadcast_bytes = totals.bytes;
    learner->broadcast_bytes_fp32 = totals.bytes_fp32;
    learner->broadcast_packed_bytes_fp32 = totals.packed_bytes_fp32;
    learner->wall_s = aq_coordinator_wall_s(service->coordinator, now_ns);
    learner->members_joined = aq_coordinator_joined_total(service->coordinator);
    learner->members_lost = aq_coordinator_lost_total(service->coordinator);
    fill_returns(service, learner);
    quant_error->fallbacks = totals.fallbacks;
    if (newest) {
        learner->policy_version = newest->snapshot->version;
        quant_error->rows = newest->measured.rows;
        quant_error->cost = (double)newest->measured.cost;
        quant_error->output_rms = newest->measured.output_rms;
        quant_error->output_max = newest->measured.output_max;
        quant_error->kl = newest->measured.kl;
    }
    learner->quant_error = quant_error;
}

/* False: there is nothing to show. */
static bool fill_gap(const aq_learner_service *service, Actorq__V1__PrecisionGapStatus *status)
{
    const aq_precision_gap *gap = &service->gap;
    status->versions = gap->versions;
    status->episodes = gap->episodes;
    status->mean = gap->mean;
    status->ci95 = aq_precision_gap_ci95(gap);
    /* A resumed run has its sums alone. */
    status->latest_mean = gap->latest_version > 0 ? gap->latest_mean : (double)NAN;
    return gap->versions > 0;
}

/* The reply over what lives as long as the caller says, its members in `members`. */
static void tell_status(const aq_learner_service *service, Actorq__V1__MemberStatus **members,
                        size_t count, Actorq__V1__StatusReply_Closure tell, void *user)
{
    Actorq__V1__LearnerStatus learner = ACTORQ__V1__LEARNER_STATUS__INIT;
    Actorq__V1__QuantErrorStatus quant_error = ACTORQ__V1__QUANT_ERROR_STATUS__INIT;
    fill_learner(service, service->owner.now_ns(service->owner.user), &learner, &quant_error);
    Actorq__V1__ReplayUseStatus replay_use = ACTORQ__V1__REPLAY_USE_STATUS__INIT;
    learner.replay_use = &replay_use;
    Actorq__V1__PrecisionGapStatus gap = ACTORQ__V1__PRECISION_GAP_STATUS__INIT;
    learner.precision_gap = fill_gap(service, &gap) ? &gap : NULL;

    Actorq__V1__StatusReply reply = ACTORQ__V1__STATUS_REPLY__INIT;
    reply.role = aq_wire_text("learner");
    reply.software = aq_wire_text(AQ_VERSION);
    reply.run_id = service->identity.run_id;
    reply.task = aq_wire_text(service->identity.settings->task);
    reply.state = aq_learner_told_state(service);
    reply.resident_bytes = aq_machine_resident_bytes();
    reply.algorithm = aq_wire_text(service->identity.algorithm);
    reply.precision = aq_wire_text(service->identity.precision);
    reply.seed = service->identity.settings->seed;
    Actorq__V1__PeerStatus peers;
    const aq_net_peers counted = aq_net_peer_counters();
    aq_wire_peers_to(&counted, &peers);
    reply.peers = &peers;
    reply.learner = &learner;
    reply.n_members = count;
    reply.members = members;
    service->owner.status(service->owner.user, &reply, &learner);
    tell(&reply, user);
}

int aq_learner_service_status(const aq_learner_service *service,
                              Actorq__V1__StatusReply_Closure tell, void *user)
{
    int64_t now_ns = service->owner.now_ns(service->owner.user);
    size_t count = aq_coordinator_member_count(service->coordinator);
    Actorq__V1__MemberStatus *members = aq_alloc(count, sizeof(*members));
    Actorq__V1__MemberStatus **pointers = aq_alloc(count, sizeof(Actorq__V1__MemberStatus *));
    int rc = members && pointers ? 0 : AQ_E_NOMEM;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        fill_member(service, aq_coordinator_member_at(service->coordinator, i), now_ns,
                    &members[i]);
        pointers[i] = &members[i];
    }
    if (rc == 0) {
        tell_status(service, pointers, count, tell, user);
    }
    aq_free(members);
    aq_free(pointers);
    return rc;
}

static void operations_status(Actorq__V1__Operations_Service *methods,
                              const Actorq__V1__StatusRequest *request,
                              Actorq__V1__StatusReply_Closure closure, void *call)
{
    (void)request;
    if (aq_learner_service_status(of_operations(methods), closure, call) != 0) {
        aq_rpc_fail(call, AQ_RPC_RESOURCE_EXHAUSTED, "out of memory");
    }
}

static void operations_stop(Actorq__V1__Operations_Service *methods,
                            const Actorq__V1__StopRequest *request,
                            Actorq__V1__StopReply_Closure closure, void *call)
{
    aq_learner_service *service = of_operations(methods);
    aq_coordinator_stop(service->coordinator);
    service->owner.stop_asked(service->owner.user, aq_rpc_call_peer(call), request->reason);
    Actorq__V1__StopReply reply = ACTORQ__V1__STOP_REPLY__INIT;
    closure(&reply, call);
}

static void operations_checkpoint(Actorq__V1__Operations_Service *methods,
                                  const Actorq__V1__CheckpointRequest *request,
                                  Actorq__V1__CheckpointReply_Closure closure, void *call)
{
    (void)request;
    aq_learner_service *service = of_operations(methods);
    if (service->checkpoint_waiter_count == AQ_CHECKPOINT_WAITERS_MAX) {
        aq_rpc_fail(call, AQ_RPC_RESOURCE_EXHAUSTED, "%d callers wait for a checkpoint already",
                    AQ_CHECKPOINT_WAITERS_MAX);
        return;
    }
    size_t place = service->checkpoint_waiter_count++;
    service->checkpoint_waiters[place].closure = closure;
    service->checkpoint_waiters[place].call = call;
    service->owner.checkpoint_asked(service->owner.user);
}

static void operations_configure(Actorq__V1__Operations_Service *methods,
                                 const Actorq__V1__ConfigureRequest *request,
                                 Actorq__V1__ConfigureReply_Closure closure, void *call)
{
    aq_learner_service *service = of_operations(methods);
    if (!service->owner.configure) {
        aq_rpc_fail(call, AQ_RPC_UNIMPLEMENTED, "nothing can be changed here");
    } else if (request->n_assignments > 0 &&
               aq_coordinator_state(service->coordinator) != AQ_RUN_RUNNING) {
        aq_rpc_fail(call, AQ_RPC_FAILED_PRECONDITION, "the run has ended");
    } else {
        service->owner.configure(service->owner.user, request, closure, call);
    }
}

static void operations_drain(Actorq__V1__Operations_Service *methods,
                             const Actorq__V1__DrainRequest *request,
                             Actorq__V1__DrainReply_Closure closure, void *call)
{
    aq_learner_service *service = of_operations(methods);
    Actorq__V1__DrainReply reply = ACTORQ__V1__DRAIN_REPLY__INIT;
    const aq_member_record *record = aq_coordinator_drain(service->coordinator, request->member);
    if (!record) {
        aq_rpc_fail(call, AQ_RPC_NOT_FOUND, "member %" PRIu64 " is not in the run",
                    request->member);
        return;
    }
    if (service->owner.drain_asked) {
        service->owner.drain_asked(service->owner.user, record, aq_rpc_call_peer(call),
                                   request->reason);
    }
    closure(&reply, call);
}

void aq_learner_service_checkpointed(aq_learner_service *service, const char *path, uint64_t step,
                                     const char *why_not)
{
    size_t count = service->checkpoint_waiter_count;
    service->checkpoint_waiter_count = 0;
    for (size_t i = 0; i < count; i++) {
        void *call = service->checkpoint_waiters[i].call;
        if (!path) {
            aq_rpc_fail(call, AQ_RPC_INTERNAL, "%s", why_not);
            continue;
        }
        Actorq__V1__CheckpointReply reply = ACTORQ__V1__CHECKPOINT_REPLY__INIT;
        reply.path = aq_wire_text(path);
        reply.learner_step = step;
        service->checkpoint_waiters[i].closure(&reply, call);
    }
}

void aq_learner_service_configured(aq_learner_service *service)
{
    service->settings_generation++;
}

uint64_t aq_learner_service_generation(const aq_learner_service *service)
{
    return service->settings_generation;
}

void aq_learner_operations_init(aq_learner_service *service)
{
    service->operations = (Actorq__V1__Operations_Service)ACTORQ__V1__OPERATIONS__INIT(operations_);
}
