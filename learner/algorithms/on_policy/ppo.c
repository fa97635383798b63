/*
 * PPO: proximal policy optimization (Schulman et al., 2017), on choices and on numbers.
 *
 * Here is in what it differs; the rest is on_policy.c.
 */
#include "learner/algorithms/on_policy/on_policy.h"

const aq_algorithm_class aq_ppo_class = {
    .name = "ppo",
    .kind = &(const aq_on_policy_kind){.clips = true},
    AQ_ON_POLICY_MEMBERS,
};
