/*
 * Operations: Status, Stop and the refusal of Checkpoint. Private to the replay service.
 */
#ifndef AQ_REPLAY_REPLAY_OPERATIONS_SERVICE_H
#define AQ_REPLAY_REPLAY_OPERATIONS_SERVICE_H

#include "proto/operations.pb-c.h"
#include "replay/replay_host.h"
#include "replay/replay_service.h"

/* Members that one Status lists. */
enum { AQ_STATUS_MEMBERS_MAX = 256 };

typedef struct aq_operations_service {
    Actorq__V1__Operations_Service base; /* first: protobuf-c hands it back */
    const aq_replay_host *host;
    aq_replay_service_owner owner;
    Actorq__V1__MemberStatus members[AQ_STATUS_MEMBERS_MAX];
    Actorq__V1__ActorStats member_stats[AQ_STATUS_MEMBERS_MAX];
    Actorq__V1__MemberStatus *member_pointers[AQ_STATUS_MEMBERS_MAX];
} aq_operations_service;

void aq_operations_service_init(aq_operations_service *operations, const aq_replay_host *host,
                                const aq_replay_service_owner *owner);

/* The shard's numbers as a message; `waiting` points into the core. */
void aq_operations_statistics(const aq_replay_host *host, Actorq__V1__ReplayStats *ret_statistics);

#endif
