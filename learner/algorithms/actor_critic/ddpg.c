/*
 * DDPG: an actor and a critic of values (Lillicrap et al., 2016), with n-step returns and Acme's
 * choices, as D4PG has them: it is that without distributions, to compare with.
 *
 * Here is in what it differs; the rest is actor_critic.c.
 */
#include "learner/algorithms/actor_critic/actor_critic.h"

static const aq_actor_critic_kind kind = {
    .critics = 1,
    .improves_at_next = true,
    .clips_action_slope = true,
};

const aq_algorithm_class aq_ddpg_class = {
    .name = "ddpg",
    .kind = &kind,
    .head_of_numbers = AQ_HEAD_TANH_BOX,
    .metrics = {aq_actor_critic_metrics, AQ_ACTOR_CRITIC_METRICS},
    AQ_ACTOR_CRITIC_MEMBERS,
};
