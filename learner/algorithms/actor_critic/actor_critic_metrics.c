/*
 * What actor-critic algorithms tell of themselves.
 */
#include "learner/algorithms/actor_critic/actor_critic.h"

#define POLICY_METRIC_ROWS                                                                         \
    [AQ_POLICY_LOSS] = {.name = "policy_loss",                                                     \
                        .title = "policy loss",                                                    \
                        .unit = "",                                                                \
                        .meaning = "Minus the mean value of the policy's own actions, with "       \
                                   "what sac counts for entropy, over the last second."},          \
    [AQ_POLICY_GRADIENT_NORM] = {.name = "policy_gradient_norm",                                   \
                                 .title = "policy gradient norm",                                  \
                                 .unit = "",                                                       \
                                 .meaning = "Mean norm of the policy's gradient before it is "     \
                                            "clipped, over the last second.",                      \
                                 .is_logarithmic = true},                                          \
    [AQ_POLICY_GRADIENT_CLIPPED] = {.name = "policy_gradient_norm_clipped",                        \
                                    .title = "clipped policy norm",                                \
                                    .unit = "",                                                    \
                                    .meaning = "The same after it was clipped.",                   \
                                    .is_logarithmic = true},                                       \
    [AQ_POLICY_SATURATED] = {.name = "actions_saturated",                                          \
                             .title = "saturated actions",                                         \
                             .unit = "",                                                           \
                             .meaning = "Share of the elements of the policy's own actions that "  \
                                        "are within 1 % of a bound, over the last second."}

const aq_metric aq_actor_critic_metrics[AQ_ACTOR_CRITIC_DISTRIBUTION_METRICS] = {
    AQ_VALUE_METRIC_ROWS,
    POLICY_METRIC_ROWS,
    AQ_MASS_METRIC_ROWS(AQ_ACTOR_CRITIC_METRICS),
};

const aq_metric aq_soft_metrics[AQ_SOFT_METRICS] = {
    AQ_VALUE_METRIC_ROWS,
    POLICY_METRIC_ROWS,
    [AQ_SOFT_TEMPERATURE] = {.name = "temperature",
                             .title = "temperature",
                             .unit = "",
                             .meaning = "What a nat of entropy is worth, alpha, over the last "
                                        "second.",
                             .is_logarithmic = true},
    [AQ_SOFT_ENTROPY] = {.name = "policy_entropy",
                         .title = "policy entropy",
                         .unit = "nats",
                         .meaning = "Mean entropy of the policy's own actions, over the last "
                                    "second; of numbers it is that within +-1, so that the most "
                                    "is 0.69 for each element."},
};
