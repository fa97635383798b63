/*
 * ONNX read: see onnx_read.h. The chain is found from its end, since a node is known by the value
 * that it gives, and then walked from its beginning. Where a node takes a constant, it is looked up
 * among the initializers and the nodes called Constant.
 */
#include "interchange/import/onnx_read.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/plain_text.h"
#include "common/net/rpc/rpc_envelope.h"
#include "interchange/onnx/onnx_graph.h"
#include "proto/onnx.pb-c.h"

typedef Actorq__V1__OnnxGraph graph_message;
typedef Actorq__V1__OnnxNode node_message;
typedef Actorq__V1__OnnxTensor tensor_message;

enum { CHAIN_MAX = 8 * AQ_NET_LAYERS_MAX, THINGS_MAX = 4096, INPUTS_MAX = 8, NAME_BYTES = 64 };

#define VALUES_MAX ((size_t)1 << 28)

static const char *text_of(const char *text)
{
    return text != NULL ? text : "";
}

/* ---- what nodes say ------------------------------------------------------------------------- */

static const Actorq__V1__OnnxAttribute *attribute_of(const node_message *node, const char *name)
{
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (strcmp(text_of(node->attribute[i]->name), name) == 0) {
            return node->attribute[i];
        }
    }
    return NULL;
}

static int64_t int_of(const node_message *node, const char *name, int64_t otherwise)
{
    const Actorq__V1__OnnxAttribute *found = attribute_of(node, name);
    return found != NULL && found->has_i ? found->i : found != NULL ? 0 : otherwise;
}

static float float_of(const node_message *node, const char *name, float otherwise)
{
    const Actorq__V1__OnnxAttribute *found = attribute_of(node, name);
    return found != NULL && found->has_f ? found->f : found != NULL ? 0.0f : otherwise;
}

static int fail_node(aq_error *error, const node_message *node, const char *why)
{
    char name[NAME_BYTES], op[NAME_BYTES];
    return aq_fail(error, AQ_E_UNSUPPORTED, "operator %s ('%s') %s",
                   aq_plain_text(op, sizeof(op), text_of(node->op_type)),
                   aq_plain_text(name, sizeof(name), text_of(node->name)), why);
}

/* ---- constants ------------------------------------------------------------------------------ */

static const node_message *giver_of(const graph_message *graph, const char *value)
{
    for (size_t i = 0; i < graph->n_node; i++) {
        const node_message *node = graph->node[i];
        if (node->n_output > 0 && strcmp(node->output[0], value) == 0) {
            return node;
        }
    }
    return NULL;
}

/* NULL: the value is no constant. */
static const tensor_message *constant_of(const graph_message *graph, const char *value)
{
    for (size_t i = 0; i < graph->n_initializer; i++) {
        if (strcmp(text_of(graph->initializer[i]->name), value) == 0) {
            return graph->initializer[i];
        }
    }
    const node_message *giver = giver_of(graph, value);
    if (giver == NULL || strcmp(text_of(giver->op_type), "Constant") != 0) {
        return NULL;
    }
    const Actorq__V1__OnnxAttribute *held = attribute_of(giver, "value");
    return held != NULL ? held->t : NULL;
}

/* How many values the dimensions make; 0 for none, and for more than there can be. */
static size_t count_of(const tensor_message *tensor)
{
    size_t count = 1;
    for (size_t i = 0; i < tensor->n_dims; i++) {
        const int64_t size = tensor->dims[i];
        if (size <= 0 || (uint64_t)size > VALUES_MAX / count) {
            return 0;
        }
        count *= (size_t)size;
    }
    return count;
}

/* Value i, which is there. */
static float value_at(const tensor_message *tensor, size_t i)
{
    double wide;
    float value;
    if (tensor->n_float_data > 0) {
        return tensor->float_data[i];
    }
    if (tensor->n_double_data > 0) {
        return (float)tensor->double_data[i];
    }
    if (tensor->data_type == AQ_ONNX_DOUBLE) {
        memcpy(&wide, tensor->raw_data.data + i * sizeof(wide), sizeof(wide));
        return (float)wide;
    }
    memcpy(&value, tensor->raw_data.data + i * sizeof(value), sizeof(value));
    return value;
}

static int check_tensor(const tensor_message *tensor, size_t count, aq_error *error)
{
    char name[NAME_BYTES];
    const size_t width = tensor->data_type == AQ_ONNX_DOUBLE ? sizeof(double) : sizeof(float);
    (void)aq_plain_text(name, sizeof(name), text_of(tensor->name));
    if (tensor->data_type != AQ_ONNX_FLOAT && tensor->data_type != AQ_ONNX_DOUBLE) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "constant '%s' holds values of type %d; float (1) and double (11) are known",
                       name, tensor->data_type);
    }
    if (tensor->data_location == 1) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "constant '%s' is in another file; save the model as one", name);
    }
    const size_t held = tensor->n_float_data > 0    ? tensor->n_float_data
                        : tensor->n_double_data > 0 ? tensor->n_double_data
                                                    : tensor->raw_data.len / width;
    return count > 0 && held == count ? 0
                                      : aq_fail(error, AQ_E_CORRUPT,
                                                "constant '%s' has %zu values, and its dimensions "
                                                "ask for %zu",
                                                name, held, count);
}

