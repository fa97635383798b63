/*
 * Live plan: the run's plan with the settings that change while the run goes on, and the run
 * folder's copy of them. A change is kept in the folder before anybody is told, so that a learner
 * that dies in between goes on with it after its restart.
 *
 * A learner is mostly started again with the arguments that it had at first, by whatever supervises
 * it. What was changed in the running system must not be lost then, but other arguments must count.
 * So config.given.yaml, which is there while a change is, holds what was given when the change was
 * made: a live setting that is given as it was then keeps what config.yaml says. Loop thread only.
 */
#ifndef AQ_LEARNER_RUN_LIVE_PLAN_H
#define AQ_LEARNER_RUN_LIVE_PLAN_H

#include "learner/run/run_folder.h"
#include "learner/run/run_plan.h"

typedef struct aq_live_plan {
    aq_run_plan now;
    aq_run_config given; /* as this process was started */
    char *text;          /* of the settings as they are now, in YAML */
} aq_live_plan;

/* From what the process was started with; a run that goes on in `resumed_dir` (NULL: a new one)
 * keeps what it was changed to. `live` was zeroed. Fails as aq_run_plan_make does, and by a file
 * of the folder that cannot be read, which is named. */
int aq_live_plan_make(const aq_run_config *given, const char *resumed_dir, aq_live_plan *live,
                      aq_error *error) AQ_MUST_USE;
void aq_live_plan_fini(aq_live_plan *live);

/* The folder of a resumed run gets the settings that it goes on under; config.given.yaml is
 * replaced, or removed when nothing is changed any more. */
int aq_live_plan_settle(const aq_live_plan *live, const aq_run_folder *folder,
                        aq_error *error) AQ_MUST_USE;

/* Takes `next`, once the folder keeps it; on failure nothing has changed. */
int aq_live_plan_change(aq_live_plan *live, const aq_run_folder *folder, const aq_run_plan *next,
                        aq_error *error) AQ_MUST_USE;

#endif
