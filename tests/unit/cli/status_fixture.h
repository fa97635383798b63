/*
 * A learner's status with one of everything, and a replay shard's.
 */
#ifndef AQ_TESTS_UNIT_CLI_STATUS_FIXTURE_H
#define AQ_TESTS_UNIT_CLI_STATUS_FIXTURE_H

#include "proto/operations.pb-c.h"

enum { STATUS_FIXTURE_MEMBERS = 4 };

/* Holds what the messages point at. */
typedef struct status_fixture {
    Actorq__V1__StatusReply reply;
    Actorq__V1__LearnerStatus learner;
    Actorq__V1__QuantErrorStatus quant_error;
    Actorq__V1__MemberStatus members[STATUS_FIXTURE_MEMBERS];
    Actorq__V1__MemberStatus *pointers[STATUS_FIXTURE_MEMBERS];
    Actorq__V1__ActorStats actors[STATUS_FIXTURE_MEMBERS];
    Actorq__V1__ReplayStats replay;
} status_fixture;

/* A run of two actors (slots 1 and 0, in this order), an evaluator that has not sent a heartbeat,
 * and a shard. The host of the actor in slot 1 has an escape sequence in it. */
void status_fixture_learner(status_fixture *fixture);

/* A shard that has heard from one actor. */
void status_fixture_shard(status_fixture *fixture);

#endif
