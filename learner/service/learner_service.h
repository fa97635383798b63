/*
 * Learner service: the protobuf services Membership, Policy and Operations on top of the
 * coordinator and the policy shelf. Free of sockets: the daemon and the simulated cluster of the
 * tests both hand it requests through a dispatcher. Loop thread only.
 */
#ifndef AQ_LEARNER_SERVICE_LEARNER_SERVICE_H
#define AQ_LEARNER_SERVICE_LEARNER_SERVICE_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_settings.h"
#include "common/net/rpc/rpc.h"
#include "common/wire/wire_replay_said.h"
#include "learner/publish/policy_shelf.h"
#include "learner/publish/precision_gap.h"
#include "learner/run/coordinator.h"
#include "learner/service/member_stats.h"
#include "proto/operations.pb-c.h"

typedef struct aq_learner_service aq_learner_service;

typedef struct aq_learner_service_owner {
    void *user;
    int64_t (*now_ns)(void *user);
    /* For the log. `again`: known before. */
    void (*joined)(void *user, const aq_member_record *record, bool again);
    /* A member came from another run, and begins its totals of energy anew. May be NULL. */
    void (*energy_anew)(void *user, const aq_member_record *record);
    /* A member that joins has had this version of the run. May be NULL. */
    void (*version_seen)(void *user, uint64_t version);
    void (*left)(void *user, const aq_member_record *record, const char *reason);
    /* What a shard said of itself, by heartbeat. May be NULL. */
    void (*replay_said)(void *user, const aq_member_record *record,
                        const Actorq__V1__ReplayStats *stats);
    /* What a member said its process takes, by heartbeat or when it left. May be NULL. */
    void (*energy_said)(void *user, const aq_member_record *record,
                        const Actorq__V1__EnergyStats *stats);
    /* A result came; `best` is true when it changed what the coordinator holds as the best. The
     * policy is on the shelf then, or it is the one that was the best before. */
    void (*evaluated)(void *user, const aq_evaluation_result *result, bool best);
    /* A version was compared with its fp32 form. May be NULL. */
    void (*compared)(void *user, const aq_version_gap *gap);
    /* Somebody asked for the end of the run. */
    void (*stop_asked)(void *user, const char *peer, const char *reason);
    /* A member was asked to leave. May be NULL. */
    void (*drain_asked)(void *user, const aq_member_record *record, const char *peer,
                        const char *reason);
    /* Changes settings of the running system, and answers; then the identity's settings are the new
     * ones, and aq_learner_service_configured was called. NULL: nothing may change. */
    void (*configure)(void *user, const Actorq__V1__ConfigureRequest *request,
                      Actorq__V1__ConfigureReply_Closure closure, void *call);
    /* Writes a checkpoint when it can; aq_learner_service_checkpointed answers. */
    void (*checkpoint_asked)(void *user);
    /* Fills in what only the daemon knows, also within learner->replay_use; the service has set the
     * rest. */
    void (*status)(void *user, Actorq__V1__StatusReply *reply, Actorq__V1__LearnerStatus *learner);
} aq_learner_service_owner;

typedef struct aq_learner_identity {
    uint64_t run_id;
    const aq_run_settings *settings; /* lent */
    const char *policy_url;          /* as it is told to members; lent */
    const char *algorithm;
    const char *precision;
    bool quantizes; /* some layer is asked for in another format than fp32 */
} aq_learner_identity;

int aq_learner_service_create(const aq_learner_identity *identity, aq_coordinator *coordinator,
                              aq_policy_shelf *shelf, const aq_learner_service_owner *owner,
                              aq_learner_service **ret_service) AQ_MUST_USE;
void aq_learner_service_destroy(aq_learner_service *service); /* NULL is fine */

/* Offers the services through `dispatcher`, which must not outlive this object. */
int aq_learner_service_offer(aq_learner_service *service,
                             aq_rpc_dispatcher *dispatcher) AQ_MUST_USE;

/* What Operations/Status answers, which is told to be looked at during the call. AQ_E_NOMEM: it was
 * not. */
int aq_learner_service_status(const aq_learner_service *service,
                              Actorq__V1__StatusReply_Closure tell, void *user) AQ_MUST_USE;

/* Answers everybody who asked for a checkpoint: a path, or NULL and why not. */
void aq_learner_service_checkpointed(aq_learner_service *service, const char *path, uint64_t step,
                                     const char *why_not);

/* The identity's settings have changed, which is another generation of them: members are told them
 * with their next heartbeats. */
void aq_learner_service_configured(aq_learner_service *service);
uint64_t aq_learner_service_generation(const aq_learner_service *service);

/* To be called when a member was lost, so that its statistics go too. */
void aq_learner_service_forget(aq_learner_service *service, const aq_member_record *record);

/* An end that is not on the disk yet may have to be reached again: as long as it is held, others
 * are told that the run goes on, and stay. */
void aq_learner_service_hold_end(aq_learner_service *service, bool holds);

/* What acting in the broadcast precision costs, over the run so far; and, at the start of a process
 * that takes the run up, what an earlier one had found. */
const aq_precision_gap *aq_learner_service_gap(const aq_learner_service *service);
void aq_learner_service_restore_gap(aq_learner_service *service, const aq_precision_gap *gap);

/* The sum of what actors and evaluators said last, for progress and metrics. */
typedef struct aq_actors_summary {
    uint32_t actors, evaluators, shards;
    double return_mean; /* of training episodes, over the actors that have one; NaN: none */
} aq_actors_summary;
aq_actors_summary aq_learner_service_summary(const aq_learner_service *service);

/* Where the time of a role's members went since they joined this learner. */
aq_spent aq_learner_service_spent(const aq_learner_service *service, enum aq_role role);

/* What the live shards said last, together. */
void aq_learner_service_replay(const aq_learner_service *service, aq_replay_said *ret_sum);

#endif
