/*
 * IMPALA (Espeholt et al., 2018): a policy gradient corrected by V-trace for actors that are some
 * versions behind.
 *
 * Here is in what it differs; the rest is on_policy.c.
 */
#include "learner/algorithms/on_policy/on_policy.h"

const aq_algorithm_class aq_impala_class = {
    .name = "impala",
    .kind = &(const aq_on_policy_kind){.is_one_pass = true, .has_vtrace = true},
    .by_gradients = &aq_on_policy_by_gradients,
    AQ_ON_POLICY_MEMBERS,
};
