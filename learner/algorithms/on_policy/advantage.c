/*
 * Advantage: see advantage.h. From the last step to the first.
 */
#include "learner/algorithms/on_policy/advantage.h"

static void find_gae(const aq_advantage_steps *steps, float *advantage, float *target)
{
    float behind = 0.0f;
    for (uint32_t t = steps->length; t-- > 0;) {
        const float reward = steps->reward[t] * steps->reward_scale;
        const float error = reward + steps->bootstrap[t] * steps->value[t + 1] - steps->value[t];
        behind = error + steps->bootstrap[t] * steps->lambda * behind;
        advantage[t] = behind;
        target[t] = steps->value[t] + behind;
    }
}

static void find_vtrace(const aq_advantage_steps *steps, float *advantage, float *target)
{
    float next = steps->value[steps->length];
    for (uint32_t t = steps->length; t-- > 0;) {
        const float rho = steps->weight[t] < 1.0f ? steps->weight[t] : 1.0f;
        const float value = steps->value[t], value_next = steps->value[t + 1];
        const float reward = steps->reward[t] * steps->reward_scale;
        const float bootstrap = steps->bootstrap[t];
        advantage[t] = reward + bootstrap * next - value;
        next = value + rho * (reward + bootstrap * value_next - value) +
               bootstrap * steps->lambda * rho * (next - value_next);
        target[t] = next;
    }
}

void aq_advantages_of(const aq_advantage_steps *steps, float *ret_advantage, float *ret_target)
{
    if (steps->weight != NULL) {
        find_vtrace(steps, ret_advantage, ret_target);
    } else {
        find_gae(steps, ret_advantage, ret_target);
    }
}
