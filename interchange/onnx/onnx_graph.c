/*
 * ONNX graph: see onnx_graph.h. Messages point at one another and at texts of an arena, which is
 * given back as a whole; tensors of weights point at the policy's own.
 */
#include "interchange/onnx/onnx_graph.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/experience/schema.h"
#include "common/policy/netspec.h"
#include "common/wire/wire_frame.h"
#include "proto/onnx.pb-c.h"

enum {
    /* A layer and what follows it have a dozen, each of several choices three. */
    NODES_MAX = 32 * AQ_NET_LAYERS_MAX + 3 * AQ_BOUNDS_MAX,
    CONSTANTS_MAX = NODES_MAX,
    OUTPUTS_MAX = 3,
    ATTRIBUTES_MAX = 5,
    TEXT_MAX = 255,
};

/* A message and what its pointers lead to. */
typedef struct node_place {
    Actorq__V1__OnnxNode message;
    char *outputs[OUTPUTS_MAX];
    Actorq__V1__OnnxAttribute attributes[ATTRIBUTES_MAX];
    Actorq__V1__OnnxAttribute *attribute_pointers[ATTRIBUTES_MAX];
} node_place;

typedef struct tensor_place {
    Actorq__V1__OnnxTensor message;
    int64_t dims[AQ_ONNX_RANK_MAX];
} tensor_place;

typedef struct end_place {
    Actorq__V1__OnnxValueInfo message;
    Actorq__V1__OnnxType type;
    Actorq__V1__OnnxTensorType tensor;
    Actorq__V1__OnnxShape shape;
    Actorq__V1__OnnxDimension dims[2];
    Actorq__V1__OnnxDimension *dim_pointers[2];
} end_place;

typedef struct room {
    struct room *next;
} room;

struct aq_onnx_graph {
    int rc; /* of the first failure */
    int64_t rows;
    int64_t opset;
    const char *scope;
    room *rooms;
    size_t node_count, constant_count, output_count, fact_count;
    size_t constant_bytes;
    Actorq__V1__OnnxNode *nodes[NODES_MAX];
    Actorq__V1__OnnxTensor *constants[CONSTANTS_MAX];
    Actorq__V1__OnnxValueInfo *input;
    Actorq__V1__OnnxValueInfo *outputs[AQ_ONNX_ENDS_MAX];
    Actorq__V1__OnnxMetadata *facts[AQ_ONNX_METADATA_MAX];
};

aq_onnx_graph *aq_onnx_graph_create(int64_t rows)
{
    aq_onnx_graph *graph = aq_alloc(1, sizeof(*graph));
    if (graph != NULL) {
        graph->rows = rows;
        graph->opset = AQ_ONNX_OPSET;
        graph->scope = "";
    }
    return graph;
}

void aq_onnx_graph_destroy(aq_onnx_graph *graph)
{
    while (graph != NULL && graph->rooms != NULL) {
        room *next = graph->rooms->next;
        aq_free(graph->rooms);
        graph->rooms = next;
    }
    aq_free(graph);
}

