/*
 * Annealing: see annealing.h.
 */
#include "common/config/annealing.h"

#include <math.h>

/* A limit of 0 is none. */
static double part_done(uint64_t steps, uint64_t limit)
{
    return limit > 0 ? (double)steps / (double)limit : 0;
}

double aq_run_done(const aq_run_config *config, uint64_t env_steps, uint64_t learner_steps)
{
    const double done = part_done(env_steps, config->limits.env_steps);
    return fmin(1, fmax(done, part_done(learner_steps, config->limits.learner_steps)));
}

static double importance_end(const aq_run_config *config)
{
    const double end = config->learner.importance_end;
    return end > 0 ? end : config->learner.importance_exponent;
}

double aq_importance_exponent_max(const aq_run_config *config)
{
    return fmax(config->learner.importance_exponent, importance_end(config));
}

double aq_importance_share(const aq_run_config *config, uint64_t env_steps, uint64_t learner_steps)
{
    const double begin = config->learner.importance_exponent;
    const double most = aq_importance_exponent_max(config);
    const double now =
        begin + (importance_end(config) - begin) * aq_run_done(config, env_steps, learner_steps);
    return most > 0 ? now / most : 1;
}
