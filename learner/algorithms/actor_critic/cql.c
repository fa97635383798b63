/*
 * CQL: sac whose critics do not overrate what the data does not hold (Kumar et al., 2020). For data
 * sets.
 *
 * Here is in what it differs; the rest is actor_critic_conservative.c and actor_critic.c.
 */
#include "learner/algorithms/actor_critic/actor_critic.h"

static const aq_actor_critic_kind kind = {
    .critics = 2,
    .is_soft = true,
    .is_conservative = true,
};

const aq_algorithm_class aq_cql_class = {
    .name = "cql",
    .kind = &kind,
    .head_of_choices = AQ_HEAD_CATEGORICAL,
    .head_of_numbers = AQ_HEAD_SQUASHED,
    .metrics = {aq_soft_metrics, AQ_CONSERVATIVE_METRICS},
    AQ_ACTOR_CRITIC_MEMBERS,
};
