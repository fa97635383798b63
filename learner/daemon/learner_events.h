/*
 * Learner events: what members do and operators ask, said in the log and passed on to whom it
 * concerns. Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_LEARNER_EVENTS_H
#define AQ_LEARNER_DAEMON_LEARNER_EVENTS_H

#include "common/sys/log.h"
#include "learner/service/learner_service.h"

struct aq_learner_parts;

typedef struct aq_learner_events {
    struct aq_learner_parts *parts; /* whom it may concern; lent */
    aq_log_limit joined_limit, again_limit, left_limit;
    bool is_over; /* training is: results and requests come too late */
} aq_learner_events;

/* `events` outlives the service that it is the owner of. */
aq_learner_service_owner aq_learner_events_owner(aq_learner_events *events);

#endif
