/*
 * Dashboard statistics: what the verdict is made of, out of the status, the plan and the history of
 * a run. Loop thread only.
 */
#ifndef AQ_LEARNER_WEB_DASHBOARD_STATS_H
#define AQ_LEARNER_WEB_DASHBOARD_STATS_H

#include "learner/metrics/run_history.h"
#include "learner/run/run_plan.h"
#include "learner/run/run_verdict.h"
#include "proto/operations.pb-c.h"

void aq_dashboard_facts(const Actorq__V1__StatusReply *status, const aq_run_plan *plan,
                        const aq_run_history *history, aq_run_facts *ret_facts);

/* The return at which the run is solved; NaN: never, as is also said by a number out of reach. */
double aq_dashboard_threshold(const aq_run_plan *plan);

/* Whether the screenings' returns rise, by the latest quarter of them against the one before. */
enum aq_return_trend aq_dashboard_trend(const aq_history_series *screened);

#endif
