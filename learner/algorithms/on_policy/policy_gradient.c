/*
 * Policy gradient: see policy_gradient.h.
 */
#include "learner/algorithms/on_policy/policy_gradient.h"

#include <math.h>

#include "common/base/exact_math.h"

/* A ratio beyond exp(20) says only that it is huge. */
#define LOG_RATIO_MAX 20.0

double aq_importance_ratio(double log_old, double log_actor)
{
    return aq_exact_exp(fmax(fmin(log_old - log_actor, LOG_RATIO_MAX), -LOG_RATIO_MAX));
}

double aq_importance_weight(const aq_policy_gradient_rule *rule, double ratio)
{
    switch (rule->correction) {
    case AQ_CORRECTION_CLIPPED:
        return fmin(ratio, rule->cap);
    case AQ_CORRECTION_VTRACE:
        return fmin(ratio, 1.0);
    case AQ_CORRECTION_BYPASS:
        return rule->clip > 0.0 ? 1.0 : ratio;
    default:
        return 1.0;
    }
}

bool aq_importance_is_held(const aq_policy_gradient_rule *rule, double ratio)
{
    const bool holds =
        rule->correction == AQ_CORRECTION_CLIPPED || rule->correction == AQ_CORRECTION_VTRACE;
    return holds && aq_importance_weight(rule, ratio) < ratio;
}

aq_policy_gradient aq_policy_gradient_of(const aq_policy_gradient_rule *rule,
                                         const aq_policy_gradient_step *step)
{
    const double advantage = aq_importance_weight(rule, step->ratio) * step->advantage;
    const double moved = aq_importance_ratio(step->now, step->old);
    if (!(rule->clip > 0.0)) {
        return (aq_policy_gradient){-advantage * step->now, -advantage, moved, false};
    }
    const double ratio = rule->correction == AQ_CORRECTION_BYPASS ? moved * step->ratio : moved;
    const double held = fmax(fmin(ratio, 1.0 + rule->clip), 1.0 - rule->clip);
    if (ratio * advantage <= held * advantage) {
        return (aq_policy_gradient){-ratio * advantage, -ratio * advantage, moved, false};
    }
    return (aq_policy_gradient){-held * advantage, 0.0, moved, true};
}
