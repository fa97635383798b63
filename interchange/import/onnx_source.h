/*
 * ONNX source: a graph of others while it is read: which node gives a value, what nodes say, and
 * the constants, which are initializers, the nodes called Constant, and either behind an Identity.
 *
 * Nothing is copied but the numbers of a matrix. No state; any thread.
 */
#ifndef AQ_INTERCHANGE_IMPORT_ONNX_SOURCE_H
#define AQ_INTERCHANGE_IMPORT_ONNX_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "proto/onnx.pb-c.h"

typedef Actorq__V1__OnnxGraph aq_onnx_graph_message;
typedef Actorq__V1__OnnxNode aq_onnx_node_message;

enum { AQ_ONNX_SOURCE_INPUTS_MAX = 8, AQ_ONNX_SOURCE_NAME_BYTES = 64 };

/* A field of text; "" for one that is not there. */
const char *aq_onnx_source_text(const char *text);

/* The node's attribute of that name, or what is meant without it. */
int64_t aq_onnx_source_int(const aq_onnx_node_message *node, const char *name, int64_t otherwise);
float aq_onnx_source_float(const aq_onnx_node_message *node, const char *name, float otherwise);

/* AQ_E_UNSUPPORTED: "operator OP ('name') WHY". */
int aq_onnx_source_fail(aq_error *error, const aq_onnx_node_message *node, const char *why);

/* The node that gives the value, and as which of its outputs; NULL: none. */
const aq_onnx_node_message *aq_onnx_source_giver(const aq_onnx_graph_message *graph,
                                                 const char *value, size_t *ret_output);

bool aq_onnx_source_is_constant(const aq_onnx_graph_message *graph, const char *value);

/* The one input of the node that is there and no constant; NULL: none, or several. */
const char *aq_onnx_source_value_into(const aq_onnx_graph_message *graph,
                                      const aq_onnx_node_message *node);

/* Numbers, which the caller frees, (rows, columns). */
typedef struct aq_onnx_matrix {
    float *values;
    uint32_t rows, columns;
} aq_onnx_matrix;

/* Input `index`, a constant of two dimensions; turned: what the file has as (columns, rows). In
 * words: AQ_E_UNSUPPORTED, AQ_E_CORRUPT, AQ_E_TOO_BIG, AQ_E_NOMEM. */
int aq_onnx_source_matrix(const aq_onnx_graph_message *graph, const aq_onnx_node_message *node,
                          size_t index, bool is_turned, aq_onnx_matrix *ret_matrix,
                          aq_error *error) AQ_MUST_USE;

/* Input `index` as a constant row; absent: none, of no columns. Likewise. */
int aq_onnx_source_row(const aq_onnx_graph_message *graph, const aq_onnx_node_message *node,
                       size_t index, aq_onnx_matrix *ret_row, aq_error *error) AQ_MUST_USE;

#endif
