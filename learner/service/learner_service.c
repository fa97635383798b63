/*
 * Learner service: see learner_service.h. Operations are in learner_operations.c, Policy is in
 * learner_policy.c, what evaluators report in learner_evaluations.c.
 */
#include "learner/service/learner_service.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/net/security/incarnation.h"
#include "common/wire/wire_frame.h"
#include "common/wire/wire_run.h"
#include "learner/service/learner_service_priv.h"

static aq_learner_service *of_membership(Actorq__V1__Membership_Service *methods)
{
    char *at = (char *)methods - offsetof(aq_learner_service, membership);
    return (aq_learner_service *)(void *)at;
}

Actorq__V1__RunState aq_learner_told_state(const aq_learner_service *service)
{
    return service->holds_end ? ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING
                              : (Actorq__V1__RunState)aq_coordinator_state(service->coordinator);
}

void aq_learner_service_hold_end(aq_learner_service *service, bool holds)
{
    service->holds_end = holds;
}

/* ---- Membership ----------------------------------------------------------------------------- */

/* What a Join asks for as a record, or why it can't be. */
static int read_join(const Actorq__V1__JoinRequest *request, const char *peer, uint64_t run_id,
                     aq_member_record *ret_record, aq_error *error)
{
    aq_member_record record = {
        .role = (enum aq_role)request->role,
        .incarnation = request->incarnation,
        .member = request->run_id == run_id ? request->member : 0,
        .slot = request->run_id == run_id || request->run_id == 0 ? request->slot : 0,
        .pid = request->pid,
        /* Of one life, when it has no name. */
        .store = request->store ? request->store : aq_incarnation_name(request->incarnation),
    };
    if (record.role < AQ_ROLE_ACTOR || record.role > AQ_ROLE_REPLAY) {
        return aq_fail(error, AQ_E_INVALID, "role %d is not one that can join", (int)request->role);
    }
    if (record.incarnation == 0) {
        return aq_fail(error, AQ_E_INVALID, "an incarnation of 0 cannot join");
    }
    (void)snprintf(record.host, sizeof(record.host), "%s", request->host);
    (void)snprintf(record.address, sizeof(record.address), "%s", peer);
    (void)aq_url_network(peer, &record.neighbours);
    if (record.role == AQ_ROLE_REPLAY) {
        int rc = aq_url_validate(request->rpc_url, error);
        if (rc == 0) {
            rc = aq_url_validate(request->push_url, error);
        }
        if (rc == 0) {
            rc = aq_url_reachable(request->rpc_url, peer, record.rpc_url, sizeof(record.rpc_url));
        }
        if (rc == 0) {
            rc =
                aq_url_reachable(request->push_url, peer, record.push_url, sizeof(record.push_url));
        }
        if (rc != 0) {
            return aq_fail_context(error, rc, "a replay shard must say where it listens");
        }
        record.follows_address = strcmp(record.rpc_url, request->rpc_url) != 0;
    }
    *ret_record = record;
    return 0;
}

static void membership_join(Actorq__V1__Membership_Service *methods,
                            const Actorq__V1__JoinRequest *request,
                            Actorq__V1__JoinReply_Closure closure, void *call)
{
    aq_learner_service *service = of_membership(methods);
    const aq_learner_identity *identity = &service->identity;
    aq_error error = {0};
    aq_member_record wanted;
    if (read_join(request, aq_rpc_call_peer(call), identity->run_id, &wanted, &error)) {
        aq_rpc_fail(call, AQ_RPC_INVALID_ARGUMENT, "%s", error.text);
        return;
    }
    if (!aq_learner_may_be(call, wanted.role)) {
        return;
    }
    uint64_t joined_before = aq_coordinator_joined_total(service->coordinator);
    const aq_member_record *record = NULL;
    uint64_t replaced[AQ_REPLACED_MAX];
    int64_t now_ns = service->owner.now_ns(service->owner.user);
    int rc = aq_coordinator_join(service->coordinator, now_ns, &wanted, &record, replaced, &error);
    if (rc != 0) {
        aq_rpc_fail(call, aq_rpc_code_from_error(rc), "%s", error.text);
        return;
    }
    for (size_t i = 0; i < AQ_REPLACED_MAX; i++) {
        aq_member_stats_remove(&service->stats, replaced[i]);
    }
    bool again = aq_coordinator_joined_total(service->coordinator) == joined_before;
    service->owner.joined(service->owner.user, record, again);
    const bool is_of_run = request->run_id == identity->run_id;
    if (service->owner.version_seen != NULL && is_of_run) {
        service->owner.version_seen(service->owner.user, request->version);
    }
    if (service->owner.energy_anew != NULL && !is_of_run) {
        service->owner.energy_anew(service->owner.user, record);
    }

    aq_wire_settings_view settings;
    aq_wire_settings_to(identity->settings, &settings);
    Actorq__V1__JoinReply reply = ACTORQ__V1__JOIN_REPLY__INIT;
    reply.run_id = identity->run_id;
    reply.member = record->member;
    reply.slot = record->slot;
    reply.settings = &settings.message;
    reply.settings_generation = service->settings_generation;
    reply.policy_url = aq_wire_text(identity->policy_url);
    reply.state = aq_learner_told_state(service);
    closure(&reply, call);
}

