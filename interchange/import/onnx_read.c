/*
 * ONNX read: see onnx_read.h. The chain is found from its end, since a node is known by the value
 * that it gives, and then walked from its beginning.
 */
#include "interchange/import/onnx_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/plain_text.h"
#include "common/net/rpc/rpc_envelope.h"
#include "interchange/import/onnx_source.h"
#include "interchange/onnx/onnx_graph.h"

enum { CHAIN_MAX = 8 * AQ_NET_LAYERS_MAX, THINGS_MAX = 4096 };

/* ---- operators ------------------------------------------------------------------------------ */

typedef struct reading {
    const aq_onnx_graph_message *graph;
    aq_foreign_net *net;
    aq_error *error;
} reading;

typedef int read_fn(const reading *own, const aq_onnx_node_message *node);

/* x W + b, the matrix of input 1 as it lies or turned. */
static int read_product(const reading *own, const aq_onnx_node_message *node, bool is_turned)
{
    aq_onnx_matrix weight = {0}, bias = {0};
    int rc = aq_onnx_source_matrix(own->graph, node, 1, is_turned, &weight, own->error);
    rc = rc != 0 ? rc : aq_onnx_source_row(own->graph, node, 2, &bias, own->error);
    if (rc == 0 && bias.values != NULL && bias.columns != weight.rows) {
        rc = aq_onnx_source_fail(own->error, node, "adds a bias of another width");
    }
    rc = rc != 0 ? rc
                 : aq_foreign_linear(own->net, weight.values, bias.values, weight.rows,
                                     weight.columns, own->error);
    aq_free(weight.values);
    aq_free(bias.values);
    return rc;
}

static int read_matmul(const reading *own, const aq_onnx_node_message *node)
{
    return read_product(own, node, true);
}

static int read_gemm(const reading *own, const aq_onnx_node_message *node)
{
    if (aq_onnx_source_int(node, "transA", 0) != 0 ||
        aq_onnx_source_float(node, "alpha", 1.0f) != 1.0f ||
        aq_onnx_source_float(node, "beta", 1.0f) != 1.0f) {
        return aq_onnx_source_fail(own->error, node, "is known without transA, alpha and beta");
    }
    return read_product(own, node, aq_onnx_source_int(node, "transB", 0) == 0);
}

static int read_norm(const reading *own, const aq_onnx_node_message *node)
{
    aq_onnx_matrix gain = {0}, bias = {0};
    const int64_t axis = aq_onnx_source_int(node, "axis", -1);
    if ((axis != -1 && axis != 1) ||
        fabsf(aq_onnx_source_float(node, "epsilon", AQ_NORM_EPSILON) - AQ_NORM_EPSILON) > 1e-8f) {
        return aq_onnx_source_fail(own->error, node,
                                   "is known over the last axis, with an epsilon of 0.00001");
    }
    int rc = aq_onnx_source_row(own->graph, node, 1, &gain, own->error);
    rc = rc != 0 ? rc : aq_onnx_source_row(own->graph, node, 2, &bias, own->error);
    if (rc == 0 && (gain.values == NULL || (bias.values != NULL && bias.columns != gain.columns))) {
        rc = aq_onnx_source_fail(own->error, node, "has gains and biases of different widths");
    }
    rc = rc != 0 ? rc
                 : aq_foreign_norm(own->net, gain.values, bias.values, gain.columns, own->error);
    aq_free(gain.values);
    aq_free(bias.values);
    return rc;
}

