/*
 * ONNX source: see onnx_source.h.
 */
#include "interchange/import/onnx_source.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/base/plain_text.h"
#include "common/policy/layer_spec.h"
#include "interchange/onnx/onnx_graph.h"

typedef Actorq__V1__OnnxTensor tensor_message;

enum { IDENTITIES_MAX = 8, OUTPUTS_MAX = 64 };

#define VALUES_MAX ((size_t)1 << 28)

const char *aq_onnx_source_text(const char *text)
{
    return text != NULL ? text : "";
}

/* ---- what nodes say ------------------------------------------------------------------------- */

static Actorq__V1__OnnxAttribute *attribute_of(const aq_onnx_node_message *node, const char *name)
{
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (strcmp(aq_onnx_source_text(node->attribute[i]->name), name) == 0) {
            return node->attribute[i];
        }
    }
    return NULL;
}

int64_t aq_onnx_source_int(const aq_onnx_node_message *node, const char *name, int64_t otherwise)
{
    const Actorq__V1__OnnxAttribute *found = attribute_of(node, name);
    return found != NULL && found->has_i ? found->i : found != NULL ? 0 : otherwise;
}

float aq_onnx_source_float(const aq_onnx_node_message *node, const char *name, float otherwise)
{
    const Actorq__V1__OnnxAttribute *found = attribute_of(node, name);
    return found != NULL && found->has_f ? found->f : found != NULL ? 0.0f : otherwise;
}

int aq_onnx_source_fail(aq_error *error, const aq_onnx_node_message *node, const char *why)
{
    char name[AQ_ONNX_SOURCE_NAME_BYTES], op[AQ_ONNX_SOURCE_NAME_BYTES];
    return aq_fail(error, AQ_E_UNSUPPORTED, "operator %s ('%s') %s",
                   aq_plain_text(op, sizeof(op), aq_onnx_source_text(node->op_type)),
                   aq_plain_text(name, sizeof(name), aq_onnx_source_text(node->name)), why);
}

/* ---- constants ------------------------------------------------------------------------------ */

const aq_onnx_node_message *aq_onnx_source_giver(const aq_onnx_graph_message *graph,
                                                 const char *value, size_t *ret_output)
{
    for (size_t i = 0; i < graph->n_node; i++) {
        const aq_onnx_node_message *node = graph->node[i];
        for (size_t output = 0; output < node->n_output && output < OUTPUTS_MAX; output++) {
            if (strcmp(node->output[output], value) == 0) {
                *ret_output = output;
                return node;
            }
        }
    }
    return NULL;
}

/* A constant: a tensor, whose arrays are the message's; or numbers, which have one dimension. */
typedef struct constant {
    tensor_message tensor;
    int64_t size;
} constant;

static bool is_op(const aq_onnx_node_message *node, const char *op)
{
    return strcmp(aq_onnx_source_text(node->op_type), op) == 0;
}

/* What a node called Constant holds: a tensor, a number or several. */
static bool held_by(const aq_onnx_node_message *node, constant *ret_constant)
{
    const Actorq__V1__OnnxAttribute *held = attribute_of(node, "value");
    if (held != NULL && held->t != NULL) {
        ret_constant->tensor = *held->t;
        return true;
    }
    Actorq__V1__OnnxAttribute *one = attribute_of(node, "value_float");
    Actorq__V1__OnnxAttribute *many = attribute_of(node, "value_floats");
    const Actorq__V1__OnnxTensor empty = ACTORQ__V1__ONNX_TENSOR__INIT;
    ret_constant->tensor = empty;
    ret_constant->tensor.name = node->name;
    ret_constant->tensor.data_type = AQ_ONNX_FLOAT;
    if (one != NULL) {
        ret_constant->tensor.n_float_data = 1;
        ret_constant->tensor.float_data = &one->f;
    } else if (many != NULL) {
        ret_constant->size = (int64_t)many->n_floats;
        ret_constant->tensor.n_dims = 1;
        ret_constant->tensor.dims = &ret_constant->size;
        ret_constant->tensor.n_float_data = many->n_floats;
        ret_constant->tensor.float_data = many->floats;
    }
    return one != NULL || many != NULL;
}

