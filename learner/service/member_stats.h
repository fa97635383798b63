/*
 * Member statistics: what each member said last, kept beside the coordinator's records. The
 * coordinator decides on times and counts; these numbers are only shown.
 */
#ifndef AQ_LEARNER_SERVICE_MEMBER_STATS_H
#define AQ_LEARNER_SERVICE_MEMBER_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire_replay_said.h"

/* What went wrong in environments is kept of so many members at a time: those that said so first.
 * All others have their counts. */
enum { AQ_FAILURES_KEPT = 64 };

typedef struct aq_member_stats_row {
    uint64_t incarnation;
    bool has_actor;
    Actorq__V1__ActorStats actor;
    char *env_failure;      /* actor.env_failure points here; the row's own */
    aq_replay_said *replay; /* NULL: nothing said; the row's own */
} aq_member_stats_row;

typedef struct aq_member_stats {
    aq_member_stats_row *rows;
    size_t count;
    size_t capacity;
    size_t failures; /* rows that have an env_failure */
} aq_member_stats;

void aq_member_stats_fini(aq_member_stats *stats);

/* Keeps a copy of what a heartbeat said; out of memory, the older numbers stay. */
void aq_member_stats_put(aq_member_stats *stats, const Actorq__V1__HeartbeatRequest *request);
void aq_member_stats_remove(aq_member_stats *stats, uint64_t incarnation);

/* NULL when that member has said nothing yet. Valid until the next put or remove. */
aq_member_stats_row *aq_member_stats_find(const aq_member_stats *stats, uint64_t incarnation);

#endif