/* Add, Sub, Mul, Div: of a value and a constant, on either side where that is the same. */
static int read_scale(const reading *own, const aq_onnx_node_message *node)
{
    const char *op = node->op_type;
    const bool is_shift = op[0] == 'A' || op[0] == 'S'; /* of those four */
    const bool turns = op[0] == 'S' || op[0] == 'D';
    const size_t side =
        node->n_input == 2 && !aq_onnx_source_is_constant(own->graph, node->input[1]) ? 0 : 1;
    aq_onnx_matrix row = {0};
    if (node->n_input != 2 || (turns && side == 0)) {
        return aq_onnx_source_fail(own->error, node, "is known of a value by a constant");
    }
    int rc = aq_onnx_source_row(own->graph, node, side, &row, own->error);
    for (uint32_t i = 0; rc == 0 && turns && i < row.columns; i++) {
        row.values[i] = is_shift ? -row.values[i] : 1.0f / row.values[i];
    }
    rc = rc != 0 ? rc
                 : aq_foreign_scale(own->net, is_shift ? NULL : row.values,
                                    is_shift ? row.values : NULL, row.columns, own->error);
    aq_free(row.values);
    return rc;
}

static int read_relu(const reading *own, const aq_onnx_node_message *node)
{
    (void)node;
    return aq_foreign_activate(own->net, AQ_ACTIVATION_RELU, own->error);
}

static int read_tanh(const reading *own, const aq_onnx_node_message *node)
{
    (void)node;
    return aq_foreign_activate(own->net, AQ_ACTIVATION_TANH, own->error);
}

static int read_elu(const reading *own, const aq_onnx_node_message *node)
{
    return aq_onnx_source_float(node, "alpha", 1.0f) == 1.0f
               ? aq_foreign_activate(own->net, AQ_ACTIVATION_ELU, own->error)
               : aq_onnx_source_fail(own->error, node, "is known with an alpha of 1");
}

/* Of rows of values it changes nothing. */
static int read_nothing(const reading *own, const aq_onnx_node_message *node)
{
    (void)own;
    (void)node;
    return 0;
}

static int read_flatten(const reading *own, const aq_onnx_node_message *node)
{
    return aq_onnx_source_int(node, "axis", 1) == 1
               ? 0
               : aq_onnx_source_fail(own->error, node, "is known of axis 1");
}

/* Of floats, of which observations are made: nothing that a float would not hold is lost. */
static int read_cast(const reading *own, const aq_onnx_node_message *node)
{
    const int64_t to = aq_onnx_source_int(node, "to", 0);
    return to == AQ_ONNX_FLOAT || to == AQ_ONNX_DOUBLE
               ? 0
               : aq_onnx_source_fail(own->error, node, "is known to float (1) and double (11)");
}

/* A bound of Clip, in an input since opset 11, before in an attribute. */
static int read_bound(const reading *own, const aq_onnx_node_message *node, size_t index,
                      const char *name, float otherwise, float *ret_bound)
{
    aq_onnx_matrix row = {0};
    int rc = aq_onnx_source_row(own->graph, node, index, &row, own->error);
    if (rc == 0 && row.columns > 1) {
        rc = aq_onnx_source_fail(own->error, node, "is known with one bound for all values");
    }
    if (rc == 0) {
        *ret_bound = row.columns == 1 ? row.values[0] : aq_onnx_source_float(node, name, otherwise);
    }
    aq_free(row.values);
    return rc;
}

static int read_clip(const reading *own, const aq_onnx_node_message *node)
{
    float low, high;
    int rc = read_bound(own, node, 1, "min", -INFINITY, &low);
    rc = rc != 0 ? rc : read_bound(own, node, 2, "max", INFINITY, &high);
    if (rc != 0) {
        return rc;
    }
    return low == 0.0f && high == INFINITY
               ? aq_foreign_activate(own->net, AQ_ACTIVATION_RELU, own->error)
               : aq_foreign_clip(own->net, low, high, own->error);
}

static int read_softmax(const reading *own, const aq_onnx_node_message *node)
{
    const int64_t axis = aq_onnx_source_int(node, "axis", -1);
    return axis == -1 || axis == 1
               ? aq_foreign_end(own->net, AQ_FOREIGN_SHARES, own->error)
               : aq_onnx_source_fail(own->error, node, "is known over the last axis");
}

