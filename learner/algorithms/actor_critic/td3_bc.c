/*
 * TD3+BC: td3 whose policy also imitates the data (Fujimoto and Gu, 2021), so that it stays where
 * the critics know what an action is worth. For data sets.
 *
 * Here is in what it differs; the rest is actor_critic.c.
 */
#include "learner/algorithms/actor_critic/actor_critic.h"

static const aq_actor_critic_kind kind = {
    .critics = 2,
    .is_delayed = true,
    .clones = true,
};

const aq_algorithm_class aq_td3_bc_class = {
    .name = "td3_bc",
    .kind = &kind,
    .head_of_numbers = AQ_HEAD_TANH_BOX,
    .metrics = {aq_cloning_metrics, AQ_CLONING_METRICS},
    AQ_ACTOR_CRITIC_MEMBERS,
};
