/*
 * A learner service with a caller back to back: requests are packed, dispatched and answered as
 * over a network, from the address that the test says.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_SERVICE_DESK_H
#define AQ_TESTS_UNIT_LEARNER_SERVICE_DESK_H

#include <stdbool.h>

#include "learner/service/learner_service.h"
#include "proto/membership.pb-c.h"
#include "proto/policy.pb-c.h"
#include "tests/support/loopback.h"
#include "tests/unit/learner/learner_kit.h"

/* Points into itself: don't move it. */
typedef struct service_desk {
    loopback loop;
    learner_kit kit;
    aq_run_settings settings;
    aq_coordinator *coordinator; /* 1000 steps, a threshold of 475 */
    aq_policy_shelf *shelf;
    aq_learner_service *service;
    aq_rpc_dispatcher *dispatcher;
    int64_t now_ns;

    /* What the owner was told. */
    unsigned joined, left, evaluated, stops, checkpoints, statuses, replay_said, energy_said;
    unsigned energy_anew;
    uint64_t replay_items; /* of the first table that was told of last */
    double energy_cpu_s;   /* that was told last */
    bool again;
    bool best;
    aq_member_record record; /* of joined or left */
    aq_evaluation_result result;
    char reason[64]; /* of left or stop_asked */
    char stop_peer[64];
    const char *checkpoint_at_once; /* the path that it answers right away; NULL: later */
} service_desk;

void service_desk_setup(service_desk *desk);
void service_desk_teardown(service_desk *desk);

/* The call must be answered whichever allocation fails, and succeed when none does. */
void desk_survives_failed_allocations(service_desk *desk, const ProtobufCMessage *request);

/* Calls that must succeed. */
uint64_t desk_join(service_desk *desk, enum aq_role role, uint64_t incarnation); /* the number */
const Actorq__V1__JoinReply *desk_join_as(service_desk *desk,
                                          const Actorq__V1__JoinRequest *request);
const Actorq__V1__HeartbeatReply *desk_beat(service_desk *desk, uint64_t member,
                                            uint64_t incarnation);
void desk_publish(service_desk *desk, uint64_t version, uint32_t format);

/* A heartbeat of a shard with 77 steps, and as many items as its incarnation says. */
void desk_say_replay(service_desk *desk, uint64_t member, uint64_t incarnation);

/* Requests that are right; what they hold may be replaced. */
Actorq__V1__JoinRequest desk_join_request(enum aq_role role, uint64_t incarnation);
Actorq__V1__HeartbeatRequest desk_heartbeat(uint64_t member, uint64_t incarnation);
Actorq__V1__LeaveRequest desk_leave(uint64_t member, uint64_t incarnation);

#endif
