/*
 * Learner service, the inside: shared by the files that implement it.
 *
 * protobuf-c hands a method its service object. All three are embedded in the learner's, which a
 * method finds by where its own lies in it.
 */
#ifndef AQ_LEARNER_SERVICE_LEARNER_SERVICE_PRIV_H
#define AQ_LEARNER_SERVICE_LEARNER_SERVICE_PRIV_H

#include <stddef.h>

#include "learner/service/learner_service.h"
#include "learner/service/member_stats.h"
#include "proto/policy.pb-c.h"

enum { AQ_CHECKPOINT_WAITERS_MAX = 16, AQ_TOLD_EVALUATIONS_MAX = 64 };

/* The last that an evaluator's process has told. Its answer may be lost, so that it is told
 * again. */
typedef struct aq_told_evaluation {
    uint64_t incarnation, number;
    uint64_t leader; /* was answered */
} aq_told_evaluation;

struct aq_learner_service {
    aq_learner_identity identity;
    aq_coordinator *coordinator;
    aq_policy_shelf *shelf;
    aq_learner_service_owner owner;
    Actorq__V1__Membership_Service membership;
    Actorq__V1__Policy_Service policy;
    Actorq__V1__Operations_Service operations;
    aq_member_stats stats;
    aq_precision_gap gap;
    aq_told_evaluation told_evaluations[AQ_TOLD_EVALUATIONS_MAX];
    size_t told_next;             /* a new process takes it */
    uint64_t settings_generation; /* from 1; grows with each change */
    bool holds_end;
    struct {
        Actorq__V1__CheckpointReply_Closure closure;
        void *call;
    } checkpoint_waiters[AQ_CHECKPOINT_WAITERS_MAX];
    size_t checkpoint_waiter_count;
};

/* A token says which kind of member its holder may be; without one, it may be any. False when the
 * call was refused. */
bool aq_learner_may_be(void *call, enum aq_role role);

/* Who makes this call. That it is a member it proves by its incarnation, and by a token of the
 * member's role where there are tokens. False when the call was refused; `*ret_record` is NULL when
 * it is no member (any more) and has to join again. */
bool aq_learner_identify(const aq_learner_service *service, void *call, uint64_t run_id,
                         uint64_t member, uint64_t incarnation,
                         const aq_member_record **ret_record);

/* How the run stands, for others. */
Actorq__V1__RunState aq_learner_told_state(const aq_learner_service *service);

/* NULL, or what can't be true of an evaluation. */
const char *aq_learner_evaluation_problem(const Actorq__V1__EvaluationReport *report);

/* One in which nothing is wrong, of the evaluator in that slot; what was told before changes
 * nothing. Returns the version that leads. */
uint64_t aq_learner_take_evaluation(aq_learner_service *service, uint32_t slot,
                                    const Actorq__V1__EvaluationReport *request);

void aq_learner_operations_init(aq_learner_service *service);
void aq_learner_policy_init(aq_learner_service *service);

#endif
