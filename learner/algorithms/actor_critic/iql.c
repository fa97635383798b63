/*
 * IQL: implicit Q-learning (Kostrikov et al., 2022), which judges no action that is not in the
 * data, and whose policy imitates the better ones. For data sets. Actors act greedily and explore
 * as those of d4pg do, or of dqn where actions are choices.
 *
 * Here is in what it differs; the rest is actor_critic_implicit.c and actor_critic.c.
 */
#include "learner/algorithms/actor_critic/actor_critic.h"

static const aq_actor_critic_kind kind = {
    .critics = 2,
    .is_implicit = true,
};

const aq_algorithm_class aq_iql_class = {
    .name = "iql",
    .kind = &kind,
    .head_of_choices = AQ_HEAD_ARGMAX,
    .head_of_numbers = AQ_HEAD_TANH_BOX,
    .metrics = {aq_cloning_metrics, AQ_CLONING_METRICS},
    AQ_ACTOR_CRITIC_MEMBERS,
};
