/*
 * DSAC: sac with the critic of d4pg, which learns the distribution of returns, entropy and all,
 * over atoms (Bellemare et al., 2017). Its policy draws, and follows the mean (Haarnoja et al.,
 * 2018). Errors squared have gradients as large as the rewards are; cross entropy has not (SimBaV2,
 * Lee et al., 2025).
 *
 * Here is in what it differs; the rest is actor_critic.c.
 */
#include "learner/algorithms/actor_critic/actor_critic.h"

static const aq_actor_critic_kind kind = {
    .critics = 1,
    .is_distributional = true,
    .begins_near_zero = true,
    .is_soft = true,
};

const aq_algorithm_class aq_dsac_class = {
    .name = "dsac",
    .kind = &kind,
    .head_of_numbers = AQ_HEAD_SQUASHED,
    .metrics = {aq_soft_distribution_metrics, AQ_SOFT_DISTRIBUTION_METRICS},
    AQ_ACTOR_CRITIC_MEMBERS,
};
