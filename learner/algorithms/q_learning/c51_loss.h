/*
 * C51's loss: from the distributions of a batch to one number and its gradient. Pure; any thread.
 *
 *   a'[i]   = the action of the greatest mean in the chooser's distributions for s'[i]
 *   y[i]    = the distribution of reward[i] + bootstrap[i] * Z_target(s'[i], a'[i])
 *   loss    = 1/rows * sum_i weight[i] * cross entropy of Z_online(s[i], action[i]) and y[i]
 *
 * y counts as a constant. A row's priority is its cross entropy.
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_C51_LOSS_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_C51_LOSS_H

#include "common/base/error.h"
#include "common/experience/batch.h"
#include "learner/algorithms/q_learning/dqn_loss.h"
#include "learner/nn/categorical.h"

/* Logits, (rows of the batch, actions, atoms) each. */
typedef struct aq_c51_values {
    uint32_t actions;
    const aq_atoms *atoms;
    const float *online;      /* for s */
    const float *chooser;     /* for s': the learned network's, or the target's */
    const float *target_next; /* for s' */
} aq_c51_values;

/* Floats of the room that the loss needs. */
size_t aq_c51_room(uint32_t actions, uint32_t atoms);

/* d loss / d online into ret_d_online, all of it, and the batch's priorities. AQ_E_CORRUPT for an
 * action that is not one of `actions`; ret_d_online may have been written then. */
int aq_c51_loss_of(const aq_batch *batch, const aq_c51_values *values, float *room,
                   float *ret_d_online, aq_dqn_loss *ret_loss) AQ_MUST_USE;

#endif
