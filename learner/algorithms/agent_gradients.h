/*
 * Agents that follow gradients which actors compute (actor.gradients): what is refused. Any thread.
 */
#ifndef AQ_LEARNER_ALGORITHMS_AGENT_GRADIENTS_H
#define AQ_LEARNER_ALGORITHMS_AGENT_GRADIENTS_H

#include "learner/algorithms/algorithm.h"

/* AQ_E_UNSUPPORTED, in words, for an algorithm or settings of which actors compute no gradients;
 * before there is an agent. */
int aq_agent_check_gradients(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                             aq_error *error) AQ_MUST_USE;

#endif
