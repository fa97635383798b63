/*
 * REINFORCE (Williams, 1992) with the values of states as its baseline: returns are whole, up to
 * the end of each sequence.
 *
 * Here is in what it differs; the rest is on_policy.c.
 */
#include "learner/algorithms/on_policy/on_policy.h"

const aq_algorithm_class aq_reinforce_class = {
    .name = "reinforce",
    .kind = &(const aq_on_policy_kind){.is_one_pass = true, .has_whole_returns = true},
    .by_gradients = &aq_on_policy_by_gradients,
    AQ_ON_POLICY_MEMBERS,
};
