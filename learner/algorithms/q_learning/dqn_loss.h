/*
 * DQN's loss: from the values of a batch to one number and its gradient. Pure; any thread.
 *
 *   y[i] = reward[i] + bootstrap[i] * Q_target(s'[i], argmax_a Q_online(s'[i], a))
 *   loss = 1/rows * sum_i weight[i] * huber(Q_online(s[i], action[i]) - y[i])
 *
 *   huber(e) = e^2 / 2 where |e| <= delta, else delta * (|e| - delta / 2)
 *
 * y counts as a constant: the gradient flows through Q_online(s, action) alone. A row's priority is
 * |Q_online(s, action) - y|.
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_DQN_LOSS_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_DQN_LOSS_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/batch.h"
#include "learner/algorithms/value_figures.h"

/* (rows of the batch, actions) each */
typedef struct aq_dqn_values {
    uint32_t actions;
    const float *online;      /* Q_online(s) */
    const float *online_next; /* Q_online(s') */
    const float *target_next; /* Q_target(s') */
} aq_dqn_values;

typedef struct aq_dqn_loss {
    double loss;             /* NaN or infinite when anything that it depends on is */
    aq_value_figures values; /* of the chosen actions */
} aq_dqn_loss;

/* y of one row, from its values in the next state. */
float aq_dqn_target(float reward, float bootstrap, const float *online_next,
                    const float *target_next, uint32_t actions);

/* d loss / d Q_online(s) into ret_d_online (rows, actions), all of it, and the batch's priorities.
 * AQ_E_CORRUPT for an action
 * that is not one of `actions`; ret_d_online may have been written then. */
int aq_dqn_loss_of(const aq_batch *batch, const aq_dqn_values *values, float huber_delta,
                   float *ret_d_online, aq_dqn_loss *ret_loss) AQ_MUST_USE;

#endif
