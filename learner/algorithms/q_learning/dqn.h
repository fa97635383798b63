/*
 * DQN: Q-learning with a Huber loss on the values (Mnih et al., 2015), with double Q-learning's
 * targets (van Hasselt et al., 2016) unless learner.double_q is off, and n-step returns.
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_DQN_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_DQN_H

#include "learner/algorithms/algorithm.h"

extern const aq_algorithm_class aq_dqn_class;

#endif
