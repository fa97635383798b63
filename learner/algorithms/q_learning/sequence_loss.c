/*
 * R2D2's loss: a few numbers a step, in double where they are roots.
 */
#include "learner/algorithms/q_learning/sequence_loss.h"

#include <math.h>
#include <string.h>

#include "common/policy/head.h"

#define SLOPE         1e-3 /* of h, far out */
#define GREATEST_PART 0.9  /* of a priority */

float aq_value_rescaled(float value)
{
    const double x = (double)value;
    return (float)(copysign(sqrt(fabs(x) + 1.0) - 1.0, x) + SLOPE * x);
}

float aq_value_restored(float rescaled)
{
    const double y = (double)rescaled;
    const double root = (sqrt(1.0 + 4.0 * SLOPE * (fabs(y) + 1.0 + SLOPE)) - 1.0) / (2.0 * SLOPE);
    return (float)copysign(root * root - 1.0, y);
}

/* What a boundary is worth, as it is bootstrapped from. */
static float value_at(const aq_sequence_rule *rule, const aq_sequence_values *values, uint32_t t)
{
    const size_t row = (size_t)values->row[t] * rule->actions;
    const float value = values->target[row + aq_argmax(values->chooser + row, rule->actions)];
    return rule->is_rescaled ? aq_value_restored(value) : value;
}

static float target_at(const aq_sequence_rule *rule, const aq_sequence_values *values,
                       const float *worth, uint32_t t)
{
    const uint32_t left = values->steps - t;
    const uint32_t end = t + (left < rule->n_step ? left : rule->n_step);
    double sum = (double)worth[end];
    for (uint32_t k = end; k-- > t;) {
        sum = (double)values->reward[k] + (double)values->bootstrap[k] * sum;
    }
    return rule->is_rescaled ? aq_value_rescaled((float)sum) : (float)sum;
}

int aq_sequence_loss_of(const aq_sequence_rule *rule, const aq_sequence_values *values, float share,
                        float *room, float *ret_d_online, float *ret_priority,
                        aq_value_figures *figures, double *ret_loss)
{
    double loss = 0, sum = 0, greatest = 0;
    for (uint32_t t = 0; t <= values->steps; t++) {
        room[t] = value_at(rule, values, t);
    }
    for (uint32_t t = 0; t < values->steps; t++) {
        int32_t action;
        memcpy(&action, values->action + t * sizeof(action), sizeof(action));
        if (action < 0 || (uint32_t)action >= rule->actions) {
            return AQ_E_CORRUPT;
        }
        const size_t at = (size_t)values->row[t] * rule->actions + (uint32_t)action;
        const float q = values->online[at];
        const float error = q - target_at(rule, values, room, t);
        const float size = fabsf(error);
        const float held = size > rule->huber_delta ? rule->huber_delta : size;
        loss += (double)held * ((double)size - 0.5 * (double)held);
        ret_d_online[at] = share * copysignf(held, error);
        sum += (double)size;
        greatest = fmax(greatest, (double)size);
        const float worth = rule->is_rescaled ? aq_value_restored(q) : q;
        aq_value_figures_add(figures, (double)worth, (double)error);
    }
    *ret_priority = (float)(GREATEST_PART * greatest + (1.0 - GREATEST_PART) * sum / values->steps);
    *ret_loss = loss;
    return 0;
}
