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

static uint32_t head(const aq_run_config *config, const aq_schema *schema)
{
    (void)config;
    return schema->action.kind == AQ_SPACE_DISCRETE ? AQ_HEAD_CATEGORICAL : AQ_HEAD_SQUASHED;
}

const aq_algorithm_class aq_sac_class = {
    .name = "sac",
    .summary = "a policy that draws and is paid for its entropy, and two critics, for any actions",
    .kind = &kind,
    .head = head,
    .metrics = {aq_soft_metrics, AQ_SOFT_METRICS},
    AQ_ACTOR_CRITIC_MEMBERS,
};
