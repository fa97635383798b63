/*
 * DQN's loss. A few numbers a row: not worth a vector.
 */
#include "learner/algorithms/q_learning/dqn_loss.h"

#include <math.h>
#include <string.h>

#include "common/policy/head.h"
#include "learner/algorithms/batch_steps.h"

float aq_dqn_target(float reward, float bootstrap, const float *online_next,
                    const float *target_next, uint32_t actions)
{
    return reward + bootstrap * target_next[aq_argmax(online_next, actions)];
}

int aq_dqn_loss_of(const aq_batch *batch, const aq_dqn_values *values, float huber_delta,
                   float *ret_d_online, aq_dqn_loss *ret_loss)
{
    const uint32_t actions = values->actions;
    const float per_row = 1.0f / (float)batch->rows;
    aq_value_figures figures = {0};
    double loss = 0;

    memset(ret_d_online, 0, (size_t)batch->rows * actions * sizeof(*ret_d_online));
    for (uint32_t i = 0; i < batch->rows; i++) {
        size_t row = (size_t)i * actions;
        float weight = batch->weight[i];
        float target, q, error, size;
        const uint32_t action = aq_batch_choice(batch, i);

        if (action >= actions) {
            return AQ_E_CORRUPT;
        }
        target = aq_dqn_target(batch->reward[i], batch->bootstrap[i], values->online_next + row,
                               values->target_next + row, actions);
        q = values->online[row + action];
        error = q - target;
        aq_value_figures_add(&figures, q, error);
        size = fabsf(error);
        batch->priority[i] = size;
        if (size > huber_delta) {
            loss += (double)weight * huber_delta * (size - 0.5 * huber_delta);
            error = copysignf(huber_delta, error);
        } else {
            loss += 0.5 * weight * error * error;
        }
        ret_d_online[row + action] = per_row * weight * error;
    }
    ret_loss->loss = loss / batch->rows;
    ret_loss->values = figures;
    return 0;
}
