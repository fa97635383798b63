/*
 * Policy import: a network that others trained, as a policy for a task. What its outputs are is
 * said by who knows; a policy's head follows from that.
 *
 *   choices   values   the greatest is chosen (the default)
 *             logits   the same, and they are what choices are drawn by
 *   a box     tanh     tanh of the outputs is spread between the bounds, as SAC, TD3 and DDPG do
 *                      it; also of a network that ends in tanh itself, which needs no word
 *             actions  the outputs are the action, held between the bounds, as PPO and A2C do it;
 *                      they become means, from -1 to 1, with the file's deviations or the least;
 *                      gaussian.h holds those that are beyond its bounds
 *
 * No state; any thread.
 */
#ifndef AQ_INTERCHANGE_IMPORT_POLICY_IMPORT_H
#define AQ_INTERCHANGE_IMPORT_POLICY_IMPORT_H

#include "common/policy/snapshot.h"
#include "interchange/import/foreign_net.h"

enum aq_import_end {
    AQ_IMPORT_END_FOUND = 0, /* as the task and the network suggest */
    AQ_IMPORT_END_VALUES,
    AQ_IMPORT_END_LOGITS,
    AQ_IMPORT_END_TANH,
    AQ_IMPORT_END_ACTIONS,
};

/* "values" and so on, into an enum aq_import_end. AQ_E_INVALID, in words. */
int aq_import_end_from_text(const char *text, enum aq_import_end *ret_end,
                            aq_error *error) AQ_MUST_USE;

/* Changes `net` into the policy's network, and makes the policy, in fp32, version 1 of no run.
 * AQ_E_SCHEMA where it does not fit the task, AQ_E_INVALID and what aq_quantize refuses; in words.
 * The caller owns the snapshot. */
int aq_policy_import(aq_foreign_net *net, const char *task, const aq_schema *schema,
                     enum aq_import_end end, aq_snapshot **ret_snapshot,
                     aq_error *error) AQ_MUST_USE;

#endif