static uint64_t newest_version(const aq_learner_service *service)
{
    const aq_publication *newest = aq_policy_shelf_newest(service->shelf);
    return newest ? newest->snapshot->version : 0;
}

/* The live shards in the order of their slots, into storage on the caller's stack. */
typedef struct shard_list {
    Actorq__V1__ShardAddress addresses[AQ_SHARDS_MAX];
    Actorq__V1__ShardAddress *pointers[AQ_SHARDS_MAX];
    size_t count;
} shard_list;

static void insert_shard(shard_list *list, const aq_member_record *record)
{
    Actorq__V1__ShardAddress *address = &list->addresses[list->count];
    size_t place = list->count++;
    actorq__v1__shard_address__init(address);
    address->member = record->member;
    address->rpc_url = aq_wire_text(record->rpc_url);
    address->push_url = aq_wire_text(record->push_url);
    address->slot = record->slot;
    address->store = record->store;
    address->instance = aq_incarnation_name(record->incarnation);
    for (; place > 0 && list->pointers[place - 1]->slot > record->slot; place--) {
        list->pointers[place] = list->pointers[place - 1];
    }
    list->pointers[place] = address;
}

static void list_shards(const aq_learner_service *service, shard_list *ret_list)
{
    ret_list->count = 0;
    for (size_t i = 0; i < aq_coordinator_member_count(service->coordinator); i++) {
        const aq_member_record *record = aq_coordinator_member_at(service->coordinator, i);
        if (record->role == AQ_ROLE_REPLAY && ret_list->count < AQ_SHARDS_MAX) {
            insert_shard(ret_list, record);
        }
    }
}

static void hear_energy(const aq_learner_service *service, const aq_member_record *record,
                        const Actorq__V1__EnergyStats *stats)
{
    if (stats && service->owner.energy_said) {
        service->owner.energy_said(service->owner.user, record, stats);
    }
}

/* The port is that of a connection, and changes with each. */
static bool is_same_host(const char *address, const char *other)
{
    char url[AQ_URL_MAX], other_url[AQ_URL_MAX];
    return aq_url_reachable("tcp://*:1", address, url, sizeof(url)) == 0 &&
           aq_url_reachable("tcp://*:1", other, other_url, sizeof(other_url)) == 0 &&
           strcmp(url, other_url) == 0;
}

/* Whether a shard that is listed at the address where it was seen calls from another by now;
 * joining again tells where it is. One that said itself where it is never moves. */
static bool has_moved(const aq_member_record *record, const char *peer)
{
    return record->follows_address && !is_same_host(record->address, peer);
}

static void membership_heartbeat(Actorq__V1__Membership_Service *methods,
                                 const Actorq__V1__HeartbeatRequest *request,
                                 Actorq__V1__HeartbeatReply_Closure closure, void *call)
{
    aq_learner_service *service = of_membership(methods);
    Actorq__V1__HeartbeatReply reply = ACTORQ__V1__HEARTBEAT_REPLY__INIT;
    shard_list shards;
    aq_wire_settings_view settings;
    const aq_member_record *record;
    const char *peer = aq_rpc_call_peer(call);
    if (!aq_learner_identify(service, call, request->run_id, request->member, request->incarnation,
                             &record)) {
        return;
    }
    reply.state = aq_learner_told_state(service);
    if (record && !has_moved(record, peer)) {
        if (strcmp(record->address, peer) != 0) { /* another connection */
            aq_coordinator_seen(service->coordinator, record->incarnation, peer);
        }
        aq_member_stats_put(&service->stats, record->role, request);
        hear_energy(service, record, request->energy);
        if (record->role == AQ_ROLE_REPLAY && request->replay) {
            aq_coordinator_progress(service->coordinator, record->incarnation,
                                    request->replay->inserted);
            if (service->owner.replay_said) {
                service->owner.replay_said(service->owner.user, record, request->replay);
            }
        }
        list_shards(service, &shards);
        reply.known = 1;
        reply.version = newest_version(service);
        reply.n_shards = shards.count;
        reply.shards = shards.pointers;
        reply.leave = record->leaving;
        reply.settings_generation = service->settings_generation;
        if (request->settings_generation != service->settings_generation) {
            aq_wire_settings_to(service->identity.settings, &settings);
            reply.settings = &settings.message;
        }
    }
    closure(&reply, call);
}

static void membership_leave(Actorq__V1__Membership_Service *methods,
                             const Actorq__V1__LeaveRequest *request,
                             Actorq__V1__LeaveReply_Closure closure, void *call)
{
    aq_learner_service *service = of_membership(methods);
    const aq_member_record *record;
    if (!aq_learner_identify(service, call, request->run_id, request->member, request->incarnation,
                             &record)) {
        return;
    }
    if (record) {
        hear_energy(service, record, request->energy);
        service->owner.left(service->owner.user, record, request->reason);
        aq_member_stats_remove(&service->stats, record->incarnation);
        (void)aq_coordinator_leave(service->coordinator, request->member, request->incarnation);
    }
    Actorq__V1__LeaveReply reply = ACTORQ__V1__LEAVE_REPLY__INIT;
    closure(&reply, call);
}

