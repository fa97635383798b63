/*
 * Best policy: references to two snapshots.
 */
#include "learner/run/best_policy.h"

#include <math.h>

void aq_best_policy_set(aq_best_policy *best, aq_snapshot *snapshot, aq_snapshot *twin,
                        const aq_evaluation_result *result, bool is_unwritten)
{
    const aq_best_policy next = {
        .snapshot = aq_snapshot_ref(snapshot),
        .twin = twin != NULL ? aq_snapshot_ref(twin) : NULL,
        .result = *result,
        .is_unwritten = is_unwritten,
    };
    aq_best_policy_fini(best);
    *best = next;
}

void aq_best_policy_fini(aq_best_policy *best)
{
    aq_snapshot_unref(best->snapshot);
    aq_snapshot_unref(best->twin);
    *best = (aq_best_policy){0};
}

bool aq_best_policy_keep(aq_best_policy *best, const aq_policy_shelf *shelf,
                         const aq_evaluation_result *result)
{
    if (best->snapshot != NULL && best->snapshot->version == result->version) {
        best->result = *result;
        return true;
    }
    const aq_publication *evaluated = aq_policy_shelf_find(shelf, result->version);
    if (evaluated == NULL) {
        return false;
    }
    aq_best_policy_set(best, evaluated->snapshot, evaluated->twin, result, true);
    return true;
}

void aq_best_policy_stand_in(aq_best_policy *best, const aq_policy_shelf *shelf)
{
    const aq_publication *newest = aq_policy_shelf_newest(shelf);
    const bool is_ranked = best->snapshot != NULL && !isnan(best->result.return_mean);
    if (is_ranked || newest == NULL) { /* what was left unranked before is older */
        return;
    }
    const aq_evaluation_result unknown = {.version = newest->snapshot->version, .return_mean = NAN};
    aq_best_policy_set(best, newest->snapshot, newest->twin, &unknown, true);
}

void aq_best_policy_settle(aq_best_policy *best, const aq_policy_shelf *shelf,
                           aq_coordinator *coordinator)
{
    const bool has_ended = aq_coordinator_state(coordinator) != AQ_RUN_RUNNING;
    const aq_evaluation_result *heir = aq_coordinator_heir(coordinator);
    if (has_ended && heir != NULL && aq_best_policy_keep(best, shelf, heir)) {
        aq_coordinator_restore_best(coordinator, heir);
    }
    aq_best_policy_stand_in(best, shelf);
}
