/*
 * ONNX layers: what a layer of a policy is as ONNX's operators. A kind of layer is a row of the
 * table in onnx_layers.c; one that has none is not exported.
 *
 * A matrix meets its input in the format that it is stored in:
 *
 *   fp32, fp16, bf16          MatMul of floats (fp16 and bf16 as the floats that they stand for)
 *   int8, dynamic activations DynamicQuantizeLinear, MatMulInteger, and one product of the scales:
 *                             the integers of an actor, of one row at a time, as ONNX's operator
 *                             takes the range of all rows together
 *   int8, static activations  QuantizeLinear and DequantizeLinear around a MatMul, of any number of
 *                             rows; runtimes that have an int8 kernel replace the three by it
 *
 * and Conv and ConvInteger in the same way. No state; any thread.
 */
#ifndef AQ_INTERCHANGE_ONNX_ONNX_LAYERS_H
#define AQ_INTERCHANGE_ONNX_ONNX_LAYERS_H

#include <stdbool.h>

#include "common/policy/snapshot.h"
#include "interchange/onnx/onnx_graph.h"

typedef struct aq_onnx_layer {
    aq_onnx_graph *graph;
    const aq_snapshot *snapshot;
    uint32_t index;
    const char *x[AQ_LAYER_SOURCES_MAX]; /* the values that it takes */
} aq_onnx_layer;

/* AQ_E_UNSUPPORTED, in words, for a kind or a format that ONNX is not given. */
int aq_onnx_layer_check(const aq_snapshot *snapshot, uint32_t index, aq_error *error) AQ_MUST_USE;

/* Whether its input is quantized by the range of the rows that come together. */
bool aq_onnx_layer_is_dynamic(const aq_snapshot_layer *layer);

/* Puts its nodes; the value that the last of them gives, which is `name` where that is not NULL. */
const char *aq_onnx_put_layer(const aq_onnx_layer *layer, const char *name);

#endif
