/*
 * The exploration ladders.
 */
#include "actor/core/explore.h"

#include <math.h>

#include "common/base/assert.h"

/* Where between two rungs the n-th further round stands: 1/2, 1/4, 3/4, 1/8, ..., its binary digits
 * behind the point in reverse. */
static double between_rungs(uint64_t round)
{
    double part = 0.0;
    for (double digit = 0.5; round > 0; round /= 2, digit /= 2.0) {
        part += digit * (double)(round % 2);
    }
    return part;
}

/* Where the environment stands: 0 is the first rung, 1 the last; `only` when there is one. More
 * actors than actor.count, as containers are scaled, stand between the rungs. */
static double height_of(const aq_run_config *config, uint32_t slot, uint32_t env, double only)
{
    const double actors = (double)config->actor.count;
    AQ_ASSERT(config->actor.count >= 1);
    AQ_ASSERT(env < config->actor.envs);
    double rungs = actors * (double)config->actor.envs;
    double rung = env * actors + (double)(slot % config->actor.count);
    const uint64_t round = slot / config->actor.count;
    if (round > 0) {
        return (rung + between_rungs(round)) / rungs;
    }
    return rungs > 1.0 ? rung / (rungs - 1.0) : only;
}

double aq_explore_rate(const aq_run_config *config, uint32_t slot, uint32_t env)
{
    double height = height_of(config, slot, env, 0.0);
    return pow(config->actor.epsilon_base, 1.0 + config->actor.epsilon_alpha * height);
}

double aq_explore_noise(const aq_run_config *config, uint32_t slot, uint32_t env)
{
    if (config->actor.noise_ladder == AQ_NOISE_CONSTANT) {
        return config->actor.noise;
    }
    return config->actor.noise * height_of(config, slot, env, 1.0);
}
