/*
 * Policy network: the two networks of an algorithm for continuous actions, as the settings and the
 * task's schema say. Pure; any thread.
 *
 *   policy:  hidden layers of the observation; linear and tanh to one number within +-1 an element
 *            of the action, which actors spread to its bounds (rollout/act.h)
 *   critic:  hidden layers of the observation and the action, within +-1; linear to `outputs`
 */
#ifndef AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_POLICY_NETWORK_H
#define AQ_LEARNER_ALGORITHMS_ACTOR_CRITIC_POLICY_NETWORK_H

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/experience/schema.h"
#include "common/nn/params.h"
#include "common/policy/netspec.h"

/* For observations and actions that are boxes, actions of float32 between finite bounds; otherwise
 * AQ_E_UNSUPPORTED. AQ_E_INVALID for settings that make no network. In words. */
int aq_policy_network_spec(const aq_run_config *config, const aq_schema *schema,
                           const char *algorithm, aq_net_spec *ret_spec,
                           aq_error *error) AQ_MUST_USE;

/* Of a task that has a policy network. */
int aq_critic_network_spec(const aq_run_config *config, const aq_schema *schema, uint32_t outputs,
                           aq_net_spec *ret_spec, aq_error *error) AQ_MUST_USE;

/* After aq_params_randomize: a policy whose first actions are near the middle of their range. */
void aq_policy_network_center(const aq_net_spec *spec, aq_params *params);

#endif
