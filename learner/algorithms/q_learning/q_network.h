/*
 * Q network: the network that a value-based algorithm learns, as the settings and the task's schema
 * say. Pure; any thread.
 *
 *   hidden:   see hidden_layers.h
 *   outputs:  linear to `atoms` numbers an action, 1 for its value; or with learner.dueling to the
 *             state's and the actions' advantages, and a dueling layer that adds them up
 *   noisy:    with learner.noisy the outputs, and hidden layers before them (hidden_layers.h).
 *             Quantiles of an action have one number of noise, so that their mean has it, too
 */
#ifndef AQ_LEARNER_ALGORITHMS_Q_LEARNING_Q_NETWORK_H
#define AQ_LEARNER_ALGORITHMS_Q_LEARNING_Q_NETWORK_H

#include "learner/algorithms/q_learning/value_learner.h"

/* For a task that fits the algorithm (aq_run_rules_check_task). AQ_E_INVALID, in words, for
 * settings that make no network. */
int aq_q_network_spec(const aq_value_kind *kind, const aq_run_config *config,
                      const aq_schema *schema, uint32_t atoms, aq_net_spec *ret_spec,
                      aq_error *error) AQ_MUST_USE;

/* Numbers that are learned of an action. */
uint32_t aq_q_network_width(const aq_value_kind *kind, const aq_run_config *config);

/* What is published of `learned`: it, and of distributions and quantiles what gives their means. */
int aq_q_network_acting(const aq_value_kind *kind, const aq_algorithm_setup *setup,
                        const aq_net_spec *learned, aq_net_spec *ret_spec,
                        aq_error *error) AQ_MUST_USE;

/* Of such a network, the one that gives the means of its atoms, `means`, which is of the same
 * settings with one atom: of rows that became one the means, all else as it is. */
void aq_q_network_fold(const aq_net_spec *spec, const aq_params *from, const aq_net_spec *means,
                       const aq_params *to);

#endif
