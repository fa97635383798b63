/*
 * Flow: answers the actors' Credit calls. Every call is held until the next tick at least, so that
 * all that happened in between is one answer, and at most for AQ_FLOW_HOLD_MS_MAX: only a call
 * shows that its actor lives. In a paced run, where the learner waits for nothing but what is
 * granted, it is answered as soon as there is something to say. Private to the replay service.
 */
#ifndef AQ_REPLAY_SERVICE_REPLAY_FLOW_SERVICE_H
#define AQ_REPLAY_SERVICE_REPLAY_FLOW_SERVICE_H

#include "proto/experience.pb-c.h"
#include "replay/shard/replay_host.h"

enum { AQ_FLOW_HOLD_MS_MAX = 800 };

typedef struct aq_held_credit {
    aq_credit_call call;
    int64_t until_ns;
    Actorq__V1__CreditReply_Closure closure;
    void *closure_data;
} aq_held_credit;

typedef struct aq_flow_service {
    Actorq__V1__Flow_Service base; /* first: protobuf-c hands it back */
    const aq_replay_host *host;
    aq_held_credit *held;
    size_t held_count;
} aq_flow_service;

int aq_flow_service_init(aq_flow_service *flow, const aq_replay_host *host) AQ_MUST_USE;
void aq_flow_service_fini(aq_flow_service *flow); /* nothing may be held */

/* Answers the calls that are due. */
void aq_flow_service_tick(aq_flow_service *flow);

/* Answers all with UNAVAILABLE. */
void aq_flow_service_release(aq_flow_service *flow, const char *reason);

#endif
