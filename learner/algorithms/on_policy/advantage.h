/*
 * Advantage: what the steps of a sequence were worth more than the values expected, and what those
 * values should have been. Pure; any thread.
 *
 * With r the reward, b the discount (0 after a termination), V the values of the observations and
 * rho a step's importance weight:
 *
 *   GAE (Schulman et al., 2016):       d(t) = r + b V(t+1) - V(t)
 *                                      A(t) = d(t) + b lambda A(t+1),  target = V(t) + A(t)
 *   V-trace (Espeholt et al., 2018):   v(t) = V(t) + rho (r + b V(t+1) - V(t))
 *                                             + b lambda rho (v(t+1) - V(t+1))
 *                                      A(t) = r + b v(t+1) - V(t),     target = v(t)
 *
 * with rho held to 1 at most. Behind a sequence's last step nothing is known but the value there: a
 * time limit bootstraps from it, a termination has b = 0.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ON_POLICY_ADVANTAGE_H
#define AQ_LEARNER_ALGORITHMS_ON_POLICY_ADVANTAGE_H

#include <stddef.h>
#include <stdint.h>

typedef struct aq_advantage_steps {
    uint32_t length;        /* at least 1 */
    const float *reward;    /* (length) */
    const float *bootstrap; /* (length) */
    const float *value;     /* (length + 1) */
    const float *weight;    /* (length) importance weights, for V-trace; NULL: GAE */
    float reward_scale;
    float lambda;
} aq_advantage_steps;

void aq_advantages_of(const aq_advantage_steps *steps, float *ret_advantage, float *ret_target);

#endif
