/*
 * DDPG: an actor and a critic of values (Lillicrap et al., 2016), with n-step returns and Acme's
 * choices, as D4PG has them: it is that without distributions, to compare with.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_DDPG_H
#define AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_DDPG_H

#include "learner/algorithms/algorithm.h"

extern const aq_algorithm_class aq_ddpg_class;

#endif
