/*
 * SAC: a policy that draws its actions and two critics (Haarnoja et al., 2018), for which entropy
 * is worth something, too: as much as keeps it at learner.target_entropy. The lesser of the
 * critics' values counts. Where actions are choices, sums over all of them take the place of draws
 * (Christodoulou, 2019).
 *
 * Here is in what it differs; the rest is actor_critic.c.
 */
#include "learner/algorithms/actor_critic/actor_critic.h"

static const aq_actor_critic_kind kind = {
    .critics = 2,
    .is_soft = true,
};

const aq_algorithm_class aq_sac_class = {
    .name = "sac",
    .kind = &kind,
    .head_of_choices = AQ_HEAD_CATEGORICAL,
    .head_of_numbers = AQ_HEAD_SQUASHED,
    .metrics = {aq_soft_metrics, AQ_SOFT_METRICS},
    AQ_ACTOR_CRITIC_MEMBERS,
};
