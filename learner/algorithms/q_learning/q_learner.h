/*
 * Q-learner: what dqn, c51 and qr_dqn have in common, each of which is a file that says in what it
 * differs. The values of all actions are learned, as numbers, as distributions over atoms or as
 * quantiles, from n-step returns and an older copy of the network, which follows it every
 * learner.target_period steps or, with learner.tau, a little each step. A dueling head (Wang et
 * al., 2016), layer normalization and quantization-aware training can be asked for.
 *
 * For boxes of float32 (as they are) or uint8 (divided by 255) and discrete actions.
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_Q_LEARNER_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_Q_LEARNER_H

#include "learner/algorithms/q_learning/value_learner.h"

extern const aq_value_parts aq_q_learner_parts;

int aq_q_learner_train(aq_algorithm *algorithm, const aq_batch *rows,
                       aq_update_report *ret_report) AQ_MUST_USE;

extern const aq_algorithm_by_gradients aq_q_learner_by_gradients;

/* What all tell, and after it what distributions tell besides. */
extern const aq_metric aq_q_learner_metrics[];
enum {
    AQ_Q_LEARNER_METRICS = AQ_VALUE_METRICS,
    AQ_Q_DISTRIBUTION_METRICS = AQ_Q_LEARNER_METRICS + AQ_MASS_METRICS
};

/* All members that the classes have in common. */
#define AQ_Q_LEARNER_MEMBERS                                                                       \
    AQ_VALUE_LEARNER_MEMBERS, .train = aq_q_learner_train, .arrays = aq_value_learner_arrays

/* Of those whose policy is the network that is learned, as far as that has parameters: others can
 * compute their gradients, and ranks share them. */
#define AQ_Q_LEARNER_WHOLE_MEMBERS                                                                 \
    AQ_Q_LEARNER_MEMBERS, .by_gradients = &aq_q_learner_by_gradients,                              \
                          .slices = aq_value_learner_slices

#endif
