/*
 * The exploration ladders.
 */
#include "actor/core/explore.h"

#include <math.h>

#include "common/base/assert.h"

/* Where the environment stands: 0 is the first rung, 1 the last; `only` when there is one. */
static double height_of(const aq_run_settings *settings, uint32_t slot, uint32_t env, double only)
{
    AQ_ASSERT(settings->actor_count >= 1);
    AQ_ASSERT(env < settings->actor_envs);
    double rungs = (double)settings->actor_count * settings->actor_envs;
    double rung = (double)env * settings->actor_count + slot % settings->actor_count;
    return rungs > 1.0 ? rung / (rungs - 1.0) : only;
}

double aq_explore_rate(const aq_run_settings *settings, uint32_t slot, uint32_t env)
{
    double height = height_of(settings, slot, env, 0.0);
    return pow(settings->epsilon_base, 1.0 + settings->epsilon_alpha * height);
}

double aq_explore_noise(const aq_run_settings *settings, uint32_t slot, uint32_t env)
{
    if (settings->noise_ladder == AQ_NOISE_CONSTANT) {
        return settings->noise;
    }
    return settings->noise * height_of(settings, slot, env, 1.0);
}
