/*
 * Annealing: what changes with how far a run is. Pure functions, so that a run that is resumed goes
 * on where it was; any thread.
 */
#ifndef AQ_COMMON_CONFIG_ANNEALING_H
#define AQ_COMMON_CONFIG_ANNEALING_H

#include <stdint.h>

#include "common/config/run_config.h"

/* How near a run is to the limit that it is nearest to, 0 to 1. */
double aq_run_done(const aq_run_config *config, uint64_t env_steps, uint64_t learner_steps);

/* The greatest exponent of importance that a run comes to, by which rows are weighed where they are
 * drawn; and what share of it counts now: a weight to the power of it is what is trained with. */
double aq_importance_exponent_max(const aq_run_config *config);
double aq_importance_share(const aq_run_config *config, uint64_t env_steps, uint64_t learner_steps);

#endif
