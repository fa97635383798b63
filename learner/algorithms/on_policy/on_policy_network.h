/*
 * The networks of algorithms that learn from what their own policy did: a policy that draws, and
 * the values of states. Pure; any thread.
 */
#ifndef AQ_LEARNER_ALGORITHMS_ON_POLICY_ON_POLICY_NETWORK_H
#define AQ_LEARNER_ALGORITHMS_ON_POLICY_ON_POLICY_NETWORK_H

#include "common/base/error.h"
#include "common/base/rng.h"
#include "common/config/run_config.h"
#include "common/experience/schema.h"
#include "common/nn/params.h"
#include "learner/algorithms/algorithm.h"

/* Hidden layers as learner.hidden says; a last layer, and arrays, as the head wants them.
 * AQ_E_INVALID for settings that make no network, AQ_E_UNSUPPORTED for a task that it cannot act
 * in; in words that begin with the algorithm's name. */
int aq_on_policy_policy_spec(const aq_run_config *config, const aq_schema *schema,
                             const aq_algorithm_class *class, aq_net_spec *ret_spec,
                             aq_error *error) AQ_MUST_USE;

/* Hidden layers as learner.critic_hidden says, one value. */
int aq_on_policy_value_spec(const aq_run_config *config, const aq_schema *schema,
                            aq_net_spec *ret_spec, aq_error *error) AQ_MUST_USE;

/* First weights: those of the policy's last layer are small, so that it begins undecided, and the
 * deviations are learner.deviation. */
void aq_on_policy_begin(const aq_run_config *config, const aq_net_spec *spec, aq_params *params,
                        aq_rng *rng);

#endif
