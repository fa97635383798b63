/*
 * Configure call: settings that change while the run goes on.
 *
 * In this order: everything is checked; the run folder keeps it; each part is told. So what cannot
 * be kept is not done. The trainer and the quantizer's stage take their share when they next look;
 * members hear with their next heartbeat. Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_CONFIGURE_CALL_H
#define AQ_LEARNER_DAEMON_CONFIGURE_CALL_H

#include "learner/run/coordinator.h"
#include "learner/run/run_plan.h"
#include "proto/operations.pb-c.h"

struct aq_learner_parts;

/* The limits of the run, as the plan has them. */
aq_coordinator_config aq_configure_limits(const aq_run_plan *plan);

/* Carries out a Configure call, and answers it. */
void aq_configure_call(struct aq_learner_parts *parts, const Actorq__V1__ConfigureRequest *request,
                       Actorq__V1__ConfigureReply_Closure closure, void *call);

#endif
