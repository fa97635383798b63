/*
 * C51: Q-learning of the distribution of returns (Bellemare et al., 2017) over learner.atoms values
 * between learner.value_min and learner.value_max; otherwise as dqn. Actors run the network with
 * the layer that makes values of its distributions.
 *
 * Here is in what it differs; the rest is q_learner.c.
 */
#include "learner/algorithms/q_learning/q_learner.h"

const aq_algorithm_class aq_c51_class = {
    .name = "c51",
    .kind = &(const aq_value_kind){.learns = AQ_Q_DISTRIBUTIONS, .parts = &aq_q_learner_parts},
    .trains_quantized = true,
    .metrics = {aq_q_learner_metrics, AQ_Q_DISTRIBUTION_METRICS},
    AQ_Q_LEARNER_WHOLE_MEMBERS,
};
