/*
 * Operations: Status, Stop, and Checkpoint, which is a snapshot now. Private to the replay service.
 */
#ifndef AQ_REPLAY_SERVICE_REPLAY_OPERATIONS_SERVICE_H
#define AQ_REPLAY_SERVICE_REPLAY_OPERATIONS_SERVICE_H

#include "proto/operations.pb-c.h"
#include "replay/service/replay_service.h"
#include "replay/service/replay_stats.h"
#include "replay/shard/replay_host.h"

/* Members that one Status lists. */
enum { AQ_STATUS_MEMBERS_MAX = 256 };

/* Callers that may wait for a snapshot. */
enum { AQ_HELD_CHECKPOINTS_MAX = 8 };

typedef struct aq_held_checkpoint {
    uint64_t snapshots; /* answered when so many are written */
    int64_t until_ns;
    Actorq__V1__CheckpointReply_Closure closure;
    void *closure_data;
} aq_held_checkpoint;

typedef struct aq_operations_service {
    Actorq__V1__Operations_Service base; /* first: protobuf-c hands it back */
    const aq_replay_host *host;
    aq_replay_service_owner owner;
    Actorq__V1__MemberStatus members[AQ_STATUS_MEMBERS_MAX];
    Actorq__V1__ActorStats member_stats[AQ_STATUS_MEMBERS_MAX];
    Actorq__V1__IntakeStats member_intakes[AQ_STATUS_MEMBERS_MAX];
    Actorq__V1__MemberStatus *member_pointers[AQ_STATUS_MEMBERS_MAX];
    aq_replay_stats stats;
    aq_held_checkpoint held[AQ_HELD_CHECKPOINTS_MAX];
    size_t held_count;
} aq_operations_service;

void aq_operations_service_init(aq_operations_service *operations, const aq_replay_host *host,
                                const aq_replay_service_owner *owner);

/* Answers the Checkpoint calls that are due. */
void aq_operations_service_tick(aq_operations_service *operations);

/* Answers all with UNAVAILABLE. */
void aq_operations_service_release(aq_operations_service *operations, const char *reason);

#endif
