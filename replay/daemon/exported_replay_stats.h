/*
 * A shard's families on its metrics page. docs/metrics.md lists them. No state; any thread.
 */
#ifndef AQ_REPLAY_DAEMON_EXPORTED_REPLAY_STATS_H
#define AQ_REPLAY_DAEMON_EXPORTED_REPLAY_STATS_H

#include "common/base/metrics_page.h"
#include "proto/membership.pb-c.h"

void aq_replay_export(const Actorq__V1__ReplayStats *stats, aq_metrics_page *page);

#endif
