/*
 * Sweep prune: runs that nothing goes on from any more lose what only training needs, checkpoints
 * and stored steps, which is nearly all of them. Metrics, logs and policies stay. At any time, by
 * anybody; no state.
 */
#ifndef AQ_CLI_SWEEP_TRAINING_SWEEP_PRUNE_H
#define AQ_CLI_SWEEP_TRAINING_SWEEP_PRUNE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/sweep/study/sweep_study.h"
#include "common/base/error.h"

typedef struct aq_sweep_pruned {
    size_t runs;
    uint64_t bytes;
} aq_sweep_pruned;

/* Whole are left: what has not ended, the best so far, what the report is of, and what the study
 * may yet go on from. AQ_E_NOMEM. */
int aq_sweep_prune(const aq_sweep_study *study, const char *dir,
                   aq_sweep_pruned *ret_pruned) AQ_MUST_USE;

#endif
