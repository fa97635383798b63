/*
 * Learner events: what members do and operators ask, said in the log and passed on to whom it
 * concerns. Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_LEARNER_EVENTS_H
#define AQ_LEARNER_DAEMON_LEARNER_EVENTS_H

#include "learner/daemon/configure_call.h"
#include "learner/daemon/learner_pages.h"
#include "learner/daemon/learner_ports.h"

/* The two newest incarnations of the shard in a slot. */
typedef struct aq_shard_lives {
    uint64_t latest, before;
} aq_shard_lives;

/* Whom it may concern; all lent. Those that do not exist yet are NULL. */
typedef struct aq_learner_events {
    aq_configure_parts parts;
    aq_policy_shelf *shelf;
    aq_best_policy *best;
    aq_energy_account *energy;
    aq_checkpointer *checkpointer;
    aq_version_numbers *versions;
    aq_learner_pages *pages;
    const aq_learner_ports *ports;
    int64_t started_ns;
    aq_shard_lives lives[AQ_SHARDS_MAX];
    aq_log_limit rivals_limit;
    bool is_over; /* training is: results and requests come too late */
} aq_learner_events;

/* `events` outlives the service that it is the owner of. */
aq_learner_service_owner aq_learner_events_owner(aq_learner_events *events);

#endif
