/*
 * ONNX graph: a model that is put together node by node, and packed when it is whole. Values are
 * named; what a node gives, the next ones take by its name. The first failure sticks, so that who
 * puts many nodes asks once, at the end.
 *
 * Names are lent by the graph. Within a scope they begin with its name: "layer2/product".
 * One owner, no locking.
 */
#ifndef AQ_INTERCHANGE_ONNX_ONNX_GRAPH_H
#define AQ_INTERCHANGE_ONNX_ONNX_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

/* The version of the format and of the operators: what readers of 2020 on know. A norm asks for
 * newer operators. */
enum {
    AQ_ONNX_IR = 7,
    AQ_ONNX_OPSET = 13,
    AQ_ONNX_IR_NORM = 8,
    AQ_ONNX_OPSET_NORM = 17,
};

/* The numbers are ONNX's. */
enum aq_onnx_type {
    AQ_ONNX_FLOAT = 1,
    AQ_ONNX_UINT8 = 2,
    AQ_ONNX_INT8 = 3,
    AQ_ONNX_INT32 = 6,
    AQ_ONNX_INT64 = 7,
    AQ_ONNX_DOUBLE = 11,
};

enum { AQ_ONNX_RANK_MAX = 4, AQ_ONNX_ENDS_MAX = 4, AQ_ONNX_METADATA_MAX = 16 };

typedef struct aq_onnx_graph aq_onnx_graph;

/* A model that takes so many rows at once, or with 0 any number of them. NULL: out of memory. */
aq_onnx_graph *aq_onnx_graph_create(int64_t rows);
void aq_onnx_graph_destroy(aq_onnx_graph *graph);

/* "" for none. */
void aq_onnx_scope(aq_onnx_graph *graph, const char *format, ...) AQ_PRINTF(2, 3);

/* Zeroed room that lives as long as the graph, for a tensor's values. NULL after a failure. */
void *aq_onnx_room(aq_onnx_graph *graph, size_t count, size_t size);

/* A constant; its values, little-endian as those of this machine, live as long as the graph. The
 * dimensions end with a 0, so that there is at least one value; none: a scalar. */
typedef struct aq_onnx_tensor {
    enum aq_onnx_type type;
    int64_t dims[AQ_ONNX_RANK_MAX + 1];
    const void *values;
} aq_onnx_tensor;
const char *aq_onnx_constant(aq_onnx_graph *graph, const char *name, const aq_onnx_tensor *tensor);
const char *aq_onnx_scalar(aq_onnx_graph *graph, const char *name, float value);
const char *aq_onnx_floats(aq_onnx_graph *graph, const char *name, const float *values,
                           size_t count);

/* A node of the operator that takes these values, and gives one with that name, which is returned.
 * The inputs end with NULL; "" is one that is left out. */
#define AQ_ONNX_OF(...)                                                                            \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
const char *aq_onnx_node(aq_onnx_graph *graph, const char *op, const char *name,
                         const char *const *inputs);

/* Of the node that was put last: another value that it gives, and attributes. */
const char *aq_onnx_gives(aq_onnx_graph *graph, const char *name);
void aq_onnx_set_int(aq_onnx_graph *graph, const char *name, int64_t value);
void aq_onnx_set_float(aq_onnx_graph *graph, const char *name, float value);
void aq_onnx_set_ints(aq_onnx_graph *graph, const char *name, const int64_t *values, size_t count);

/* Of a value's second dimension the places from `from` to before `to`. */
const char *aq_onnx_part(aq_onnx_graph *graph, const char *name, const char *x, int64_t from,
                         int64_t to);

/* There is a node of an operator that came with that version of them. */
void aq_onnx_needs(aq_onnx_graph *graph, int64_t opset);

/* What goes into the model, (rows, width), and what comes out. */
typedef struct aq_onnx_end {
    const char *name;
    const char *says; /* for people */
    enum aq_onnx_type type;
    int64_t width; /* 0: one value a row, and no second dimension */
} aq_onnx_end;
void aq_onnx_takes(aq_onnx_graph *graph, const aq_onnx_end *input);
void aq_onnx_ends(aq_onnx_graph *graph, const aq_onnx_end *output);

typedef struct aq_onnx_about {
    const char *name; /* of the graph */
    const char *says;
    int64_t version;
} aq_onnx_about;

/* A fact about the model, for programs. */
void aq_onnx_fact(aq_onnx_graph *graph, const char *key, const char *format, ...) AQ_PRINTF(3, 4);

typedef struct aq_onnx_figures {
    size_t weights_bytes; /* of constants */
    size_t nodes;
    int64_t opset;
    int64_t rows; /* at once; 0: any number */
} aq_onnx_figures;

/* Appends the model to `out`. The first failure of all; AQ_E_TOO_BIG, AQ_E_NOMEM. */
int aq_onnx_pack(aq_onnx_graph *graph, const aq_onnx_about *about, aq_buffer *out,
                 aq_onnx_figures *ret_figures) AQ_MUST_USE;

#endif
