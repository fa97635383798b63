/*
 * Best policy: the version that ranks first so far (ranking.h), and whether policy.aq has it yet.
 * Loop thread only.
 */
#ifndef AQ_LEARNER_RUN_BEST_POLICY_H
#define AQ_LEARNER_RUN_BEST_POLICY_H

#include <stdbool.h>

#include "learner/publish/policy_shelf.h"
#include "learner/run/coordinator.h"

/* A version that a checkpoint brought may be without its fp32 twin. Zeroed: there is none. */
typedef struct aq_best_policy {
    aq_snapshot *snapshot;
    aq_snapshot *twin;
    aq_evaluation_result result;
    bool is_unwritten; /* not in policy.aq yet */
} aq_best_policy;

/* Takes references to both. */
void aq_best_policy_set(aq_best_policy *best, aq_snapshot *snapshot, aq_snapshot *twin,
                        const aq_evaluation_result *result, bool is_unwritten);
void aq_best_policy_fini(aq_best_policy *best);

/* The result is the best so far: keeps its version, which is on the shelf, or is the one that was
 * the best before and was evaluated once more. False when it is neither. */
bool aq_best_policy_keep(aq_best_policy *best, const aq_policy_shelf *shelf,
                         const aq_evaluation_result *result);

/* Until a version was evaluated the newest one stands for it, without a result, to be written. */
void aq_best_policy_stand_in(aq_best_policy *best, const aq_policy_shelf *shelf);

/* The learner ends: where the run has, too, a screening that is far above the best is kept in its
 * place, if its version is on the shelf. One that goes on later plays it afresh. Without any
 * evaluation, the newest version. */
void aq_best_policy_settle(aq_best_policy *best, const aq_policy_shelf *shelf,
                           aq_coordinator *coordinator);

#endif