/* Also behind Identity, by which exporters let layers share one. What is written may point into
 * itself: it is not copied. */
static bool find_constant(const aq_onnx_graph_message *graph, const char *value,
                          constant *ret_constant)
{
    for (int step = 0; step < IDENTITIES_MAX; step++) {
        for (size_t i = 0; i < graph->n_initializer; i++) {
            if (strcmp(aq_onnx_source_text(graph->initializer[i]->name), value) == 0) {
                ret_constant->tensor = *graph->initializer[i];
                return true;
            }
        }
        size_t output;
        const aq_onnx_node_message *giver = aq_onnx_source_giver(graph, value, &output);
        if (giver == NULL || !is_op(giver, "Identity") || giver->n_input != 1) {
            return giver != NULL && is_op(giver, "Constant") && held_by(giver, ret_constant);
        }
        value = giver->input[0];
    }
    return false;
}

bool aq_onnx_source_is_constant(const aq_onnx_graph_message *graph, const char *value)
{
    constant found;
    return find_constant(graph, value, &found);
}

const char *aq_onnx_source_value_into(const aq_onnx_graph_message *graph,
                                      const aq_onnx_node_message *node)
{
    const char *found = NULL;
    for (size_t i = 0; i < node->n_input && node->n_input <= AQ_ONNX_SOURCE_INPUTS_MAX; i++) {
        if (node->input[i][0] != '\0' && !aq_onnx_source_is_constant(graph, node->input[i])) {
            if (found != NULL) {
                return NULL;
            }
            found = node->input[i];
        }
    }
    return found;
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
    char name[AQ_ONNX_SOURCE_NAME_BYTES];
    const size_t width = tensor->data_type == AQ_ONNX_DOUBLE ? sizeof(double) : sizeof(float);
    (void)aq_plain_text(name, sizeof(name), aq_onnx_source_text(tensor->name));
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

/* One of lower rank than two is a row. */
static int read_matrix(const tensor_message *tensor, bool is_turned, aq_onnx_matrix *ret_matrix,
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
    *ret_matrix = (aq_onnx_matrix){values, (uint32_t)(is_turned ? columns : rows),
                                   (uint32_t)(is_turned ? rows : columns)};
    return 0;
}

int aq_onnx_source_matrix(const aq_onnx_graph_message *graph, const aq_onnx_node_message *node,
                          size_t index, bool is_turned, aq_onnx_matrix *ret_matrix, aq_error *error)
{
    constant found;
    if (index >= node->n_input || !find_constant(graph, node->input[index], &found) ||
        found.tensor.n_dims != 2) {
        return aq_onnx_source_fail(error, node, "multiplies by what is no constant matrix");
    }
    return read_matrix(&found.tensor, is_turned, ret_matrix, error);
}

int aq_onnx_source_row(const aq_onnx_graph_message *graph, const aq_onnx_node_message *node,
                       size_t index, aq_onnx_matrix *ret_row, aq_error *error)
{
    const char *name = index < node->n_input ? node->input[index] : "";
    constant found;
    aq_onnx_matrix row = {0};
    if (name[0] == '\0') {
        *ret_row = row;
        return 0;
    }
    int rc = find_constant(graph, name, &found)
                 ? read_matrix(&found.tensor, false, &row, error)
                 : aq_onnx_source_fail(error, node, "takes a value that is no constant");
    if (rc == 0 && row.rows != 1) {
        aq_free(row.values);
        rc = aq_onnx_source_fail(error, node, "takes a matrix where it is known with a row");
    }
    if (rc == 0) {
        *ret_row = row;
    }
    return rc;
}
