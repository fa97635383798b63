/*
 * Member statistics: what each member said last, kept beside the coordinator's records, and what
 * all of a role have spent. The coordinator decides on times and counts; these numbers are only
 * shown.
 */
#ifndef AQ_LEARNER_SERVICE_MEMBER_STATS_H
#define AQ_LEARNER_SERVICE_MEMBER_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/run_names.h"
#include "common/wire/wire_replay_said.h"

/* What went wrong in environments is kept of so many members at a time: those that said so first.
 * All others have their counts. */
enum { AQ_FAILURES_KEPT = 64 };

/* Counts, then seconds. */
enum aq_spending {
    AQ_SPENT_STEPS,    /* of environments */
    AQ_SPENT_OUTDATED, /* steps that a shard dropped unlearned */
    AQ_SPENT_INFERENCE_S,
    AQ_SPENT_ENVIRONMENT_S,
    AQ_SPENT_WAITED_S,
    AQ_SPENT_INSERTING_S,
    AQ_SPENT_SAMPLING_S,
    AQ_SPENT_RUNNING_S,
    AQ_SPENDINGS
};

typedef struct aq_spent {
    double of[AQ_SPENDINGS];
} aq_spent;

typedef struct aq_member_stats_row {
    uint64_t incarnation;
    enum aq_role role;
    bool has_spent;
    aq_spent first, last; /* that it told; totals of a life that may be older than this learner's */
    bool has_actor;
    Actorq__V1__ActorStats actor;
    char *env_failure;      /* actor.env_failure points here; the row's own */
    aq_replay_said *replay; /* NULL: nothing said; the row's own */
} aq_member_stats_row;

typedef struct aq_member_stats {
    aq_member_stats_row *rows;
    size_t count;
    size_t capacity;
    size_t failures;             /* rows that have an env_failure */
    aq_spent gone[AQ_ROLES_END]; /* what those that left had spent, by role */
} aq_member_stats;

void aq_member_stats_fini(aq_member_stats *stats);

/* Keeps a copy of what a heartbeat said; out of memory, the older numbers stay. */
void aq_member_stats_put(aq_member_stats *stats, enum aq_role role,
                         const Actorq__V1__HeartbeatRequest *request);
void aq_member_stats_remove(aq_member_stats *stats, uint64_t incarnation);

/* By all members of a role since they joined here, those that left included. */
aq_spent aq_member_stats_spent(const aq_member_stats *stats, enum aq_role role);

/* NULL when that member has said nothing yet. Valid until the next put or remove. */
aq_member_stats_row *aq_member_stats_find(const aq_member_stats *stats, uint64_t incarnation);

#endif
