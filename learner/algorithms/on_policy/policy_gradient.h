/*
 * Policy gradient: the loss of one step by the log-probability that the policy gives its action
 * now, and its slope. Pure; any thread.
 *
 * Three policies have given the action a probability: `actor`, quantized and maybe older, which
 * drew it; `old`, the learner's when the update began; `now`, which is being changed. The
 * correction says how the first two are told apart (docs/stochastic-policies.md):
 *
 *   none     w = 1,                    r = now / old
 *   clipped  w = min(old / actor, C),  r = now / old      truncated importance sampling, decoupled
 *   bypass   w = 1,                    r = now / actor
 *   vtrace   w = min(old / actor, 1),  r = now / old
 *
 *   clipped objective (PPO):  -w min(r A, clip(r, 1 - e, 1 + e) A)
 *   otherwise:                -w A log now
 *
 * where without clipping bypass means w = old / actor.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ON_POLICY_POLICY_GRADIENT_H
#define AQ_LEARNER_ALGORITHMS_ON_POLICY_POLICY_GRADIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/run_config.h"

typedef struct aq_policy_gradient_rule {
    uint32_t correction; /* enum aq_correction */
    double cap;          /* C */
    double clip;         /* e; 0: the objective is not clipped */
} aq_policy_gradient_rule;

typedef struct aq_policy_gradient_step {
    double ratio;    /* old / actor */
    double old, now; /* logarithms */
    double advantage;
} aq_policy_gradient_step;

typedef struct aq_policy_gradient {
    double loss;
    double slope; /* by log now */
    double moved; /* now / old */
    bool is_clipped;
} aq_policy_gradient;

/* old / actor, bounded so that it is finite whatever they are. */
double aq_importance_ratio(double log_old, double log_actor);

/* w */
double aq_importance_weight(const aq_policy_gradient_rule *rule, double ratio);

/* Whether w is less than the ratio because the correction allows no more. */
bool aq_importance_is_held(const aq_policy_gradient_rule *rule, double ratio);

aq_policy_gradient aq_policy_gradient_of(const aq_policy_gradient_rule *rule,
                                         const aq_policy_gradient_step *step);

#endif
