/*
 * What actor-critic algorithms tell of themselves.
 */
#include "learner/algorithms/actor_critic/actor_critic_share.h"

#include <math.h>

#define POLICY_METRIC_ROWS                                                                         \
    [AQ_POLICY_LOSS] =                                                                             \
        {"policy_loss", "policy loss", "",                                                         \
         .meaning = "Minus the mean value of the policy's own actions, with what sac counts "      \
                    "for entropy; of iql what its imitation loses; over the last second."},        \
    [AQ_POLICY_GRADIENT_NORM] =                                                                    \
        {"policy_gradient_norm", "policy gradient norm", "",                                       \
         .meaning =                                                                                \
             "Mean norm of the policy's gradient before it is clipped, over the last second.",     \
         .is_logarithmic = true},                                                                  \
    [AQ_POLICY_GRADIENT_CLIPPED] = {"policy_gradient_norm_clipped", "clipped policy norm", "",     \
                                    .meaning = "The same after it was clipped.",                   \
                                    .is_logarithmic = true},                                       \
    [AQ_POLICY_SATURATED] = {                                                                      \
        "actions_saturated", "saturated actions", "",                                              \
        .meaning = "Share of the elements of the policy's own actions that are within "            \
                   "1 % of a bound, over the last second."}

#define SOFT_METRIC_ROWS                                                                           \
    [AQ_SOFT_TEMPERATURE] = {"temperature", "temperature", "",                                     \
                             .meaning =                                                            \
                                 "What a nat of entropy is worth, alpha, over the last second.",   \
                             .is_logarithmic = true},                                              \
    [AQ_SOFT_ENTROPY] = {"policy_entropy", "policy entropy", "nats",                               \
                         .meaning = "Mean entropy of the policy's own actions, over the last "     \
                                    "second; of numbers it is that "                               \
                                    "within +-1, so that the most is 0.69 for each element."}

const aq_metric aq_actor_critic_metrics[AQ_ACTOR_CRITIC_DISTRIBUTION_METRICS] = {
    AQ_VALUE_METRIC_ROWS,
    POLICY_METRIC_ROWS,
    AQ_MASS_METRIC_ROWS(AQ_ACTOR_CRITIC_METRICS),
};

const aq_metric aq_cloning_metrics[AQ_CLONING_METRICS] = {
    AQ_VALUE_METRIC_ROWS,
    POLICY_METRIC_ROWS,
    [AQ_POLICY_DISTANCE] =
        {"policy_distance", "distance from data", "",
         .meaning = "Mean square of what an element of the policy's own action differs by "
                    "from the data's, within +-1, over the last second.",
         .is_logarithmic = true},
};

const aq_metric aq_soft_metrics[AQ_CONSERVATIVE_METRICS] = {
    AQ_VALUE_METRIC_ROWS,
    POLICY_METRIC_ROWS,
    SOFT_METRIC_ROWS,
    [AQ_VALUE_GAP] =
        {"value_gap", "value gap", "",
         .meaning = "Mean value, as a logarithm of a sum of exponentials, of all actions beyond "
                    "that of the data's, over the last second."},
};

const aq_metric aq_soft_distribution_metrics[AQ_SOFT_DISTRIBUTION_METRICS] = {
    AQ_VALUE_METRIC_ROWS,
    POLICY_METRIC_ROWS,
    SOFT_METRIC_ROWS,
    AQ_MASS_METRIC_ROWS(AQ_SOFT_METRICS),
};

static double clipped(const aq_actor_critic_told *told, double norm)
{
    return told->gradient_clip > 0 && norm > told->gradient_clip ? told->gradient_clip : norm;
}

void aq_actor_critic_tell(const aq_actor_critic_told *told, double *metrics)
{
    const aq_actor_critic_setup *setup = told->setup;
    const aq_actor_critic_sums *sums = told->sums;
    const double policy = told->improves_policy ? 1.0 / told->rows : (double)NAN;
    const double bounded = setup->choices > 0 ? (double)NAN : policy;
    const double norm = told->improves_policy ? told->policy_norm : (double)NAN;

    metrics[AQ_VALUE_LOSS] = sums->loss / told->rows;
    metrics[AQ_VALUE_GRADIENT_NORM] = told->critic_norm;
    metrics[AQ_VALUE_GRADIENT_CLIPPED] = clipped(told, told->critic_norm);
    aq_value_figures_tell(&sums->values, metrics);
    metrics[AQ_POLICY_LOSS] = -sums->policy_value * policy;
    metrics[AQ_POLICY_GRADIENT_NORM] = norm;
    metrics[AQ_POLICY_GRADIENT_CLIPPED] = clipped(told, norm);
    metrics[AQ_POLICY_SATURATED] = bounded * (double)sums->saturated / setup->actions;
    if (setup->kind->clones || setup->kind->is_implicit) {
        metrics[AQ_POLICY_DISTANCE] = bounded * sums->distance;
    }
    if (setup->kind->is_soft) {
        metrics[AQ_SOFT_TEMPERATURE] = told->temperature;
        metrics[AQ_SOFT_ENTROPY] = sums->entropy / told->rows;
    }
    if (setup->kind->is_conservative) {
        metrics[AQ_VALUE_GAP] = sums->value_gap / told->rows;
    }
    if (setup->kind->is_distributional) {
        aq_value_figures_tell_mass(
            &sums->values,
            metrics + (setup->kind->is_soft ? AQ_SOFT_METRICS : AQ_ACTOR_CRITIC_METRICS));
    }
}
