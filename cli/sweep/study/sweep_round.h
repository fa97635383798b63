/*
 * Sweep round: which stages come next, once all before are over. A pure function of the spec and of
 * what came of the rounds before, so that a study is the same for any number of workers, and
 * whoever finds a round missing writes the same one.
 *
 *   promotions   of each rung the best of those that came to it, one of `keep` (ASHA)
 *   new trials   as the method says, until there are as many as asked for
 *   then         the winner and what is fixed alone, each from the seeds for the report
 */
#ifndef AQ_CLI_SWEEP_STUDY_SWEEP_ROUND_H
#define AQ_CLI_SWEEP_STUDY_SWEEP_ROUND_H

#include "cli/sweep/study/sweep_study.h"
#include "common/base/error.h"

/* The caller frees the stages with aq_free; of none the study has ended. The study is idle.
 * AQ_E_NOMEM. */
int aq_sweep_next_round(const aq_sweep_study *study, aq_sweep_stage **ret_stages,
                        size_t *ret_count) AQ_MUST_USE;

#endif
