/*
 * Role times: where the time of each role went, in seconds, for the metrics. Actors and shards tell
 * theirs by heartbeat, so it is half a second old; nothing is known of members that have left. Loop
 * thread only.
 */
#ifndef AQ_LEARNER_DAEMON_ROLE_TIMES_H
#define AQ_LEARNER_DAEMON_ROLE_TIMES_H

#include "learner/daemon/training.h"
#include "learner/service/learner_service.h"

struct json_t; /* jansson's */

/* A new reference; NULL without memory. */
struct json_t *aq_role_times(const aq_learner_service *service, const aq_training_figures *figures);

#endif
