/*
 * QR-DQN: Q-learning of the distribution of returns by learner.quantiles of its quantiles (Dabney
 * et al., 2018), which needs no range of returns; otherwise as dqn. The mean of quantiles that a
 * linear layer gives is a linear layer itself, and so actors are given that one: a network of dqn's
 * size.
 *
 * Here is in what it differs; the rest is q_learner.c.
 */
#include "learner/algorithms/q_learning/q_learner.h"

const aq_algorithm_class aq_qr_dqn_class = {
    .name = "qr_dqn",
    .kind = &(const aq_value_kind){.learns = AQ_Q_QUANTILES, .parts = &aq_q_learner_parts},
    .metrics = {aq_q_learner_metrics, AQ_Q_LEARNER_METRICS},
    AQ_Q_LEARNER_MEMBERS,
};
