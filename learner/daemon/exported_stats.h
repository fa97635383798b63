/*
 * The learner's families on its metrics page, of what Operations/Status answers. docs/metrics.md
 * lists them. No state; any thread.
 */
#ifndef AQ_LEARNER_DAEMON_EXPORTED_STATS_H
#define AQ_LEARNER_DAEMON_EXPORTED_STATS_H

#include "common/base/metrics_page.h"
#include "proto/operations.pb-c.h"

void aq_learner_export(const Actorq__V1__StatusReply *status, aq_metrics_page *page);

#endif
