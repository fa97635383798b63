/*
 * Agents whose networks several ranks share (learner/gradients/model_group.h): what is refused, and
 * what a checkpoint keeps of them, which is the same as of one that has its networks to itself, for
 * which all of this works likewise. One thread at a time.
 */
#ifndef AQ_LEARNER_ALGORITHMS_AGENT_RANKS_H
#define AQ_LEARNER_ALGORITHMS_AGENT_RANKS_H

#include "learner/algorithms/agent.h"

/* AQ_E_UNSUPPORTED, in words, for settings of which ranks cannot share networks; before there is an
 * agent, and when there is nothing that they share. */
int aq_agent_check_model(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                         aq_error *error) AQ_MUST_USE;
int aq_agent_check_shared(aq_agent *agent, aq_error *error) AQ_MUST_USE;

/* The whole policy, into `whole` of the first rank; elsewhere, and where a rank is lost, NULL. */
const aq_params *aq_agent_gather_policy(aq_agent *agent, const aq_params *own, aq_params *whole);

/* The arrays of a checkpoint: names, types and counts; the values are not there. */
void aq_agent_whole(aq_agent *agent, aq_named_arrays *ret_arrays);

/* Copies everything that a checkpoint keeps to such arrays; of ranks that share networks all ask at
 * once, and the first one's are filled. AQ_E_PEER when one is lost. */
int aq_agent_keep(aq_agent *agent, const aq_named_arrays *to) AQ_MUST_USE;

/* The other way, by each rank alone: its slices of such arrays. */
void aq_agent_take(aq_agent *agent, const aq_named_arrays *from);

/* Of every number's bits: the same on all ranks that keep the same. Asked for at once. 0 when one
 * is lost. */
uint64_t aq_agent_hash(aq_agent *agent);

/* Parameters, and those of them that this rank has. */
void aq_agent_count(aq_agent *agent, size_t *ret_all, size_t *ret_own);

#endif
