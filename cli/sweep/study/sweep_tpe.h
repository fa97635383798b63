/*
 * Tree-structured Parzen estimator (J. Bergstra, R. Bardenet, Y. Bengio and B. Kegl, "Algorithms
 * for Hyper-Parameter Optimization", 2011), over whole points: of candidates drawn near the better
 * trials, the one that is likeliest among these and least likely among the others. A pure function.
 */
#ifndef AQ_CLI_SWEEP_STUDY_SWEEP_TPE_H
#define AQ_CLI_SWEEP_STUDY_SWEEP_TPE_H

#include "cli/sweep/study/sweep_space.h"
#include "common/base/error.h"
#include "common/base/rng.h"

/* `points` come best first; the first `good` are the better ones. AQ_E_NOMEM. */
int aq_sweep_tpe(const aq_sweep_space *space, const aq_sweep_point *const *points, size_t count,
                 size_t good, aq_rng *rng, aq_sweep_point *ret_point) AQ_MUST_USE;

#endif
