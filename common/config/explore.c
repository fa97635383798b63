/*
 * The exploration ladders.
 */
#include "common/config/explore.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/policy/exploration.h"

enum { RUNGS_LOOKED_AT_MAX = 1024 };

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

static double rate_at(const aq_run_config *config, double height)
{
    return pow(config->actor.epsilon_base, 1.0 + config->actor.epsilon_alpha * height);
}

static double noise_at(const aq_run_config *config, double height)
{
    return config->actor.noise_ladder == AQ_NOISE_CONSTANT ? config->actor.noise
                                                           : config->actor.noise * height;
}

double aq_explore_rate(const aq_run_config *config, uint32_t slot, uint32_t env)
{
    return rate_at(config, height_of(config, slot, env, 0.0));
}

double aq_explore_noise(const aq_run_config *config, uint32_t slot, uint32_t env)
{
    return noise_at(config, height_of(config, slot, env, 1.0));
}

double aq_explore_share(const aq_run_config *config, uint64_t learner_step)
{
    const uint64_t steps = config->actor.explore_steps;
    const double done = learner_step < steps ? (double)learner_step / (double)steps : 1.0;
    return 1.0 - done * (1.0 - config->actor.explore_end);
}

/* Of so many rungs, evenly spaced, that stand for all of them. */
static uint32_t rungs_looked_at(const aq_run_config *config)
{
    const double rungs = (double)config->actor.count * (double)config->actor.envs;
    return rungs < RUNGS_LOOKED_AT_MAX ? (uint32_t)rungs : RUNGS_LOOKED_AT_MAX;
}

/* How the i-th of them explores. */
static aq_exploration look_at(const aq_run_config *config, uint32_t i, uint32_t looked_at)
{
    const double height = (double)i / (looked_at - 1); /* NaN: the only one */
    return (aq_exploration){
        .epsilon = rate_at(config, looked_at > 1 ? height : 0.0),
        .sigma = noise_at(config, looked_at > 1 ? height : 1.0),
    };
}

double aq_explore_mean_rate(const aq_run_config *config)
{
    const uint32_t looked_at = rungs_looked_at(config);
    double sum = 0.0;
    for (uint32_t i = 0; i < looked_at; i++) {
        sum += look_at(config, i, looked_at).epsilon;
    }
    return sum / looked_at;
}

double aq_explore_entropy(const aq_run_config *config, double share, const aq_space *action)
{
    const uint32_t looked_at = rungs_looked_at(config);
    double sum = 0.0;
    uint32_t count = 0;
    if (aq_algorithm_has(config->learner.algorithm, AQ_DRAWS_ACTIONS) ||
        config->learner.noisy > 0) {
        return (double)NAN; /* the policy's own, which changes */
    }
    for (uint32_t i = 0; i < looked_at; i++) {
        aq_exploration how = look_at(config, i, looked_at);
        how.epsilon *= share;
        how.sigma *= share;
        const double entropy = aq_exploration_entropy(action, &how);
        sum += isfinite(entropy) ? entropy : 0.0;
        count += isfinite(entropy);
    }
    return count > 0 ? sum / count : (double)NAN;
}
