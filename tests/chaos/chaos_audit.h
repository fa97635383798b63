/*
 * Audit: what is in the stores when all is over, transition by transition, against what actors said
 * to have been acknowledged.
 *
 * A transition is known by (incarnation of the actor, environment, episode, index); a message by
 * (incarnation, store, number). Numbers of a message must be 1, 2, 3, ... without holes, a
 * transition must be there once over all stores, and its content must be what CartPole does.
 */
#ifndef AQ_TESTS_CHAOS_CHAOS_AUDIT_H
#define AQ_TESTS_CHAOS_CHAOS_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include "learner/run/run_plan.h"

enum { CHAOS_ACTORS_MAX = 1024 };

/* One actor process, as far as it was heard. */
typedef struct chaos_actor {
    uint64_t incarnation;
    uint64_t acknowledged; /* steps, by its last word */
    uint64_t found;        /* steps, in all stores */
    bool drained;          /* it ended in order, and all its steps are acknowledged */
} chaos_actor;

typedef struct chaos_audit {
    chaos_actor actors[CHAOS_ACTORS_MAX];
    size_t actor_count;
    uint64_t records, transitions;
    uint64_t acknowledged, lost; /* steps */
    uint64_t duplicated, corrupt;
    uint64_t holes;   /* numbers of messages, and steps of drained actors, that are missing */
    uint64_t damaged; /* records that could not be read */
    void *steps;      /* internal */
    size_t step_count, step_capacity;
    void *messages;
    size_t message_count, message_capacity;
    uint64_t run_id;
    const aq_run_plan *plan;
} chaos_audit;

void chaos_audit_init(chaos_audit *audit, const aq_run_plan *plan);
void chaos_audit_fini(chaos_audit *audit);

/* An actor says how many of its steps are acknowledged. */
chaos_actor *chaos_audit_heard(chaos_audit *audit, uint64_t incarnation, uint64_t acknowledged);

/* Reads a folder that no process uses. */
void chaos_audit_read(chaos_audit *audit, const char *folder);

/* Fills in the sums. */
void chaos_audit_close(chaos_audit *audit);

#endif
