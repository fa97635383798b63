/*
 * On-policy: algorithms that learn from sequences of what their own policy has just done, each
 * once. What they have in common is in on_policy.c, on_policy_group.c and on_policy_update.c: the
 * networks, advantages, the correction for what drew the actions, and steps on minibatches. An
 * algorithm says by its kind in what it differs.
 *
 * An update takes all sequences that one Sample call brought. A version of the policy is due after
 * each (docs/decisions/0029-pacing.md).
 */
#ifndef AQ_LEARNER_ALGORITHMS_ON_POLICY_ON_POLICY_H
#define AQ_LEARNER_ALGORITHMS_ON_POLICY_ON_POLICY_H

#include "learner/algorithms/algorithm.h"

struct aq_on_policy;

typedef struct aq_on_policy_kind {
    bool clips;       /* PPO's objective, by learner.clip */
    bool is_one_pass; /* each step is used once: learner.epochs and learner.minibatches are 1 */
    bool has_whole_returns; /* lambda is 1 */
    bool has_vtrace;        /* whatever learner.correction says */
    /* Improves the policy by all steps at once, before the values are; NULL: by minibatches. */
    int (*improve)(struct aq_on_policy *self);
} aq_on_policy_kind;

/* Members of the class. */
AQ_ALGORITHM_FUNCTIONS(aq_on_policy);

/* Of those whose update is one step: others could compute it. */
extern const aq_algorithm_by_gradients aq_on_policy_by_gradients;

enum {
    AQ_ON_POLICY_LOSS,
    AQ_ON_POLICY_VALUE_LOSS,
    AQ_ON_POLICY_ENTROPY,
    AQ_ON_POLICY_GRADIENT_NORM,
    AQ_ON_POLICY_VALUE_GRADIENT_NORM,
    AQ_ON_POLICY_EXPLAINED,
    AQ_ON_POLICY_STEP_KL,
    AQ_ON_POLICY_OBJECTIVE_CLIPPED,
    AQ_ON_POLICY_ACTOR_K1,
    AQ_ON_POLICY_ACTOR_K3,
    AQ_ON_POLICY_ACTOR_CHI2,
    AQ_ON_POLICY_EFFECTIVE_SHARE,
    AQ_ON_POLICY_WEIGHTS_CLIPPED,
    AQ_ON_POLICY_METRICS
};
extern const aq_metric aq_on_policy_metrics[AQ_ON_POLICY_METRICS];
extern const char *const aq_on_policy_columns[];

/* All that the classes have in common. */
#define AQ_ON_POLICY_MEMBERS                                                                       \
    .needs = {.update = AQ_UPDATES_BY_GROUP, .columns = aq_on_policy_columns},                     \
    .metrics = {aq_on_policy_metrics, AQ_ON_POLICY_METRICS},                                       \
    .head_of_choices = AQ_HEAD_CATEGORICAL, .head_of_numbers = AQ_HEAD_GAUSSIAN,                   \
    AQ_ALGORITHM_MEMBERS(aq_on_policy)

#endif
