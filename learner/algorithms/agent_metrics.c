/*
 * Agent metrics: what is told of any algorithm's training.
 */
#include "learner/algorithms/agent.h"

const aq_metric aq_agent_metric_rows[AQ_AGENT_METRICS] = {
    [AQ_AGENT_REWARD_SIZE] =
        {"reward_size", "size of rewards", "",
         .meaning = "Mean size of what the rows trained on were rewarded with, over as "
                    "many steps as they span, in the last second."},
    [AQ_AGENT_REWARDED] = {"rewarded_share", "rows with a reward", "",
                           .meaning =
                               "Share of the rows trained on, of as many steps as they span, whose "
                               "reward is not 0, over the last second."},
    [AQ_AGENT_ENDED] =
        {"ended_share", "rows with an end", "",
         .meaning = "Share of the rows trained on, of sequences of their steps, in which an "
                    "episode ended otherwise than at its step limit, over the last second; none "
                    "with a learner.discount of 0, which shows no ends."},
    [AQ_AGENT_VALUE_FLOOR] =
        {"value_floor", "least possible value", "",
         .meaning = "What the least reward of the rows trained on would be worth if it "
                    "came for ever, in the last second; none with a learner.discount of 1.",
         .fold = AQ_METRIC_MIN},
    [AQ_AGENT_VALUE_CEILING] =
        {"value_ceiling", "most possible value", "",
         .meaning = "What the greatest reward of the rows trained on would be worth if "
                    "it came for ever, in the last second; none with a learner.discount of 1.",
         .fold = AQ_METRIC_MAX},
    [AQ_AGENT_EXPLORATION] = {"exploration_entropy", "entropy of exploration", "nats",
                              .meaning =
                                  "Mean entropy of how actors act around the greedy action, as "
                                  "actor.epsilon_base and actor.noise are set.",
                              .fold = AQ_METRIC_LAST},
    [AQ_AGENT_AUDITED] =
        {"audited_rows", "audited rows", "rows",
         .meaning = "Rows since the start whose log-probability the learner has computed again.",
         .fold = AQ_METRIC_LAST},
    [AQ_AGENT_AUDIT_DIFFERENT] =
        {"audit_different", "rows that differ", "rows",
         .meaning = "Of audited_rows, those for which something else came out than the actor said.",
         .fold = AQ_METRIC_LAST},
    [AQ_AGENT_LEVELS_CHANGED] =
        {"levels_changed", "changed weights", "",
         .meaning = "Share of the stored bytes of quantized weights that differ from "
                    "the version before, over the last second."},
    [AQ_AGENT_RANKS] = {"ranks", "ranks", "",
                        .meaning = "Ranks of the learner, if there are several.",
                        .fold = AQ_METRIC_LAST},
    [AQ_AGENT_EXCHANGE_BYTES] =
        {"exchange_bytes", "gradients sent", "bytes",
         .meaning =
             "Bytes that each rank sends the others in a gradient step, mean of the last second."},
    [AQ_AGENT_EXCHANGE_MS] =
        {"exchange_ms", "time of the exchange", "ms",
         .meaning = "What exchanges with the other ranks take of a gradient step, waiting for "
                    "them included, mean of the last second."},
    [AQ_AGENT_NOISE_SCALE] = {"noise_scale", "noise of the gradient", "rows",
                              .meaning =
                                  "Rows from which on a larger batch gains less: the gradient's "
                                  "variance by row over its size, each squared; of the last looks.",
                              .fold = AQ_METRIC_LAST, .is_logarithmic = true},
    [AQ_AGENT_GRADIENT_COSINE] =
        {"gradient_cosine", "gradients alike", "",
         .meaning = "Cosine of a gradient with the mean of the 15 beside it, of the last looks.",
         .fold = AQ_METRIC_LAST},
    [AQ_AGENT_GRADIENTS_DAMPED] = {"gradients_damped", "damped gradients", "gradients",
                                   .meaning = "Gradients of actors since the start that counted "
                                              "less, as learner.lag_damping wants it.",
                                   .fold = AQ_METRIC_LAST},
    [AQ_AGENT_GRADIENTS_DROPPED] =
        {"gradients_dropped", "dropped gradients", "gradients",
         .meaning = "Gradients of actors since the start that were older than learner.lag_max.",
         .fold = AQ_METRIC_LAST},
    [AQ_AGENT_GRADIENTS_REFUSED] = {"gradients_refused", "refused gradients", "gradients",
                                    .meaning =
                                        "Gradients of actors since the start that cannot be: not "
                                        "finite, or of a version that there is not.",
                                    .fold = AQ_METRIC_LAST},
};