static int read_argmax(const reading *own, const aq_onnx_node_message *node)
{
    const int64_t axis = aq_onnx_source_int(node, "axis", 0);
    return (axis == -1 || axis == 1) && aq_onnx_source_int(node, "select_last_index", 0) == 0
               ? aq_foreign_end(own->net, AQ_FOREIGN_CHOICE, own->error)
               : aq_onnx_source_fail(own->error, node,
                                     "is known over the last axis, of equals the first");
}

static int read_node(const reading *own, const aq_onnx_node_message *node)
{
    static const struct {
        const char *op;
        read_fn *read;
    } rows[] = {
        {"Add", read_scale},
        {"ArgMax", read_argmax},
        {"Cast", read_cast},
        {"Clip", read_clip},
        {"Div", read_scale},
        {"Dropout", read_nothing},
        {"Elu", read_elu},
        {"Flatten", read_flatten},
        {"Gemm", read_gemm},
        {"Identity", read_nothing},
        {"LayerNormalization", read_norm},
        {"LogSoftmax", read_softmax},
        {"MatMul", read_matmul},
        {"Mul", read_scale},
        {"Relu", read_relu},
        {"Softmax", read_softmax},
        {"Sub", read_scale},
        {"Tanh", read_tanh},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(aq_onnx_source_text(node->op_type), rows[i].op) == 0 &&
            aq_onnx_source_text(node->domain)[0] == '\0') {
            return rows[i].read(own, node);
        }
    }
    return aq_onnx_source_fail(
        own->error, node,
        "is not known; Gemm, MatMul, Add, Sub, Mul, Div, Relu, Tanh, Elu, "
        "LayerNormalization, Flatten, Dropout, Identity and Cast are, and at the end "
        "Clip, Softmax, LogSoftmax and ArgMax");
}

/* ---- the chain ------------------------------------------------------------------------------ */

/* Operators by which activations and norms are known that were taken apart. */
static const struct {
    const char *op, *of;
} parts[] = {
    {"Sigmoid", "SiLU or a gate"},
    {"Erf", "GELU"},
    {"Softplus", "Mish"},
    {"ReduceMean", "a norm in pieces (of a layer norm, opset 17 and later make one operator)"},
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]), PART_DEPTH = 3 };

/* Which part gave a value, some operators before; PARTS: none. */
static size_t find_part(const aq_onnx_graph_message *graph, const char *value, int depth)
{
    size_t output, part = 0;
    const aq_onnx_node_message *giver = aq_onnx_source_giver(graph, value, &output);
    if (giver == NULL) {
        return PARTS;
    }
    while (part < PARTS && strcmp(aq_onnx_source_text(giver->op_type), parts[part].op) != 0) {
        part++;
    }
    for (size_t i = 0; part == PARTS && depth > 1 && i < giver->n_input && i < 2; i++) {
        part = find_part(graph, giver->input[i], depth - 1);
    }
    return part;
}

static int fail_meeting(const aq_onnx_graph_message *graph, const aq_onnx_node_message *node,
                        aq_error *error)
{
    char words[160];
    size_t part = PARTS;
    for (size_t i = 0; part == PARTS && i < node->n_input && i < 2; i++) {
        part = find_part(graph, node->input[i], PART_DEPTH);
    }
    if (part == PARTS) {
        return aq_onnx_source_fail(error, node,
                                   "takes several values, or none; a chain from observation to "
                                   "action is known");
    }
    (void)snprintf(words, sizeof(words),
                   "takes several values, one of them through %s, as in %s, which is not known",
                   parts[part].op, parts[part].of);
    return aq_onnx_source_fail(error, node, words);
}

