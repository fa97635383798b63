/*
 * Configure call: settings that change while the run goes on.
 *
 * In this order: everything is checked; the run folder keeps it; each part is told. So what cannot
 * be kept is not done. The trainer and the quantizer's stage take their share when they next look;
 * members hear with their next heartbeat. Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_CONFIGURE_CALL_H
#define AQ_LEARNER_DAEMON_CONFIGURE_CALL_H

#include "learner/daemon/live_plan.h"
#include "learner/daemon/run_report.h"
#include "learner/daemon/training.h"
#include "learner/service/learner_service.h"

/* Who is told; all lent. */
typedef struct aq_configure_parts {
    aq_live_plan *live;
    const aq_run_folder *folder;
    aq_coordinator *coordinator;
    aq_learner_service *service;
    aq_training *training;
    aq_run_report *report;
} aq_configure_parts;

/* The limits of the run, as the plan has them. */
aq_coordinator_config aq_configure_limits(const aq_run_plan *plan);

/* Carries out a Configure call, and answers it. */
void aq_configure_call(const aq_configure_parts *parts, const Actorq__V1__ConfigureRequest *request,
                       Actorq__V1__ConfigureReply_Closure closure, void *call);

#endif
