/*
 * Value learner: what pqn and r2d2 have in common, which learn the values of all actions from
 * sequences: one network of them, the gradient of all ranks, and its optimizer. Such an algorithm's
 * object begins with one, so that the members of its class that are here find it.
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_VALUE_LEARNER_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_VALUE_LEARNER_H

#include <stdbool.h>

#include "learner/algorithms/algorithm.h"
#include "learner/algorithms/q_learning/q_learner.h"
#include "learner/nn/net_train.h"
#include "learner/nn/optimizer.h"

typedef struct aq_value_learner {
    aq_algorithm head; /* first */
    aq_net_spec spec;
    uint32_t inputs, actions;
    uint32_t obs_dtype;
    double gradient_clip; /* 0: off */
    aq_gradient_exchange *exchange;
    aq_params online, gradient;
    float *moments; /* m, then v */
    aq_optimizer optimizer;
    aq_net_train *train;
} aq_value_learner;

/* Of passes through so many rows; `stream` of the run's seed gives the initial weights.
 * AQ_E_UNSUPPORTED and AQ_E_INVALID, in words; AQ_E_NOMEM. `fini` is due then, too. */
int aq_value_learner_init(aq_value_learner *learner, const aq_algorithm_class *class,
                          const aq_algorithm_setup *setup, uint32_t rows_max, uint64_t stream,
                          aq_error *error) AQ_MUST_USE;
void aq_value_learner_fini(aq_value_learner *learner); /* zeroes are fine */

/* A step along the gradient, of all ranks and clipped: how long it was before, and then.
 * AQ_E_CORRUPT, on all ranks, when that of one is not good. */
int aq_value_learner_step(aq_value_learner *learner, bool is_good, double *ret_norm,
                          double *ret_clipped) AQ_MUST_USE;

/* Members of the class; arrays are added to by those who have more. */
const aq_net_spec *aq_value_learner_spec(const aq_algorithm *algorithm);
const aq_params *aq_value_learner_policy(const aq_algorithm *algorithm);
void aq_value_learner_set_rates(aq_algorithm *algorithm, double learning_rate,
                                double critic_learning_rate);
void aq_value_learner_arrays(aq_algorithm *algorithm, aq_named_arrays *arrays);

#define AQ_VALUE_LEARNER_MEMBERS                                                                   \
    .metrics = {aq_q_learner_metrics, AQ_Q_LEARNER_METRICS}, .head = aq_q_learner_head,            \
    .spec = aq_value_learner_spec, .policy = aq_value_learner_policy,                              \
    .set_rates = aq_value_learner_set_rates

#endif
