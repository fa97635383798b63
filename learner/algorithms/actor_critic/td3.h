/*
 * TD3: an actor and two critics (Fujimoto et al., 2018). The lesser of their values counts, the
 * next action is judged with some noise on it, and the policy and all target networks take one step
 * for learner.policy_delay of the critics.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_TD3_H
#define AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_TD3_H

#include "learner/algorithms/algorithm.h"

extern const aq_algorithm_class aq_td3_class;

#endif
