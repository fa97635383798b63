/*
 * A learner's status with one of everything, and a replay shard's.
 */
#ifndef AQ_TESTS_UNIT_CLI_STATUS_FIXTURE_H
#define AQ_TESTS_UNIT_CLI_STATUS_FIXTURE_H

#include "proto/operations.pb-c.h"

enum {
    STATUS_FIXTURE_MEMBERS = 4,
    STATUS_FIXTURE_METRICS = 2,
    STATUS_FIXTURE_TABLES = 2,
    STATUS_FIXTURE_BUCKETS = 5
};

/* Holds what the messages point at. */
typedef struct status_fixture {
    Actorq__V1__StatusReply reply;
    Actorq__V1__LearnerStatus learner;
    Actorq__V1__MetricStatus metrics[STATUS_FIXTURE_METRICS];
    Actorq__V1__MetricStatus *metric_pointers[STATUS_FIXTURE_METRICS];
    Actorq__V1__QuantErrorStatus quant_error;
    Actorq__V1__ReplayUseStatus replay_use;
    Actorq__V1__MemberStatus members[STATUS_FIXTURE_MEMBERS];
    Actorq__V1__MemberStatus *pointers[STATUS_FIXTURE_MEMBERS];
    Actorq__V1__ActorStats actors[STATUS_FIXTURE_MEMBERS];
    Actorq__V1__ReplayStats replay;
    Actorq__V1__TableStats tables[STATUS_FIXTURE_TABLES];
    Actorq__V1__TableStats *table_pointers[STATUS_FIXTURE_TABLES];
    Actorq__V1__IntakeStats intake;
    uint64_t staleness[STATUS_FIXTURE_BUCKETS];
    uint64_t age_ms[STATUS_FIXTURE_BUCKETS];
} status_fixture;

/* A run of two actors (slots 1 and 0, in this order), an evaluator that has not sent a heartbeat,
 * and a shard. The host of the actor in slot 1 has an escape sequence in it. */
void status_fixture_learner(status_fixture *fixture);

/* A shard of two tables that has heard from one actor. */
void status_fixture_shard(status_fixture *fixture);

#endif
