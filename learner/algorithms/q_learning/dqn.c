/*
 * DQN: Q-learning with a Huber loss on the values (Mnih et al., 2015), with double Q-learning's
 * targets (van Hasselt et al., 2016) unless learner.double_q is off, and n-step returns.
 *
 * Here is in what it differs; the rest is q_learner.c.
 */
#include "learner/algorithms/q_learning/q_learner.h"

const aq_algorithm_class aq_dqn_class = {
    .name = "dqn",
    .kind = &(const aq_value_kind){.learns = AQ_Q_VALUES, .parts = &aq_q_learner_parts},
    .trains_quantized = true,
    .metrics = {aq_q_learner_metrics, AQ_Q_LEARNER_METRICS},
    AQ_Q_LEARNER_WHOLE_MEMBERS,
};
