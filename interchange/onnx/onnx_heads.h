/*
 * ONNX heads: what a policy's head makes of its outputs, as ONNX's operators. A head is a row of
 * the table in onnx_heads.c; one that has none is not exported. All give "action", the greedy one;
 * those that draw also give what they draw from:
 *
 *   categorical                    log_probabilities, of each choice
 *   gaussian, gsde                 mean and log_deviation of each element, from -1 to 1 between its
 *                                  bounds
 *   squashed gaussian              the same, before tanh
 *
 * No state; any thread.
 */
#ifndef AQ_INTERCHANGE_ONNX_ONNX_HEADS_H
#define AQ_INTERCHANGE_ONNX_ONNX_HEADS_H

#include "common/policy/snapshot.h"
#include "interchange/onnx/onnx_graph.h"

/* AQ_E_UNSUPPORTED, in words, for a head that ONNX is not given, and for bounds that an action
 * can't be scaled to. */
int aq_onnx_head_check(const aq_snapshot *snapshot, aq_error *error) AQ_MUST_USE;

/* Puts its nodes behind the network's outputs, and what they give as ends of the model. */
void aq_onnx_put_head(aq_onnx_graph *graph, const aq_snapshot *snapshot, const char *outputs);

#endif