/* The constant's values, which the caller frees, (rows, columns); turned: what the file has as
 * (columns, rows). One of lower rank is a row. */
typedef struct matrix {
    float *values;
    uint32_t rows, columns;
} matrix;

static int read_matrix(const tensor_message *tensor, bool is_turned, matrix *ret_matrix,
                       aq_error *error)
{
    const size_t count = count_of(tensor);
    int rc = check_tensor(tensor, count, error);
    if (rc != 0) {
        return rc;
    }
    const size_t columns = tensor->n_dims > 0 ? (size_t)tensor->dims[tensor->n_dims - 1] : 1;
    const size_t rows = count / columns;
    if (rows > AQ_NET_WIDTH_MAX || columns > AQ_NET_WIDTH_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG, "a constant of %zu by %zu values; %u are possible",
                       rows, columns, AQ_NET_WIDTH_MAX);
    }
    float *values = aq_alloc(count, sizeof(*values));
    if (values == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a constant of %zu values", count);
    }
    for (size_t i = 0; i < count; i++) {
        values[is_turned ? i % columns * rows + i / columns : i] = value_at(tensor, i);
    }
    *ret_matrix = (matrix){values, (uint32_t)(is_turned ? columns : rows),
                           (uint32_t)(is_turned ? rows : columns)};
    return 0;
}

/* Input `index` as a constant row; absent: none, of no columns. */
static int read_row(const graph_message *graph, const node_message *node, size_t index,
                    matrix *ret_row, aq_error *error)
{
    const char *name = index < node->n_input ? node->input[index] : "";
    const tensor_message *tensor = constant_of(graph, name);
    *ret_row = (matrix){0};
    if (name[0] == '\0') {
        return 0;
    }
    int rc = tensor != NULL ? read_matrix(tensor, false, ret_row, error)
                            : fail_node(error, node, "takes a value that is no constant");
    if (rc == 0 && ret_row->rows != 1) {
        aq_free(ret_row->values);
        *ret_row = (matrix){0};
        rc = fail_node(error, node, "takes a matrix where it is known with a row");
    }
    return rc;
}

/* ---- operators ------------------------------------------------------------------------------ */

typedef struct reading {
    const graph_message *graph;
    aq_foreign_net *net;
    aq_error *error;
} reading;

typedef int read_fn(const reading *own, const node_message *node);

/* x W + b, the matrix of input 1 as it lies or turned. */
static int read_product(const reading *own, const node_message *node, bool is_turned)
{
    matrix weight = {0}, bias = {0};
    const tensor_message *tensor =
        node->n_input > 1 ? constant_of(own->graph, node->input[1]) : NULL;
    if (tensor == NULL || tensor->n_dims != 2) {
        return fail_node(own->error, node, "multiplies by what is no constant matrix");
    }
    int rc = read_matrix(tensor, is_turned, &weight, own->error);
    rc = rc != 0 ? rc : read_row(own->graph, node, 2, &bias, own->error);
    if (rc == 0 && bias.values != NULL && bias.columns != weight.rows) {
        rc = fail_node(own->error, node, "adds a bias of another width");
    }
    rc = rc != 0 ? rc
                 : aq_foreign_linear(own->net, weight.values, bias.values, weight.rows,
                                     weight.columns, own->error);
    aq_free(weight.values);
    aq_free(bias.values);
    return rc;
}

static int read_matmul(const reading *own, const node_message *node)
{
    return read_product(own, node, true);
}

static int read_gemm(const reading *own, const node_message *node)
{
    if (int_of(node, "transA", 0) != 0 || float_of(node, "alpha", 1.0f) != 1.0f ||
        float_of(node, "beta", 1.0f) != 1.0f) {
        return fail_node(own->error, node, "is known without transA, alpha and beta");
    }
    return read_product(own, node, int_of(node, "transB", 0) == 0);
}

static int read_norm(const reading *own, const node_message *node)
{
    matrix gain = {0}, bias = {0};
    const int64_t axis = int_of(node, "axis", -1);
    if ((axis != -1 && axis != 1) ||
        fabsf(float_of(node, "epsilon", AQ_NORM_EPSILON) - AQ_NORM_EPSILON) > 1e-8f) {
        return fail_node(own->error, node,
                         "is known over the last axis, with an epsilon of 0.00001");
    }
    int rc = read_row(own->graph, node, 1, &gain, own->error);
    rc = rc != 0 ? rc : read_row(own->graph, node, 2, &bias, own->error);
    if (rc == 0 && (gain.values == NULL || (bias.values != NULL && bias.columns != gain.columns))) {
        rc = fail_node(own->error, node, "has gains and biases of different widths");
    }
    rc = rc != 0 ? rc
                 : aq_foreign_norm(own->net, gain.values, bias.values, gain.columns, own->error);
    aq_free(gain.values);
    aq_free(bias.values);
    return rc;
}

