/*
 * Actor and critic: what d4pg, ddpg, td3, sac, dsac, td3_bc, iql and cql have in common, each of
 * which is a file that says in what it differs. A critic learns what an action is worth, from
 * n-step returns and older copies of the networks; the policy follows the critic's slope along its
 * own actions.
 *
 *   target   y = reward + bootstrap * Q_target(s', policy_target(s'))
 *   critic   how far Q(s, a) is from y, over the batch, each row `weight` times
 *   policy   - mean of Q(x, policy(x)), x being s' or s; its slope along each row's action is cut
 *
 * A soft one draws its actions a, in the target as well, where it is the learned policy that does.
 * Its values are less by temperature * log_prob(a), so that entropy is worth something, and the
 * temperature moves to where the entropy is what it should be:
 *
 *   temperature   log(temperature) * (mean entropy - target entropy)
 *
 * All gradients are of the parameters as they are before the step, and their norms are clipped at
 * learner.gradient_clip. The actors act with the learned policy, not with its older copy.
 *
 * The rows of a batch are shared out among learner.threads threads, which go forward and back on
 * their own; their gradients are then added up in their order.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_H
#define AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_ACTOR_CRITIC_H

#include <stdbool.h>

#include "learner/algorithms/algorithm.h"
#include "learner/algorithms/value_figures.h"

enum { AQ_CRITICS_MAX = 2 };

/* aq_algorithm_class.kind. */
typedef struct aq_actor_critic_kind {
    uint32_t critics;       /* of which the least value counts in the target */
    bool is_distributional; /* one critic, whose values are distributions; else errors squared */
    bool begins_near_zero;  /* ... which are narrow at first; see aq_atoms_begin */
    bool improves_at_next;  /* x is s', as in Acme; else s */
    bool clips_action_slope;
    bool is_delayed; /* learner.policy_delay and learner.target_noise count */
    bool is_soft;    /* its policy draws, of numbers or of choices; it follows the least value */
    /* For data sets; see actor_critic_numbers.c, actor_critic_implicit.c and
     * actor_critic_conservative.c. */
    bool clones, is_implicit, is_conservative;
} aq_actor_critic_kind;

/* Members of the class. */
AQ_ALGORITHM_FUNCTIONS(aq_actor_critic);
void aq_actor_critic_restored(aq_algorithm *algorithm);
aq_slices aq_actor_critic_slices(const aq_algorithm *algorithm, const char *array);

/* What all of them tell, of the (first) critic, then of the policy, and after it what distributions
 * tell besides; or how far the policy is from the data; or what a soft one does, and what a
 * conservative one does besides. */
extern const aq_metric aq_actor_critic_metrics[];
extern const aq_metric aq_cloning_metrics[];
extern const aq_metric aq_soft_metrics[];
extern const aq_metric aq_soft_distribution_metrics[];
enum {
    AQ_POLICY_LOSS = AQ_VALUE_METRICS,
    AQ_POLICY_GRADIENT_NORM,
    AQ_POLICY_GRADIENT_CLIPPED,
    AQ_POLICY_SATURATED,
    AQ_ACTOR_CRITIC_METRICS,
    AQ_ACTOR_CRITIC_DISTRIBUTION_METRICS = AQ_ACTOR_CRITIC_METRICS + AQ_MASS_METRICS,
    AQ_POLICY_DISTANCE = AQ_ACTOR_CRITIC_METRICS,
    AQ_CLONING_METRICS,
    AQ_SOFT_TEMPERATURE = AQ_ACTOR_CRITIC_METRICS,
    AQ_SOFT_ENTROPY,
    AQ_SOFT_METRICS,
    AQ_SOFT_DISTRIBUTION_METRICS = AQ_SOFT_METRICS + AQ_MASS_METRICS,
    AQ_VALUE_GAP = AQ_SOFT_METRICS,
    AQ_CONSERVATIVE_METRICS
};

/* All members that the classes have in common. */
#define AQ_ACTOR_CRITIC_MEMBERS                                                                    \
    .trains_quantized = true, .has_own_threads = true, AQ_ALGORITHM_MEMBERS(aq_actor_critic),      \
    .restored = aq_actor_critic_restored, .slices = aq_actor_critic_slices

#endif
