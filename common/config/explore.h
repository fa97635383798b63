/*
 * Explore: ladders over all environments of all actors, so that some explore much, others little,
 * and together they cover both. Choices have that of Ape-X (Horgan et al., 2018), continuous
 * actions that of ActorQ (Krishnan et al., 2022) if the run wants one.
 */
#ifndef AQ_COMMON_CONFIG_EXPLORE_H
#define AQ_COMMON_CONFIG_EXPLORE_H

#include <stdint.h>

#include "common/config/run_config.h"
#include "common/experience/schema.h"

/* Share of random actions, 0 to 1, of environment `env` of the actor in `slot`. With n =
 * actor.count * actor.envs rungs, rung i has epsilon_base^(1 + epsilon_alpha * i / (n - 1)); the
 * only rung of n = 1 has epsilon_base. Neighbouring rungs belong to different actors, so that each
 * actor has its share of the whole ladder; those of an actor beyond actor.count lie between the
 * rungs. */
double aq_explore_rate(const aq_run_config *config, uint32_t slot, uint32_t env);

/* Standard deviation of what is added to continuous actions, a share of half their range, over the
 * same rungs: with the uniform ladder rung i has noise * i / (n - 1), and the only rung of n = 1
 * has all of it. */
double aq_explore_noise(const aq_run_config *config, uint32_t slot, uint32_t env);

/* Of rate and noise, what is left when the policy that one acts by was trained for so many steps: 1
 * at first, actor.explore_end from actor.explore_steps on, a straight line between. */
double aq_explore_share(const aq_run_config *config, uint64_t learner_step);

/* Mean of aq_explore_rate over the rungs: how often actors take an action at random. */
double aq_explore_mean_rate(const aq_run_config *config);

/* aq_exploration_entropy where `share` is left, mean over the rungs; those without noise are left
 * out, and NaN is what is left without any. */
double aq_explore_entropy(const aq_run_config *config, double share, const aq_space *action);

#endif