/* Add, Sub, Mul, Div: of a value and a constant, on either side where that is the same. */
static int read_scale(const reading *own, const node_message *node)
{
    const char *op = node->op_type;
    const bool is_shift = op[0] == 'A' || op[0] == 'S'; /* of those four */
    const bool turns = op[0] == 'S' || op[0] == 'D';
    const size_t side =
        node->n_input == 2 && constant_of(own->graph, node->input[1]) == NULL ? 0 : 1;
    matrix row;
    if (node->n_input != 2 || (turns && side == 0)) {
        return fail_node(own->error, node, "is known of a value by a constant");
    }
    int rc = read_row(own->graph, node, side, &row, own->error);
    for (uint32_t i = 0; rc == 0 && turns && i < row.columns; i++) {
        row.values[i] = is_shift ? -row.values[i] : 1.0f / row.values[i];
    }
    rc = rc != 0 ? rc
                 : aq_foreign_scale(own->net, is_shift ? NULL : row.values,
                                    is_shift ? row.values : NULL, row.columns, own->error);
    aq_free(row.values);
    return rc;
}

static int read_relu(const reading *own, const node_message *node)
{
    (void)node;
    return aq_foreign_activate(own->net, AQ_ACTIVATION_RELU, own->error);
}

static int read_tanh(const reading *own, const node_message *node)
{
    (void)node;
    return aq_foreign_activate(own->net, AQ_ACTIVATION_TANH, own->error);
}

static int read_elu(const reading *own, const node_message *node)
{
    return float_of(node, "alpha", 1.0f) == 1.0f
               ? aq_foreign_activate(own->net, AQ_ACTIVATION_ELU, own->error)
               : fail_node(own->error, node, "is known with an alpha of 1");
}

/* Of rows of values it changes nothing. */
static int read_nothing(const reading *own, const node_message *node)
{
    (void)own;
    (void)node;
    return 0;
}

static int read_flatten(const reading *own, const node_message *node)
{
    return int_of(node, "axis", 1) == 1 ? 0 : fail_node(own->error, node, "is known of axis 1");
}

static int read_node(const reading *own, const node_message *node)
{
    static const struct {
        const char *op;
        read_fn *read;
    } rows[] = {
        {"Add", read_scale},        {"Div", read_scale},
        {"Dropout", read_nothing},  {"Elu", read_elu},
        {"Flatten", read_flatten},  {"Gemm", read_gemm},
        {"Identity", read_nothing}, {"LayerNormalization", read_norm},
        {"MatMul", read_matmul},    {"Mul", read_scale},
        {"Relu", read_relu},        {"Sub", read_scale},
        {"Tanh", read_tanh},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(text_of(node->op_type), rows[i].op) == 0 && text_of(node->domain)[0] == '\0') {
            return rows[i].read(own, node);
        }
    }
    return fail_node(own->error, node,
                     "is not known; Gemm, MatMul, Add, Sub, Mul, Div, Relu, Tanh, Elu, "
                     "LayerNormalization, Flatten, Dropout and Identity are");
}

/* ---- the chain ------------------------------------------------------------------------------ */

/* The one input of the node that is no constant; NULL: there is none, or several. */
static const char *value_into(const graph_message *graph, const node_message *node)
{
    const char *found = NULL;
    for (size_t i = 0; i < node->n_input && node->n_input <= INPUTS_MAX; i++) {
        if (node->input[i][0] != '\0' && constant_of(graph, node->input[i]) == NULL) {
            if (found != NULL) {
                return NULL;
            }
            found = node->input[i];
        }
    }
    return found;
}

/* The nodes from `value` back to an input, the last first. */
static int find_chain(const graph_message *graph, const char *value,
                      const node_message *chain[CHAIN_MAX], size_t *ret_length, aq_error *error)
{
    const node_message *node;
    size_t length = 0;
    while ((node = giver_of(graph, value)) != NULL) {
        if (length == CHAIN_MAX) {
            return aq_fail(error, AQ_E_TOO_BIG, "more than %d operators one behind the other",
                           CHAIN_MAX);
        }
        chain[length++] = node;
        value = value_into(graph, node);
        if (value == NULL) {
            return fail_node(error, node,
                             "takes several values, or none; a chain from observation to action "
                             "is known");
        }
    }
    *ret_length = length;
    return 0;
}

static int choose_output(const graph_message *graph, const char *wanted, const char **ret_output,
                         aq_error *error)
{
    const char *name = wanted != NULL ? wanted : "outputs";
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *own = text_of(graph->output[i]->name);
        if (strcmp(own, name) == 0 || (wanted == NULL && graph->n_output == 1)) {
            *ret_output = own;
            return 0;
        }
    }
    char first[NAME_BYTES] = "none";
    if (graph->n_output > 0) {
        (void)aq_plain_text(first, sizeof(first), text_of(graph->output[0]->name));
    }
    return aq_fail(error, AQ_E_NOT_FOUND,
                   "the model has %zu outputs, the first is '%s'; choose one with --output-name",
                   graph->n_output, first);
}

static int read_graph(const graph_message *graph, const char *output, aq_foreign_net *net,
                      aq_error *error)
{
    const reading own = {graph, net, error};
    const node_message *chain[CHAIN_MAX];
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
