/*
 * Learning rate: what is left of the configured step sizes as a run goes on. A pure function of how
 * far the run is, so that one that is resumed goes on where it was.
 */
#ifndef AQ_LEARNER_ALGORITHMS_LEARNING_RATE_H
#define AQ_LEARNER_ALGORITHMS_LEARNING_RATE_H

#include <stdint.h>

#include "common/config/run_config.h"

/* With d, 0 to 1, how near the run is to the limit that it is nearest to, and e
 * learner.learning_rate_end:
 *
 *   e + (1 - e) * (linear: 1 - d; cosine: (1 + cos(pi d)) / 2)
 *
 * times (learner_steps + 1) / learner.learning_rate_warmup until that is 1. */
double aq_learning_rate_share(const aq_run_config *config, uint64_t env_steps,
                              uint64_t learner_steps);

#endif
