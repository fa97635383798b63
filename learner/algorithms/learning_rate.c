/*
 * Learning rate: see learning_rate.h.
 */
#include "learner/algorithms/learning_rate.h"

#include <math.h>

#include "common/config/annealing.h"

#define PI 3.14159265358979323846

static double warmed_up(uint64_t steps, uint64_t learner_steps)
{
    return learner_steps < steps ? (double)(learner_steps + 1) / (double)steps : 1;
}

double aq_learning_rate_share(const aq_run_config *config, uint64_t env_steps,
                              uint64_t learner_steps)
{
    const double done = aq_run_done(config, env_steps, learner_steps);
    const bool is_cosine = config->learner.learning_rate_schedule == AQ_RATE_COSINE;
    const double left = is_cosine ? 0.5 * (1 + cos(PI * done)) : 1 - done;
    const double end = config->learner.learning_rate_end;
    return warmed_up(config->learner.learning_rate_warmup, learner_steps) *
           (end + (1 - end) * left);
}
