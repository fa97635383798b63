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

static uint32_t head(const aq_run_config *config, const aq_schema *schema)
{
    (void)config;
    return schema->action.kind == AQ_SPACE_DISCRETE ? AQ_HEAD_ARGMAX : AQ_HEAD_TANH_BOX;
}

const aq_algorithm_class aq_iql_class = {
    .name = "iql",
    .summary = "a policy that imitates the better of the data's actions, for data sets of any",
    .kind = &kind,
    .head = head,
    .metrics = {aq_cloning_metrics, AQ_CLONING_METRICS},
    AQ_ACTOR_CRITIC_MEMBERS,
};
