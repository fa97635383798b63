/*
 * TD3: an actor and two critics (Fujimoto et al., 2018). The lesser of their values counts, the
 * next action is judged with some noise on it, and the policy and all target networks take one step
 * for learner.policy_delay of the critics.
 *
 * Here is in what it differs; the rest is actor_critic.c.
 */
#include "learner/algorithms/actor_critic/actor_critic.h"

static const aq_actor_critic_kind kind = {
    .critics = 2,
    .is_delayed = true,
};

const aq_algorithm_class aq_td3_class = {
    .name = "td3",
    .kind = &kind,
    .head_of_numbers = AQ_HEAD_TANH_BOX,
    .metrics = {aq_actor_critic_metrics, AQ_ACTOR_CRITIC_METRICS},
    AQ_ACTOR_CRITIC_MEMBERS,
};
