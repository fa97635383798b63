/*
 * Sweep population: population-based training (M. Jaderberg et al., "Population Based Training of
 * Neural Networks", 2017) on rounds: when all members have come to a rung, the worst go on from
 * runs of the best, with settings near theirs. A pure function.
 */
#ifndef AQ_CLI_SWEEP_STUDY_SWEEP_POPULATION_H
#define AQ_CLI_SWEEP_STUDY_SWEEP_POPULATION_H

#include "cli/sweep/study/sweep_study.h"
#include "common/base/error.h"
#include "common/base/rng.h"

/* The next stage of each member; none when they are at the last rung, or all have failed. `stages`
 * has room for all members. AQ_E_NOMEM. */
int aq_sweep_population_next(const aq_sweep_study *study, aq_sweep_stage *stages,
                             size_t *ret_count) AQ_MUST_USE;

/* A point near another: each setting changes with a chance, within its range. */
void aq_sweep_mutate(const aq_sweep_space *space, const aq_sweep_population *population,
                     const aq_sweep_point *parent, aq_rng *rng, aq_sweep_point *ret_point);

#endif
