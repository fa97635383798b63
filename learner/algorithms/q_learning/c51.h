/*
 * C51: Q-learning of the distribution of returns (Bellemare et al., 2017) over learner.atoms values
 * between learner.value_min and learner.value_max; otherwise as dqn. Actors run the network with
 * the layer that makes values of its distributions.
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_C51_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_C51_H

#include "learner/algorithms/algorithm.h"

extern const aq_algorithm_class aq_c51_class;

#endif
