/*
 * R2D2's loss of one sequence: from the values at its boundaries to one number and its gradient.
 * Pure; any thread. With v(t) = Q_target(t, argmax_a Q_chooser(t)), and m = n, or as many steps as
 * there are up to the sequence's end,
 *
 *   y(t) = h(sum_{k<m} b(t) ... b(t+k-1) reward(t+k) + b(t) ... b(t+m-1) h^-1(v(t+m)))
 *   loss = sum_t huber(Q_online(t, action(t)) - y(t));  huber is q_loss.h's
 *   h(x) = sign(x) (sqrt(|x| + 1) - 1) + 0.001 x, or x where nothing is rescaled
 *
 * y counts as a constant. With e(t) what huber is taken of, the sequence's priority is
 * 0.9 max |e(t)| + 0.1 mean |e(t)| (Kapturowski et al., 2019).
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_SEQUENCE_LOSS_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_SEQUENCE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "learner/algorithms/value_figures.h"

typedef struct aq_sequence_rule {
    uint32_t actions, n_step;
    bool is_rescaled;
    float huber_delta;
} aq_sequence_rule;

/* Of a sequence of `steps` steps, at least one. */
typedef struct aq_sequence_values {
    uint32_t steps;
    const uint32_t *row; /* (steps + 1): where a boundary's values are, of each below */
    const float *online, *chooser, *target; /* (rows, actions) */
    const uint8_t *action;                  /* (steps) of int32_t */
    const float *reward, *bootstrap;        /* (steps) */
} aq_sequence_values;

/* Writes share * d loss / d online at the values of the actions that were taken, and what the
 * sequence's priority is; adds to the figures. *ret_loss may be NaN or infinite. AQ_E_CORRUPT for
 * an action that is not one of `actions`. `room` is of steps + 1. */
int aq_sequence_loss_of(const aq_sequence_rule *rule, const aq_sequence_values *values, float share,
                        float *room, float *ret_d_online, float *ret_priority,
                        aq_value_figures *figures, double *ret_loss) AQ_MUST_USE;

/* h and the inverse of it. */
float aq_value_rescaled(float value);
float aq_value_restored(float rescaled);

#endif
