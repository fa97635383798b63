/*
 * An actor's or evaluator's families on its metrics page. docs/metrics.md lists them. No state; any
 * thread.
 */
#ifndef AQ_ACTOR_DAEMON_EXPORTED_ACTOR_STATS_H
#define AQ_ACTOR_DAEMON_EXPORTED_ACTOR_STATS_H

#include "common/base/metrics_page.h"
#include "proto/membership.pb-c.h"

void aq_actor_export(const Actorq__V1__ActorStats *stats, aq_metrics_page *page);
void aq_evaluator_export(const Actorq__V1__ActorStats *stats, aq_metrics_page *page);

#endif
