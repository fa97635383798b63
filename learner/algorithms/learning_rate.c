/*
 * Learning rate: see learning_rate.h.
 */
#include "learner/algorithms/learning_rate.h"

/* A limit of 0 is none. */
static double part_done(uint64_t steps, uint64_t limit)
{
    return limit > 0 ? (double)steps / (double)limit : 0;
}

double aq_learning_rate_share(const aq_run_config *config, uint64_t env_steps,
                              uint64_t learner_steps)
{
    double done = part_done(env_steps, config->limits.env_steps);
    double trained = part_done(learner_steps, config->limits.learner_steps);
    done = trained > done ? trained : done;
    done = done > 1 ? 1 : done;
    return 1 - done * (1 - config->learner.learning_rate_end);
}
