/*
 * Policy network: the two networks of an algorithm with a policy and a critic, as the settings and
 * the task's schema say. Pure; any thread.
 *
 *   policy:  hidden layers of the observation; linear to what the class's head takes (head.h). That
 *            is, for an element of an action, one number within +-1 by tanh, or the mean and the
 *            logarithm of the deviation of what is drawn; or a logit for each choice
 *   critic:  hidden layers of the observation and of an action of numbers, within +-1; linear to
 *            `outputs`
 *   value:   the critic's hidden layers, of the observation alone; linear to one number
 */
#ifndef AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_POLICY_NETWORK_H
#define AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_POLICY_NETWORK_H

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/experience/schema.h"
#include "common/policy/netspec.h"
#include "learner/algorithms/algorithm.h"

/* For observations that are boxes, and actions that are choices or float32 between finite bounds,
 * as the class takes them; otherwise AQ_E_UNSUPPORTED. AQ_E_INVALID for settings that make no
 * network. In words. */
int aq_policy_network_spec(const aq_run_config *config, const aq_schema *schema,
                           const aq_algorithm_class *class, aq_net_spec *ret_spec,
                           aq_error *error) AQ_MUST_USE;

/* Of a task that has a policy network. */
int aq_critic_network_spec(const aq_run_config *config, const aq_schema *schema, uint32_t outputs,
                           aq_net_spec *ret_spec, aq_error *error) AQ_MUST_USE;

int aq_value_network_spec(const aq_run_config *config, const aq_schema *schema,
                          aq_net_spec *ret_spec, aq_error *error) AQ_MUST_USE;

#endif