void *aq_onnx_room(aq_onnx_graph *graph, size_t count, size_t size)
{
    AQ_ASSERT(count <= (SIZE_MAX - AQ_ALIGNMENT_BYTES) / size);
    unsigned char *made = graph->rc == 0 ? aq_alloc(1, AQ_ALIGNMENT_BYTES + count * size) : NULL;
    if (made == NULL) {
        graph->rc = graph->rc == 0 ? AQ_E_NOMEM : graph->rc;
        return NULL;
    }
    room *head = (room *)(void *)made;
    head->next = graph->rooms;
    graph->rooms = head;
    return made + AQ_ALIGNMENT_BYTES;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static const char *keep_text(aq_onnx_graph *graph, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *kept = aq_onnx_room(graph, bytes, 1);
    if (kept == NULL) {
        return "";
    }
    memcpy(kept, text, bytes);
    return kept;
}

static const char *keep_print(aq_onnx_graph *graph, const char *format, va_list arguments)
{
    char text[TEXT_MAX + 1];
    (void)vsnprintf(text, sizeof(text), format, arguments);
    return keep_text(graph, text);
}

void aq_onnx_scope(aq_onnx_graph *graph, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    graph->scope = keep_print(graph, format, arguments);
    va_end(arguments);
}

/* The name in its scope. */
static const char *full_name(aq_onnx_graph *graph, const char *name)
{
    char text[TEXT_MAX + 1];
    const char *between = graph->scope[0] != '\0' ? "/" : "";
    (void)snprintf(text, sizeof(text), "%s%s%s", graph->scope, between, name);
    return keep_text(graph, text);
}

/* ---- constants ------------------------------------------------------------------------------ */

static size_t type_bytes(enum aq_onnx_type type)
{
    switch (type) {
    case AQ_ONNX_UINT8:
    case AQ_ONNX_INT8:
        return 1;
    case AQ_ONNX_FLOAT:
    case AQ_ONNX_INT32:
        return 4;
    default:
        return 8;
    }
}

const char *aq_onnx_constant(aq_onnx_graph *graph, const char *name, const aq_onnx_tensor *tensor)
{
    const char *full = full_name(graph, name);
    tensor_place *place = aq_onnx_room(graph, 1, sizeof(*place));
    if (place == NULL) {
        return "";
    }
    size_t bytes = type_bytes(tensor->type), rank = 0;
    for (; tensor->dims[rank] != 0; rank++) {
        place->dims[rank] = tensor->dims[rank];
        bytes *= (size_t)tensor->dims[rank];
    }
    actorq__v1__onnx_tensor__init(&place->message);
    place->message.n_dims = rank;
    place->message.dims = place->dims;
    place->message.has_data_type = true;
    place->message.data_type = (int32_t)tensor->type;
    place->message.name = aq_wire_text(full);
    place->message.has_raw_data = true;
    place->message.raw_data = aq_wire_bytes(tensor->values, bytes);
    AQ_ASSERT(graph->constant_count < CONSTANTS_MAX);
    graph->constants[graph->constant_count++] = &place->message;
    graph->constant_bytes += bytes;
    return full;
}

const char *aq_onnx_floats(aq_onnx_graph *graph, const char *name, const float *values,
                           size_t count)
{
    return aq_onnx_constant(graph, name,
                            &(aq_onnx_tensor){AQ_ONNX_FLOAT, {(int64_t)count}, values});
}

const char *aq_onnx_scalar(aq_onnx_graph *graph, const char *name, float value)
{
    float *kept = aq_onnx_room(graph, 1, sizeof(*kept));
    if (kept != NULL) {
        *kept = value;
    }
    return aq_onnx_constant(graph, name, &(aq_onnx_tensor){AQ_ONNX_FLOAT, {0}, kept});
}

/* ---- nodes ---------------------------------------------------------------------------------- */

/* NULL after a failure. */
static node_place *last_node(aq_onnx_graph *graph)
{
    AQ_ASSERT(graph->rc != 0 || graph->node_count > 0);
    return graph->rc == 0 ? (node_place *)(void *)graph->nodes[graph->node_count - 1] : NULL;
}

static const char *give(node_place *node, const char *name)
{
    AQ_ASSERT(node->message.n_output < OUTPUTS_MAX);
    node->outputs[node->message.n_output++] = aq_wire_text(name);
    return name;
}

const char *aq_onnx_node(aq_onnx_graph *graph, const char *op, const char *name,
                         const char *const *inputs)
{
    const char *full = full_name(graph, name);
    size_t count = 0;
    while (inputs[count] != NULL) {
        count++;
    }
    node_place *node = aq_onnx_room(graph, 1, sizeof(*node));
    char **values = aq_onnx_room(graph, count, sizeof(*values));
    if (node == NULL || values == NULL) {
        return "";
    }
    actorq__v1__onnx_node__init(&node->message);
    node->message.name = aq_wire_text(full);
    node->message.op_type = aq_wire_text(op);
    node->message.input = values;
    node->message.output = node->outputs;
    node->message.attribute = node->attribute_pointers;
    node->message.n_input = count;
    for (size_t i = 0; i < count; i++) {
        values[i] = aq_wire_text(inputs[i]);
    }
    AQ_ASSERT(graph->node_count < NODES_MAX);
    graph->nodes[graph->node_count++] = &node->message;
    return give(node, full);
}

const char *aq_onnx_gives(aq_onnx_graph *graph, const char *name)
{
    const char *full = full_name(graph, name);
    node_place *node = last_node(graph);
    return node != NULL ? give(node, full) : "";
}

enum { TYPE_FLOAT = 1, TYPE_INT = 2, TYPE_INTS = 7 };

static Actorq__V1__OnnxAttribute *add_attribute(aq_onnx_graph *graph, const char *name, int type)
{
    node_place *node = last_node(graph);
    if (node == NULL) {
        return NULL;
    }
    AQ_ASSERT(node->message.n_attribute < ATTRIBUTES_MAX);
    const size_t index = node->message.n_attribute++;
    Actorq__V1__OnnxAttribute *made = &node->attributes[index];
    node->attribute_pointers[index] = made;
    actorq__v1__onnx_attribute__init(made);
    made->name = aq_wire_text(name);
    made->has_type = true;
    made->type = type;
    return made;
}

void aq_onnx_set_int(aq_onnx_graph *graph, const char *name, int64_t value)
{
    Actorq__V1__OnnxAttribute *made = add_attribute(graph, name, TYPE_INT);
    if (made != NULL) {
        made->has_i = true;
        made->i = value;
    }
}

void aq_onnx_set_float(aq_onnx_graph *graph, const char *name, float value)
{
    Actorq__V1__OnnxAttribute *made = add_attribute(graph, name, TYPE_FLOAT);
    if (made != NULL) {
        made->has_f = true;
        made->f = value;
    }
}

void aq_onnx_set_ints(aq_onnx_graph *graph, const char *name, const int64_t *values, size_t count)
{
    int64_t *kept = aq_onnx_room(graph, count, sizeof(*kept));
    Actorq__V1__OnnxAttribute *made = add_attribute(graph, name, TYPE_INTS);
    if (made != NULL) {
        memcpy(kept, values, count * sizeof(*kept));
        made->n_ints = count;
        made->ints = kept;
    }
}

const char *aq_onnx_part(aq_onnx_graph *graph, const char *name, const char *x, int64_t from,
                         int64_t to)
{
    static const char *const what[] = {"from", "to", "axis"};
    const int64_t values[] = {from, to, 1};
    const char *names[3];
    char label[TEXT_MAX + 1];
    for (int i = 0; i < 3; i++) {
        int64_t *kept = aq_onnx_room(graph, 1, sizeof(*kept));
        if (kept != NULL) {
            *kept = values[i];
        }
        (void)snprintf(label, sizeof(label), "%s_%s", name, what[i]);
        names[i] = aq_onnx_constant(graph, label, &(aq_onnx_tensor){AQ_ONNX_INT64, {1}, kept});
    }
    return aq_onnx_node(graph, "Slice", name, AQ_ONNX_OF(x, names[0], names[1], names[2]));
}

void aq_onnx_needs(aq_onnx_graph *graph, int64_t opset)
{
    graph->opset = opset > graph->opset ? opset : graph->opset;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static Actorq__V1__OnnxValueInfo *make_end(aq_onnx_graph *graph, const aq_onnx_end *end)
{
    end_place *place = aq_onnx_room(graph, 1, sizeof(*place));
    if (place == NULL) {
        return NULL;
    }
    actorq__v1__onnx_value_info__init(&place->message);
    actorq__v1__onnx_type__init(&place->type);
    actorq__v1__onnx_tensor_type__init(&place->tensor);
    actorq__v1__onnx_shape__init(&place->shape);
    for (int i = 0; i < 2; i++) {
        actorq__v1__onnx_dimension__init(&place->dims[i]);
        place->dim_pointers[i] = &place->dims[i];
    }
    place->dims[0].has_dim_value = graph->rows > 0;
    place->dims[0].dim_value = graph->rows;
    place->dims[0].dim_param = graph->rows > 0 ? NULL : aq_wire_text("rows");
    place->dims[1].has_dim_value = true;
    place->dims[1].dim_value = end->width;
    place->shape.n_dim = end->width > 0 ? 2 : 1;
    place->shape.dim = place->dim_pointers;
    place->tensor.has_elem_type = true;
    place->tensor.elem_type = (int32_t)end->type;
    place->tensor.shape = &place->shape;
    place->type.tensor_type = &place->tensor;
    place->message.type = &place->type;
    place->message.name = aq_wire_text(keep_text(graph, end->name));
    place->message.doc_string = aq_wire_text(keep_text(graph, end->says));
    return &place->message;
}

void aq_onnx_takes(aq_onnx_graph *graph, const aq_onnx_end *input)
{
    graph->input = make_end(graph, input);
}

void aq_onnx_ends(aq_onnx_graph *graph, const aq_onnx_end *output)
{
    AQ_ASSERT(graph->output_count < AQ_ONNX_ENDS_MAX);
    graph->outputs[graph->output_count++] = make_end(graph, output);
}

void aq_onnx_fact(aq_onnx_graph *graph, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *value = keep_print(graph, format, arguments);
    va_end(arguments);
    const char *kept_key = keep_text(graph, key);
    Actorq__V1__OnnxMetadata *made = aq_onnx_room(graph, 1, sizeof(*made));
    if (made != NULL) {
        actorq__v1__onnx_metadata__init(made);
        made->key = aq_wire_text(kept_key);
        made->value = aq_wire_text(value);
        AQ_ASSERT(graph->fact_count < AQ_ONNX_METADATA_MAX);
        graph->facts[graph->fact_count++] = made;
    }
}

static Actorq__V1__OnnxGraph whole_graph(aq_onnx_graph *graph, const char *name)
{
    Actorq__V1__OnnxGraph whole = ACTORQ__V1__ONNX_GRAPH__INIT;
    whole.name = aq_wire_text(name);
    whole.n_node = graph->node_count;
    whole.node = graph->nodes;
    whole.n_initializer = graph->constant_count;
    whole.initializer = graph->constants;
    whole.n_input = 1;
    whole.input = &graph->input;
    whole.n_output = graph->output_count;
    whole.output = graph->outputs;
    return whole;
}

int aq_onnx_pack(aq_onnx_graph *graph, const aq_onnx_about *about, aq_buffer *out,
                 aq_onnx_figures *ret_figures)
{
    Actorq__V1__OnnxGraph whole = whole_graph(graph, about->name);
    Actorq__V1__OnnxOperatorSet operators = ACTORQ__V1__ONNX_OPERATOR_SET__INIT;
    Actorq__V1__OnnxOperatorSet *operator_sets = &operators;
    Actorq__V1__OnnxModel model = ACTORQ__V1__ONNX_MODEL__INIT;
    operators.domain = aq_wire_text("");
    operators.has_version = true;
    operators.version = graph->opset;
    model.has_ir_version = true;
    model.ir_version = graph->opset > AQ_ONNX_OPSET ? AQ_ONNX_IR_NORM : AQ_ONNX_IR;
    model.producer_name = aq_wire_text("actorq");
    model.producer_version = aq_wire_text(AQ_VERSION);
    model.has_model_version = true;
    model.model_version = about->version;
    model.doc_string = aq_wire_text(about->says);
    model.graph = &whole;
    model.n_opset_import = 1;
    model.opset_import = &operator_sets;
    model.n_metadata_props = graph->fact_count;
    model.metadata_props = graph->facts;
    int rc = graph->rc != 0 ? graph->rc : aq_message_append(&model.base, out);
    if (rc == 0) {
        *ret_figures = (aq_onnx_figures){
            .weights_bytes = graph->constant_bytes,
            .nodes = graph->node_count,
            .opset = graph->opset,
            .rows = graph->rows,
        };
    }
    return rc;
}
