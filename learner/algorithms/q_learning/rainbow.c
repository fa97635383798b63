/*
 * Rainbow (Hessel et al., 2018): c51 with all that goes with it. What that is stands in its
 * presets, each part a setting of its own: noisy and dueling layers, double Q-learning's targets,
 * priorities whose bias is corrected more and more, and n-step returns.
 *
 * Here is in what it differs; the rest is q_learner.c.
 */
#include "learner/algorithms/q_learning/q_learner.h"

const aq_algorithm_class aq_rainbow_class = {
    .name = "rainbow",
    .kind = &(const aq_value_kind){.learns = AQ_Q_DISTRIBUTIONS, .parts = &aq_q_learner_parts},
    .trains_quantized = true,
    .metrics = {aq_q_learner_metrics, AQ_Q_DISTRIBUTION_METRICS},
    AQ_Q_LEARNER_WHOLE_MEMBERS,
};
