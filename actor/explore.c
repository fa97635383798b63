/*
 * The exploration ladder.
 */
#include "actor/explore.h"

#include <math.h>

#include "common/base/assert.h"

double aq_explore_rate(const aq_run_settings *settings, uint32_t slot, uint32_t env)
{
    AQ_ASSERT(settings->actor_count >= 1);
    AQ_ASSERT(env < settings->actor_envs);
    double rungs = (double)settings->actor_count * settings->actor_envs;
    double rung = (double)env * settings->actor_count + slot % settings->actor_count;
    double height = rungs > 1.0 ? rung / (rungs - 1.0) : 0.0;
    return pow(settings->epsilon_base, 1.0 + settings->epsilon_alpha * height);
}
