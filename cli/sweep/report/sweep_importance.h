/*
 * Sweep importance: how much of the differences between trials each setting explains by itself. A
 * pure function of the study.
 */
#ifndef AQ_CLI_SWEEP_REPORT_SWEEP_IMPORTANCE_H
#define AQ_CLI_SWEEP_REPORT_SWEEP_IMPORTANCE_H

#include "cli/sweep/study/sweep_study.h"
#include "common/base/error.h"

/* The share of each dimension, 0 to 1, of the variance of the trials' ranks at the first rung,
 * where all have trained as long; less what chance would explain. NaN of too few trials. Shares of
 * settings that only count together add up to less than 1. AQ_E_NOMEM. */
int aq_sweep_importance(const aq_sweep_study *study,
                        double ret_shares[AQ_SWEEP_DIMS_MAX]) AQ_MUST_USE;

#endif
