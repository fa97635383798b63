/*
 * Q network: the network that a value-based algorithm learns, as the settings and the task's schema
 * say. Pure; any thread.
 *
 *   hidden:   see hidden_layers.h
 *   outputs:  linear to `atoms` numbers an action, 1 for its value; or with learner.dueling to the
 *             state's and the actions' advantages, and a dueling layer that adds them up
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_Q_NETWORK_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_Q_NETWORK_H

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/experience/schema.h"
#include "common/policy/netspec.h"

/* For a task that fits the algorithm (aq_run_config_check_task). AQ_E_INVALID, in words, for
 * settings that make no network. */
int aq_q_network_spec(const aq_run_config *config, const aq_schema *schema, uint32_t atoms,
                      aq_net_spec *ret_spec, aq_error *error) AQ_MUST_USE;

#endif