/* That the chain begins at an input of the model, and with observations as they are here. */
static int check_beginning(const aq_onnx_graph_message *graph, const char *value, aq_error *error)
{
    char name[AQ_ONNX_SOURCE_NAME_BYTES];
    for (size_t i = 0; i < graph->n_input; i++) {
        const Actorq__V1__OnnxValueInfo *input = graph->input[i];
        if (strcmp(aq_onnx_source_text(input->name), value) != 0 ||
            aq_onnx_source_is_constant(graph, value)) {
            continue;
        }
        const Actorq__V1__OnnxTensorType *type =
            input->type != NULL ? input->type->tensor_type : NULL;
        const int32_t element = type != NULL && type->has_elem_type ? type->elem_type : 0;
        return element == 0 || element == AQ_ONNX_FLOAT || element == AQ_ONNX_DOUBLE
                   ? 0
                   : aq_fail(error, AQ_E_UNSUPPORTED,
                             "the model takes values of type %d; float (1) and double (11) are "
                             "known",
                             element);
    }
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "the output comes from '%s', which is no input of the model",
                   aq_plain_text(name, sizeof(name), value));
}

/* The nodes from `value` back to an input, the last first. */
static int find_chain(const aq_onnx_graph_message *graph, const char *value,
                      const aq_onnx_node_message *chain[CHAIN_MAX], size_t *ret_length,
                      aq_error *error)
{
    const aq_onnx_node_message *node;
    size_t length = 0, output;
    while ((node = aq_onnx_source_giver(graph, value, &output)) != NULL) {
        if (length == CHAIN_MAX) {
            return aq_fail(error, AQ_E_TOO_BIG, "more than %d operators one behind the other",
                           CHAIN_MAX);
        }
        if (output > 0) {
            return aq_onnx_source_fail(error, node,
                                       "gives several values, and not the first is used");
        }
        chain[length++] = node;
        value = aq_onnx_source_value_into(graph, node);
        if (value == NULL) {
            return fail_meeting(graph, node, error);
        }
    }
    *ret_length = length;
    return check_beginning(graph, value, error);
}

static int choose_output(const aq_onnx_graph_message *graph, const char *wanted,
                         const char **ret_output, aq_error *error)
{
    const char *name = wanted != NULL ? wanted : "outputs";
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *own = aq_onnx_source_text(graph->output[i]->name);
        if (strcmp(own, name) == 0 || (wanted == NULL && graph->n_output == 1)) {
            *ret_output = own;
            return 0;
        }
    }
    char first[AQ_ONNX_SOURCE_NAME_BYTES] = "none";
    if (graph->n_output > 0) {
        (void)aq_plain_text(first, sizeof(first), aq_onnx_source_text(graph->output[0]->name));
    }
    return aq_fail(error, AQ_E_NOT_FOUND,
                   "the model has %zu outputs, the first is '%s'; choose one with --output-name",
                   graph->n_output, first);
}

static int read_graph(const aq_onnx_graph_message *graph, const char *output, aq_foreign_net *net,
                      aq_error *error)
{
    const reading own = {graph, net, error};
    const aq_onnx_node_message *chain[CHAIN_MAX];
    size_t length = 0;
    if (graph->n_node > THINGS_MAX || graph->n_initializer > THINGS_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG, "more than %d operators or constants", THINGS_MAX);
    }
    int rc = choose_output(graph, output, &output, error);
    rc = rc != 0 ? rc : find_chain(graph, output, chain, &length, error);
    while (rc == 0 && length > 0) {
        rc = read_node(&own, chain[--length]);
    }
    return rc;
}

int aq_onnx_read(const uint8_t *bytes, size_t size, const char *output, aq_foreign_net *net,
                 aq_error *error)
{
    ProtobufCMessage *message = NULL;
    int rc = aq_message_unpack(&actorq__v1__onnx_model__descriptor, bytes, size, &message);
    if (rc != 0) {
        return aq_fail(error, rc == AQ_E_CORRUPT ? AQ_E_FOREIGN : rc, "no ONNX model: %s",
                       aq_error_text(rc));
    }
    const Actorq__V1__OnnxModel *model = (const Actorq__V1__OnnxModel *)message;
    rc = model->graph != NULL ? read_graph(model->graph, output, net, error)
                              : aq_fail(error, AQ_E_FOREIGN, "no ONNX model: it has no graph");
    aq_message_free(message);
    return rc;
}
