/*
 * QR-DQN's loss: from the quantiles of a batch to one number and its gradient. Pure; any thread.
 *
 *   a'[i]   = the action of the greatest mean in the chooser's quantiles for s'[i]
 *   y[i][j] = reward[i] + bootstrap[i] * theta_target(s'[i], a'[i])[j]
 *   u       = y[i][j] - theta_online(s[i], action[i])[k],  tau[k] = (k + 1/2) / quantiles
 *   loss    = 1/rows * sum_i weight[i] * sum_k mean_j |tau[k] - (u < 0)| * huber(u)
 *
 * y counts as a constant, and huber is dqn_loss.h's. A row's priority is how far the mean of its
 * quantiles is from that of y: what dqn's would be.
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_QR_LOSS_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_QR_LOSS_H

#include "common/base/error.h"
#include "common/experience/batch.h"
#include "learner/algorithms/q_learning/dqn_loss.h"

/* Quantiles, (rows of the batch, actions, quantiles) each. */
typedef struct aq_qr_values {
    uint32_t actions;
    uint32_t quantiles;
    const float *online;      /* for s */
    const float *chooser;     /* for s': the learned network's, or the target's */
    const float *target_next; /* for s' */
} aq_qr_values;

/* Floats of the room that the loss needs. */
size_t aq_qr_room(uint32_t quantiles);

/* d loss / d online into ret_d_online, all of it, and the batch's priorities. AQ_E_CORRUPT for an
 * action that is not one of `actions`; ret_d_online may have been written then. */
int aq_qr_loss_of(const aq_batch *batch, const aq_qr_values *values, float huber_delta, float *room,
                  float *ret_d_online, aq_dqn_loss *ret_loss) AQ_MUST_USE;

#endif