static void membership_report_evaluation(Actorq__V1__Membership_Service *methods,
                                         const Actorq__V1__EvaluationReport *request,
                                         Actorq__V1__EvaluationReply_Closure closure, void *call)
{
    aq_learner_service *service = of_membership(methods);
    if (request->run_id != service->identity.run_id) {
        aq_rpc_fail(call, AQ_RPC_FAILED_PRECONDITION, "run %016" PRIx64 " is not run here",
                    request->run_id);
        return;
    }
    const aq_member_record *record;
    if (!aq_learner_identify(service, call, request->run_id, request->member, request->incarnation,
                             &record)) {
        return;
    }
    if (!record || record->role != AQ_ROLE_EVALUATOR) {
        aq_rpc_fail(call, AQ_RPC_PERMISSION_DENIED, "no evaluator of this run has said so");
        return;
    }
    const char *problem = aq_learner_evaluation_problem(request);
    if (problem) {
        aq_rpc_fail(call, AQ_RPC_INVALID_ARGUMENT, "%s", problem);
        return;
    }
    Actorq__V1__EvaluationReply reply = ACTORQ__V1__EVALUATION_REPLY__INIT;
    reply.leader = aq_learner_take_evaluation(service, record->slot, request);
    reply.state = aq_learner_told_state(service);
    closure(&reply, call);
}

/* ---- the object ----------------------------------------------------------------------------- */

int aq_learner_service_create(const aq_learner_identity *identity, aq_coordinator *coordinator,
                              aq_policy_shelf *shelf, const aq_learner_service_owner *owner,
                              aq_learner_service **ret_service)
{
    aq_learner_service *service = aq_alloc(1, sizeof(*service));
    if (!service) {
        return AQ_E_NOMEM;
    }
    service->identity = *identity;
    service->coordinator = coordinator;
    service->shelf = shelf;
    service->settings_generation = 1;
    service->owner = *owner;
    service->membership = (Actorq__V1__Membership_Service)ACTORQ__V1__MEMBERSHIP__INIT(membership_);
    aq_learner_policy_init(service);
    aq_learner_operations_init(service);
    *ret_service = service;
    return 0;
}

void aq_learner_service_destroy(aq_learner_service *service)
{
    if (!service) {
        return;
    }
    aq_member_stats_fini(&service->stats);
    aq_free(service);
}

int aq_learner_service_offer(aq_learner_service *service, aq_rpc_dispatcher *dispatcher)
{
    ProtobufCService *const services[] = {
        &service->membership.base,
        &service->policy.base,
        &service->operations.base,
    };
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
        int rc = aq_rpc_dispatcher_add(dispatcher, services[i]);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

void aq_learner_service_forget(aq_learner_service *service, const aq_member_record *record)
{
    aq_member_stats_remove(&service->stats, record->incarnation);
}

const aq_precision_gap *aq_learner_service_gap(const aq_learner_service *service)
{
    return &service->gap;
}

void aq_learner_service_restore_gap(aq_learner_service *service, const aq_precision_gap *gap)
{
    service->gap = *gap;
}

aq_actors_summary aq_learner_service_summary(const aq_learner_service *service)
{
    aq_actors_summary summary = {.return_mean = NAN};
    double return_sum = 0;
    uint32_t return_count = 0;
    for (size_t i = 0; i < aq_coordinator_member_count(service->coordinator); i++) {
        const aq_member_record *record = aq_coordinator_member_at(service->coordinator, i);
        summary.actors += record->role == AQ_ROLE_ACTOR;
        summary.evaluators += record->role == AQ_ROLE_EVALUATOR;
        summary.shards += record->role == AQ_ROLE_REPLAY;
    }
    for (size_t i = 0; i < service->stats.count; i++) {
        const aq_member_stats_row *row = &service->stats.rows[i];
        if (row->role == AQ_ROLE_ACTOR && row->has_actor && isfinite(row->actor.return_mean)) {
            return_sum += row->actor.return_mean;
            return_count++;
        }
    }
    if (return_count) {
        summary.return_mean = return_sum / return_count;
    }
    return summary;
}

aq_spent aq_learner_service_spent(const aq_learner_service *service, enum aq_role role)
{
    return aq_member_stats_spent(&service->stats, role);
}

void aq_learner_service_replay(const aq_learner_service *service, aq_replay_said *ret_sum)
{
    aq_replay_said_clear(ret_sum);
    for (size_t i = 0; i < aq_coordinator_member_count(service->coordinator); i++) {
        const aq_member_record *record = aq_coordinator_member_at(service->coordinator, i);
        const aq_member_stats_row *row =
            record->role == AQ_ROLE_REPLAY
                ? aq_member_stats_find(&service->stats, record->incarnation)
                : NULL;
        if (row && row->replay) {
            aq_replay_said_add(ret_sum, &row->replay->stats);
        }
    }
}
