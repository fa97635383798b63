/*
 * ONNX export: a policy as an ONNX model, for other runtimes. Every kind of layer and every head
 * that the tables know (onnx_layers.h, onnx_heads.h), in fp32 or with int8 weights.
 *
 *   obs (rows, inputs)     floats, as an actor sees them: bytes of an image divided by 255, images
 *                          flat, (height, width, channels)
 *   action                 the greedy one: (rows) of a choice, (rows, elements) of several at once
 *                          and of numbers
 *   outputs (rows, n)      the network's
 *   and what the policy draws from (onnx_heads.h)
 *
 * Rows are 1 where activations are quantized as they come, and else any number. No state; any
 * thread.
 */
#ifndef AQ_INTERCHANGE_ONNX_ONNX_EXPORT_H
#define AQ_INTERCHANGE_ONNX_ONNX_EXPORT_H

#include "common/policy/snapshot.h"
#include "interchange/onnx/onnx_graph.h"

/* What else is said of the policy, as metadata: a key that begins with "actorq.", and a value.
 * NULL ends them. */
typedef struct aq_onnx_note {
    const char *key, *value;
} aq_onnx_note;

/* Validates the snapshot and appends the model to `out`; on failure `out` is as before. `name` is
 * the graph's: AQ_E_INVALID where it is empty, or is no UTF-8 that can be printed.
 * AQ_E_UNSUPPORTED, in words; what aq_snapshot_validate refuses, AQ_E_TOO_BIG, AQ_E_NOMEM. */
int aq_onnx_export(const aq_snapshot *snapshot, const char *name, const aq_onnx_note *notes,
                   aq_buffer *out, aq_onnx_figures *ret_figures, aq_error *error) AQ_MUST_USE;

#endif
