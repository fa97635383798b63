/*
 * Sweep order: which stages are better than which. By the score alone; where a cost counts, by
 * fronts: a stage that another beats in both comes after it. What failed comes last. Of equals the
 * earlier one is first, so that the order is the same for everybody. One thread.
 */
#ifndef AQ_CLI_SWEEP_STUDY_SWEEP_ORDER_H
#define AQ_CLI_SWEEP_STUDY_SWEEP_ORDER_H

#include "cli/sweep/study/sweep_study.h"

/* Sorts stages that are over, the best first. AQ_E_NOMEM. */
int aq_sweep_sort(const aq_sweep_study *study, uint32_t *stages, size_t count) AQ_MUST_USE;

/* Whether neither is better: of equal score and cost, or both failed. */
bool aq_sweep_are_alike(const aq_sweep_study *study, uint32_t left, uint32_t right);

/* The last stage of each trial that has one that is over, at a higher rung first and then in that
 * order, and behind them all those that failed: what is known of all trials. The caller frees them
 * with aq_free. AQ_E_NOMEM. */
int aq_sweep_known(const aq_sweep_study *study, uint32_t **ret_stages,
                   size_t *ret_count) AQ_MUST_USE;

/* Of the trials at the highest rung that any has come to, the one with the best score. One that
 * failed later only wins where all did. AQ_SWEEP_NONE when there is none. */
uint32_t aq_sweep_winner(const aq_sweep_study *study);

#endif
