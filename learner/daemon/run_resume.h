/*
 * Run resume: at the start of a process that goes on with a run, everything that the newest
 * checkpoint knows is put where it belongs.
 */
#ifndef AQ_LEARNER_DAEMON_RUN_RESUME_H
#define AQ_LEARNER_DAEMON_RUN_RESUME_H

#include "learner/algorithms/agent.h"
#include "learner/publish/precision_gap.h"
#include "learner/run/best_policy.h"
#include "learner/run/checkpoint_store.h"
#include "learner/run/run_folder.h"
#include "learner/run/run_plan.h"

/* Who is given what; all lent and fresh. */
typedef struct aq_resume_into {
    const aq_run_folder *folder;
    const aq_run_plan *plan;
    aq_agent *agent;
    aq_coordinator *coordinator;
    aq_policy_shelf *shelf;
    aq_best_policy *best;
} aq_resume_into;

typedef struct aq_resumed {
    uint64_t step;         /* gradient steps that were done */
    uint64_t last_version; /* policy numbers that were given */
    aq_precision_gap gap;  /* that was found */
    /* Of an agent that has taken up but a slice of it: what was read, which is the caller's to
     * finish; else zeroes. */
    aq_checkpoint read;
} aq_resumed;

/* Zeroes, and a word in the log, when there is no checkpoint yet. AQ_E_INVALID when it is of
 * another run, task, algorithm or network than the plan's, or its gradients are others;
 * AQ_E_CORRUPT when there are some and none can be read. policy.aq is then the best that the
 * checkpoint has, if it can be written. */
int aq_run_resume(const aq_resume_into *into, aq_checkpoint_store *store, aq_resumed *ret_resumed,
                  aq_error *error) AQ_MUST_USE;

#endif
