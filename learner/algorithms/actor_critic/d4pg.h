/*
 * D4PG: an actor and a critic that learns the distribution of returns (Barth-Maron et al., 2018),
 * with n-step returns, target networks that are copied now and then, and Acme's choices where the
 * paper leaves them open: the policy is improved at the next observation, and the value's slope
 * along each action is cut to learner.action_gradient_clip.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_D4PG_H
#define AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_D4PG_H

#include "learner/algorithms/algorithm.h"

extern const aq_algorithm_class aq_d4pg_class;

#endif
