/*
 * Learning rate: what is left of the configured step sizes as a run goes on. A pure function of how
 * far the run is, so that one that is resumed goes on where it was.
 */
#ifndef AQ_LEARNER_ALGORITHMS_LEARNING_RATE_H
#define AQ_LEARNER_ALGORITHMS_LEARNING_RATE_H

#include <stdint.h>

#include "common/config/run_config.h"

/* 1 at the start, learner.learning_rate_end at the limit that the run is nearest to and after it, a
 * straight line between. */
double aq_learning_rate_share(const aq_run_config *config, uint64_t env_steps,
                              uint64_t learner_steps);

#endif
