/*
 * DQN: Q-learning on a multi-layer perceptron, with double Q-learning's targets (van Hasselt et
 * al., 2016), n-step returns as the batch brings them, Huber loss, Adam, and a target network that
 * becomes a copy of the learned one every learner.target_period steps. A dueling head (Wang et al.,
 * 2016), layer normalization and quantization-aware training can be asked for.
 *
 * For boxes of float32 (as they are) or uint8 (divided by 255) and discrete actions.
 */
#ifndef AQ_LEARNER_DQN_H
#define AQ_LEARNER_DQN_H

#include "learner/algorithm.h"

extern const aq_algorithm_class aq_dqn_class;

#endif
