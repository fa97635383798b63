/*
 * D4PG: an actor and a critic that learns the distribution of returns (Barth-Maron et al., 2018),
 * with n-step returns, target networks that are copied now and then, and two choices of Acme's that
 * the paper does not make: the policy is improved at the observation n steps on, and the value's
 * slope along each action is cut to learner.action_gradient_clip.
 *
 * Here is in what it differs; the rest is actor_critic.c.
 */
#include "learner/algorithms/actor_critic/actor_critic.h"

static const aq_actor_critic_kind kind = {
    .critics = 1,
    .is_distributional = true,
    .improves_at_next = true,
    .clips_action_slope = true,
};

const aq_algorithm_class aq_d4pg_class = {
    .name = "d4pg",
    .kind = &kind,
    .head_of_numbers = AQ_HEAD_TANH_BOX,
    .metrics = {aq_actor_critic_metrics, AQ_ACTOR_CRITIC_DISTRIBUTION_METRICS},
    AQ_ACTOR_CRITIC_MEMBERS,
};
