/*
 * A2C: advantage actor-critic, a step of the policy for each group of sequences.
 *
 * Here is in what it differs; the rest is on_policy.c.
 */
#include "learner/algorithms/on_policy/on_policy.h"

const aq_algorithm_class aq_a2c_class = {
    .name = "a2c",
    .kind = &(const aq_on_policy_kind){.is_one_pass = true},
    .by_gradients = &aq_on_policy_by_gradients,
    AQ_ON_POLICY_MEMBERS,
};
