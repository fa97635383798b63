/*
 * Live plan: the run's plan with the settings that change while the run goes on, and the run
 * folder's copy of them. A change is kept in the folder before anybody is told, so that a learner
 * that dies in between goes on with it after its restart. Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_LIVE_PLAN_H
#define AQ_LEARNER_DAEMON_LIVE_PLAN_H

#include "learner/run/run_folder.h"
#include "learner/run/run_plan.h"

typedef struct aq_live_plan {
    aq_run_plan now;
    aq_run_config given; /* as this process was started */
    char *text;          /* of the settings as they are now, in YAML */
} aq_live_plan;

/* From what the process was started with; a run that goes on in `resumed_dir` (NULL: a new one)
 * keeps what it was changed to. `live` was zeroed. Fails as aq_run_plan_make does. */
int aq_live_plan_make(const aq_run_config *given, const char *resumed_dir, aq_live_plan *live,
                      aq_error *error) AQ_MUST_USE;
void aq_live_plan_fini(aq_live_plan *live);

/* The folder of a resumed run gets the settings that it goes on under. */
int aq_live_plan_settle(const aq_live_plan *live, const aq_run_folder *folder,
                        aq_error *error) AQ_MUST_USE;

/* Takes `next`, once the folder keeps it; on failure nothing has changed. */
int aq_live_plan_change(aq_live_plan *live, const aq_run_folder *folder, const aq_run_plan *next,
                        aq_error *error) AQ_MUST_USE;

#endif
