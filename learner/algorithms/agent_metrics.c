/*
 * Agent metrics: what is told of any algorithm's training.
 */
#include "learner/algorithms/agent.h"

const aq_metric aq_agent_metric_rows[AQ_AGENT_METRICS] = {
    [AQ_AGENT_REWARD_SIZE] = {.name = "reward_size",
                              .title = "size of rewards",
                              .unit = "",
                              .meaning = "Mean size of what the rows trained on were rewarded "
                                         "with, over as many steps as they span, in the last "
                                         "second."},
    [AQ_AGENT_REWARDED] = {.name = "rewarded_share",
                           .title = "rows with a reward",
                           .unit = "",
                           .meaning =
                               "Share of the rows trained on, of as many steps as they span, "
                               "whose reward is not 0, over the last second."},
    [AQ_AGENT_ENDED] = {.name = "ended_share",
                        .title = "rows with an end",
                        .unit = "",
                        .meaning = "Share of the rows trained on in which an episode ended "
                                   "otherwise than at its step limit, over the last second."},
    [AQ_AGENT_VALUE_FLOOR] = {.name = "value_floor",
                              .title = "least possible value",
                              .unit = "",
                              .meaning = "What the least reward of the rows trained on would be "
                                         "worth if it came for ever, in the last second.",
                              .fold = AQ_METRIC_MIN},
    [AQ_AGENT_VALUE_CEILING] = {.name = "value_ceiling",
                                .title = "most possible value",
                                .unit = "",
                                .meaning = "What the greatest reward of the rows trained on would "
                                           "be worth if it came for ever, in the last second.",
                                .fold = AQ_METRIC_MAX},
    [AQ_AGENT_EXPLORATION] = {.name = "exploration_entropy",
                              .title = "entropy of exploration",
                              .unit = "nats",
                              .meaning = "Mean entropy of how actors act around the greedy action, "
                                         "as actor.epsilon_base and actor.noise are set.",
                              .fold = AQ_METRIC_LAST},
    [AQ_AGENT_AUDITED] = {.name = "audited_rows",
                          .title = "audited rows",
                          .unit = "rows",
                          .meaning = "Rows since the start whose log-probability the learner has "
                                     "computed again.",
                          .fold = AQ_METRIC_LAST},
    [AQ_AGENT_AUDIT_DIFFERENT] = {.name = "audit_different",
                                  .title = "rows that differ",
                                  .unit = "rows",
                                  .meaning = "Of audited_rows, those for which something else came "
                                             "out than the actor said.",
                                  .fold = AQ_METRIC_LAST},
    [AQ_AGENT_LEVELS_CHANGED] = {.name = "levels_changed",
                                 .title = "changed weights",
                                 .unit = "",
                                 .meaning = "Share of the stored bytes of quantized weights that "
                                            "differ from the version before, over the last "
                                            "second."},
    [AQ_AGENT_RANKS] = {.name = "ranks",
                        .title = "ranks",
                        .unit = "",
                        .meaning = "Ranks of the learner, if there are several.",
                        .fold = AQ_METRIC_LAST},
    [AQ_AGENT_EXCHANGE_BYTES] = {.name = "exchange_bytes",
                                 .title = "gradients sent",
                                 .unit = "bytes",
                                 .meaning = "Bytes that each rank sends the others in an update, "
                                            "mean of the last second."},
    [AQ_AGENT_EXCHANGE_MS] = {.name = "exchange_ms",
                              .title = "time of the exchange",
                              .unit = "ms",
                              .meaning = "What exchanges with the other ranks take of an update, "
                                         "waiting for them included, mean of the last second."},
    [AQ_AGENT_NOISE_SCALE] = {.name = "noise_scale",
                              .title = "noise of the gradient",
                              .unit = "rows",
                              .meaning = "Rows from which on a larger batch gains less: the "
                                         "gradient's variance by row over its size, each squared; "
                                         "of the last looks.",
                              .fold = AQ_METRIC_LAST,
                              .is_logarithmic = true},
    [AQ_AGENT_GRADIENT_COSINE] = {.name = "gradient_cosine",
                                  .title = "gradients alike",
                                  .unit = "",
                                  .meaning = "Cosine of a gradient with the mean of the 15 beside "
                                             "it, of the last looks.",
                                  .fold = AQ_METRIC_LAST},
    [AQ_AGENT_GRADIENTS_DAMPED] = {.name = "gradients_damped",
                                   .title = "damped gradients",
                                   .unit = "gradients",
                                   .meaning = "Gradients of actors since the start that counted "
                                              "less, as learner.lag_damping wants it.",
                                   .fold = AQ_METRIC_LAST},
    [AQ_AGENT_GRADIENTS_DROPPED] = {.name = "gradients_dropped",
                                    .title = "dropped gradients",
                                    .unit = "gradients",
                                    .meaning = "Gradients of actors since the start that were "
                                               "older than learner.lag_max.",
                                    .fold = AQ_METRIC_LAST},
    [AQ_AGENT_GRADIENTS_REFUSED] = {.name = "gradients_refused",
                                    .title = "refused gradients",
                                    .unit = "gradients",
                                    .meaning = "Gradients of actors since the start that cannot "
                                               "be: not finite, or of a version that there is not.",
                                    .fold = AQ_METRIC_LAST},
};
