/*
 * The loss of Q-learning: from what networks gave for a batch to one number and its gradient. Pure;
 * any thread.
 *
 *   y[i]    = reward[i] + bootstrap[i] * target(s'[i], the chooser's best action in s'[i])
 *   loss    = 1/rows * sum_i weight[i] * how far online(s[i], action[i]) is from y[i]
 *
 * y counts as a constant: the gradient flows through online(s, action) alone. What an action has,
 * and what far means, is the kind's:
 *
 *   values          huber(e), e = Q - y;  huber(e) = e^2 / 2 where |e| <= delta, else
 *                   delta * (|e| - delta / 2). A row's priority is |e|
 *   distributions   cross entropy of Z and the projection of y. So is a row's priority
 *   quantiles       sum_k mean_j |tau[k] - (u < 0)| * huber(u), u = y[j] - theta[k] and
 *                   tau[k] = (k + 1/2) / quantiles. A row's priority is how far the mean of its
 *                   quantiles is from that of y: what it would be of values
 *
 * An action is as good as its value, or its mean.
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_Q_LOSS_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_Q_LOSS_H

#include "common/base/error.h"
#include "common/experience/batch.h"
#include "learner/algorithms/q_learning/value_learner.h"
#include "learner/nn/categorical.h"

/* Of the batch's rows; (rows, actions, width) of each network. */
typedef struct aq_q_values {
    uint32_t actions;
    uint32_t width;           /* numbers of an action: its value, logits, or quantiles */
    const aq_atoms *atoms;    /* of distributions */
    float huber_delta;        /* of the others */
    const float *online;      /* for s */
    const float *chooser;     /* for s': the learned network's, or the target's */
    const float *target_next; /* for s' */
    float *room;              /* aq_q_loss_room floats */
} aq_q_values;

typedef struct aq_q_loss {
    double loss;             /* NaN or infinite when anything that it depends on is */
    aq_value_figures values; /* of the chosen actions */
} aq_q_loss;

/* Floats of the room that the loss of any kind needs. */
size_t aq_q_loss_room(uint32_t actions, uint32_t width);

/* y of one row of values, from those in the next state. */
float aq_q_target(float reward, float bootstrap, const float *chooser, const float *target_next,
                  uint32_t actions);

/* d loss / d online into ret_d_online, all of it, and the batch's priorities. AQ_E_CORRUPT for an
 * action that is not one of `actions`; ret_d_online may have been written then. */
int aq_q_loss_of(const aq_value_kind *kind, const aq_batch *batch, const aq_q_values *values,
                 float *ret_d_online, aq_q_loss *ret_loss) AQ_MUST_USE;

#endif
