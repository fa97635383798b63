/*
 * The table of the kinds of layers, and what those with a matrix share.
 */
#include "interchange/onnx/onnx_layers.h"

#include <stdio.h>

#include "common/base/assert.h"

/* A kind's nodes, from layer->x to the value that it returns, before the activation. */
typedef const char *put_fn(const aq_onnx_layer *layer);

static const aq_layer_spec *spec_of(const aq_onnx_layer *layer)
{
    return &layer->snapshot->spec.layers[layer->index];
}

static const aq_snapshot_layer *stored_of(const aq_onnx_layer *layer)
{
    return &layer->snapshot->layers[layer->index];
}

/* ---- a matrix in its format ----------------------------------------------------------------- */

/* How the operator that multiplies has its weights. */
typedef struct matrix_view {
    const char *op, *integer_op; /* "MatMul", "MatMulInteger" */
    const aq_conv_shape *conv;   /* NULL: none */
    int64_t weight_dims[AQ_ONNX_RANK_MAX + 1];
    int64_t row_dims[AQ_ONNX_RANK_MAX]; /* of what there is one of for each row of the matrix */
    int64_t channel_axis;               /* of the weights, where the rows of the matrix are */
} matrix_view;

/* Where weight `column` of a row of the matrix stands in the operator's weights. Images are
 * (height, width, channels) here, (channels, height, width) there; a linear layer's matrix is
 * turned. */
static size_t place_of(const matrix_view *view, aq_layer_matrix_shape matrix, size_t row,
                       size_t column)
{
    if (view->conv == NULL) {
        return column * matrix.rows + row;
    }
    const size_t channels = view->conv->channels;
    const size_t pixels = matrix.columns / channels;
    return row * matrix.columns + column % channels * pixels + column / channels;
}

static void turn_weights(const matrix_view *view, aq_layer_matrix_shape matrix, size_t size,
                         const unsigned char *from, unsigned char *to)
{
    for (size_t row = 0; row < matrix.rows; row++) {
        for (size_t column = 0; column < matrix.columns; column++) {
            const size_t at = place_of(view, matrix, row, column);
            for (size_t k = 0; k < size; k++) {
                to[at * size + k] = from[(row * matrix.columns + column) * size + k];
            }
        }
    }
}

static aq_onnx_tensor weights_tensor(const matrix_view *view, enum aq_onnx_type type,
                                     const void *values)
{
    aq_onnx_tensor tensor = {.type = type, .values = values};
    for (int i = 0; i < AQ_ONNX_RANK_MAX; i++) {
        tensor.dims[i] = view->weight_dims[i];
    }
    return tensor;
}

/* One for each row of the matrix. */
static const char *put_by_row(const aq_onnx_layer *layer, const matrix_view *view, const char *name,
                              const float *values)
{
    aq_onnx_tensor tensor = {.type = AQ_ONNX_FLOAT, .values = values};
    for (int i = 0; i < AQ_ONNX_RANK_MAX; i++) {
        tensor.dims[i] = view->row_dims[i];
    }
    return aq_onnx_constant(layer->graph, name, &tensor);
}

static const char *put_float_weights(const aq_onnx_layer *layer, const matrix_view *view)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(spec_of(layer));
    const size_t count = (size_t)matrix.rows * matrix.columns;
    float *plain = aq_onnx_room(layer->graph, count, sizeof(*plain));
    float *turned = aq_onnx_room(layer->graph, count, sizeof(*turned));
    if (turned != NULL) {
        aq_snapshot_layer_weights(layer->snapshot, layer->index, plain);
        turn_weights(view, matrix, sizeof(float), (const unsigned char *)plain,
                     (unsigned char *)turned);
    }
    const aq_onnx_tensor tensor = weights_tensor(view, AQ_ONNX_FLOAT, turned);
    return aq_onnx_constant(layer->graph, "weights", &tensor);
}

static const char *put_levels(const aq_onnx_layer *layer, const matrix_view *view)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(spec_of(layer));
    unsigned char *turned = aq_onnx_room(layer->graph, stored_of(layer)->sizes.weights_bytes, 1);
    if (turned != NULL) {
        turn_weights(view, matrix, 1, stored_of(layer)->weights, turned);
    }
    const aq_onnx_tensor tensor = weights_tensor(view, AQ_ONNX_INT8, turned);
    return aq_onnx_constant(layer->graph, "weights", &tensor);
}

static const char *put_byte(const aq_onnx_layer *layer, const char *name, enum aq_onnx_type type,
                            int32_t value)
{
    uint8_t *kept = aq_onnx_room(layer->graph, 1, 1);
    if (kept != NULL) {
        *kept = (uint8_t)value;
    }
    return aq_onnx_constant(layer->graph, name, &(aq_onnx_tensor){type, {0}, kept});
}

/* The zero point of the weights; "" where they have none. */
static const char *put_weight_zero(const aq_onnx_layer *layer)
{
    const int32_t zero = stored_of(layer)->weight_zero;
    return zero != 0 ? put_byte(layer, "weights_zero", AQ_ONNX_INT8, zero) : "";
}

static void set_patches(const aq_onnx_layer *layer, const aq_conv_shape *conv)
{
    if (conv != NULL) {
        const int64_t sides[] = {conv->kernel, conv->kernel};
        const int64_t strides[] = {conv->stride, conv->stride};
        const int64_t pads[] = {conv->padding, conv->padding, conv->padding, conv->padding};
        aq_onnx_set_ints(layer->graph, "kernel_shape", sides, 2);
        aq_onnx_set_ints(layer->graph, "strides", strides, 2);
        aq_onnx_set_ints(layer->graph, "pads", pads, 4);
    }
}

/* As an actor: levels by the range of x, integers, and one float that is the product of scales. */
static const char *put_dynamic(const aq_onnx_layer *layer, const matrix_view *view, const char *x)
{
    aq_onnx_graph *graph = layer->graph;
    const aq_snapshot_layer *stored = stored_of(layer);
    const char *levels = aq_onnx_node(graph, "DynamicQuantizeLinear", "levels", AQ_ONNX_OF(x));
    const char *step = aq_onnx_gives(graph, "levels_scale");
    const char *zero = aq_onnx_gives(graph, "levels_zero");
    const char *weights = put_levels(layer, view);
    const char *weight_zero = put_weight_zero(layer);
    const char *sums = aq_onnx_node(
        graph, view->integer_op, "sums",
        AQ_ONNX_OF(levels, weights, zero, weight_zero[0] != '\0' ? weight_zero : NULL));
    set_patches(layer, view->conv);
    const char *floats = aq_onnx_node(graph, "Cast", "sums_as_floats", AQ_ONNX_OF(sums));
    aq_onnx_set_int(graph, "to", AQ_ONNX_FLOAT);
    const char *scale = stored->sizes.scales > 1
                            ? put_by_row(layer, view, "weights_scale", stored->scale)
                            : aq_onnx_scalar(graph, "weights_scale", stored->scale[0]);
    const char *factor = aq_onnx_node(graph, "Mul", "factor", AQ_ONNX_OF(step, scale));
    return aq_onnx_node(graph, "Mul", "product", AQ_ONNX_OF(floats, factor));
}

/* What levels of the weights stand for. */
static const char *put_dequantized(const aq_onnx_layer *layer, const matrix_view *view)
{
    aq_onnx_graph *graph = layer->graph;
    const aq_snapshot_layer *stored = stored_of(layer);
    const char *levels = put_levels(layer, view);
    const char *zero = put_weight_zero(layer);
    const bool by_row = stored->sizes.scales > 1;
    const char *scale =
        by_row ? aq_onnx_floats(graph, "weights_scale", stored->scale, stored->sizes.scales)
               : aq_onnx_scalar(graph, "weights_scale", stored->scale[0]);
    const char *weights = aq_onnx_node(graph, "DequantizeLinear", "weights_as_floats",
                                       AQ_ONNX_OF(levels, scale, zero[0] != '\0' ? zero : NULL));
    if (by_row) {
        aq_onnx_set_int(graph, "axis", view->channel_axis);
    }
    return weights;
}

static const char *put_static(const aq_onnx_layer *layer, const matrix_view *view, const char *x)
{
    aq_onnx_graph *graph = layer->graph;
    const aq_snapshot_layer *stored = stored_of(layer);
    const char *step = aq_onnx_scalar(graph, "levels_scale", stored->input_scale);
    const char *zero = put_byte(layer, "levels_zero", AQ_ONNX_UINT8, stored->input_zero);
    const char *levels = aq_onnx_node(graph, "QuantizeLinear", "levels", AQ_ONNX_OF(x, step, zero));
    const char *rounded =
        aq_onnx_node(graph, "DequantizeLinear", "levels_as_floats", AQ_ONNX_OF(levels, step, zero));
    const char *weights = put_dequantized(layer, view);
    const char *product = aq_onnx_node(graph, view->op, "product", AQ_ONNX_OF(rounded, weights));
    set_patches(layer, view->conv);
    return product;
}

static const char *put_float(const aq_onnx_layer *layer, const matrix_view *view, const char *x)
{
    const char *weights = put_float_weights(layer, view);
    const char *product = aq_onnx_node(layer->graph, view->op, "product", AQ_ONNX_OF(x, weights));
    set_patches(layer, view->conv);
    return product;
}

static bool is_quantized(const aq_snapshot_layer *stored)
{
    return stored->format == AQ_FORMAT_INT8_CHANNEL || stored->format == AQ_FORMAT_INT8_TENSOR;
}

bool aq_onnx_layer_is_dynamic(const aq_snapshot_layer *stored)
{
    return is_quantized(stored) && stored->input_scale == 0.0f;
}

static const char *put_matrix(const aq_onnx_layer *layer, const matrix_view *view, const char *x)
{
    const aq_snapshot_layer *stored = stored_of(layer);
    const char *product = !is_quantized(stored)              ? put_float(layer, view, x)
                          : aq_onnx_layer_is_dynamic(stored) ? put_dynamic(layer, view, x)
                                                             : put_static(layer, view, x);
    const char *bias = put_by_row(layer, view, "bias", stored->bias);
    return aq_onnx_node(layer->graph, "Add", "sum", AQ_ONNX_OF(product, bias));
}

/* ---- the kinds ------------------------------------------------------------------------------ */

static const char *put_linear(const aq_onnx_layer *layer)
{
    const aq_layer_spec *spec = spec_of(layer);
    const matrix_view view = {
        .op = "MatMul",
        .integer_op = "MatMulInteger",
        .weight_dims = {spec->inputs, spec->outputs},
        .row_dims = {spec->outputs},
        .channel_axis = 1,
    };
    return put_matrix(layer, &view, layer->x[0]);
}

/* (rows, ...) of these sizes, which end with 0. The room's first 0 takes over the rows. */
static const char *put_shape(const aq_onnx_layer *layer, const char *name, const char *x,
                             const int64_t *sizes)
{
    int64_t *shape = aq_onnx_room(layer->graph, AQ_ONNX_RANK_MAX, sizeof(*shape));
    int64_t rank = 1;
    char label[32];
    (void)snprintf(label, sizeof(label), "%s_shape", name);
    for (; shape != NULL && sizes[rank - 1] != 0; rank++) {
        shape[rank] = sizes[rank - 1];
    }
    const char *to =
        aq_onnx_constant(layer->graph, label, &(aq_onnx_tensor){AQ_ONNX_INT64, {rank}, shape});
    return aq_onnx_node(layer->graph, "Reshape", name, AQ_ONNX_OF(x, to));
}

static const char *put_turned(const aq_onnx_layer *layer, const char *name, const char *x,
                              const int64_t axes[4])
{
    const char *turned = aq_onnx_node(layer->graph, "Transpose", name, AQ_ONNX_OF(x));
    aq_onnx_set_ints(layer->graph, "perm", axes, 4);
    return turned;
}

/* What takes an image takes it by planes. */
static const char *put_planes(const aq_onnx_layer *layer)
{
    static const int64_t channels_first[] = {0, 3, 1, 2};
    const aq_conv_shape *conv = &spec_of(layer)->conv;
    const int64_t pixels[] = {conv->height, conv->width, conv->channels, 0};
    const char *image = put_shape(layer, "image", layer->x[0], pixels);
    return put_turned(layer, "planes", image, channels_first);
}

static const char *put_flat(const aq_onnx_layer *layer, const char *planes)
{
    static const int64_t channels_last[] = {0, 2, 3, 1};
    const int64_t flat[] = {spec_of(layer)->outputs, 0};
    return put_shape(layer, "flat", put_turned(layer, "made_image", planes, channels_last), flat);
}

static const char *put_conv2d(const aq_onnx_layer *layer)
{
    const aq_conv_shape *conv = &spec_of(layer)->conv;
    const matrix_view view = {
        .op = "Conv",
        .integer_op = "ConvInteger",
        .conv = conv,
        .weight_dims = {conv->filters, conv->channels, conv->kernel, conv->kernel},
        .row_dims = {conv->filters, 1, 1},
        .channel_axis = 0,
    };
    return put_flat(layer, put_matrix(layer, &view, put_planes(layer)));
}

static const char *put_pool(const aq_onnx_layer *layer)
{
    const aq_conv_shape *pool = &spec_of(layer)->conv;
    if (pool->kernel == 1 && pool->stride == 1) {
        return layer->x[0]; /* the activation alone */
    }
    const char *most =
        aq_onnx_node(layer->graph, "MaxPool", "greatest", AQ_ONNX_OF(put_planes(layer)));
    set_patches(layer, pool);
    return put_flat(layer, most);
}

static const char *put_norm(const aq_onnx_layer *layer)
{
    aq_onnx_graph *graph = layer->graph;
    const aq_snapshot_layer *stored = stored_of(layer);
    const uint32_t width = spec_of(layer)->inputs;
    const char *gain = aq_onnx_floats(graph, "gain", stored->weights, width);
    const char *bias = aq_onnx_floats(graph, "bias", stored->bias, width);
    const char *made =
        aq_onnx_node(graph, "LayerNormalization", "norm", AQ_ONNX_OF(layer->x[0], gain, bias));
    aq_onnx_set_int(graph, "axis", -1);
    aq_onnx_set_float(graph, "epsilon", AQ_NORM_EPSILON);
    aq_onnx_needs(graph, AQ_ONNX_OPSET_NORM);
    return made;
}

static const char *put_add(const aq_onnx_layer *layer)
{
    return aq_onnx_node(layer->graph, "Add", "sum", AQ_ONNX_OF(layer->x[0], layer->x[1]));
}

static const char *put_dueling(const aq_onnx_layer *layer)
{
    aq_onnx_graph *graph = layer->graph;
    const aq_head_shape *head = &spec_of(layer)->head;
    const int64_t table[] = {1 + head->choices, head->atoms, 0};
    const int64_t flat[] = {spec_of(layer)->outputs, 0};
    const int64_t choice_axis[] = {1};
    const char *all = put_shape(layer, "table", layer->x[0], table);
    const char *value = aq_onnx_part(graph, "value", all, 0, 1);
    const char *advantage = aq_onnx_part(graph, "advantage", all, 1, 1 + head->choices);
    const char *mean = aq_onnx_node(graph, "ReduceMean", "mean", AQ_ONNX_OF(advantage));
    aq_onnx_set_ints(graph, "axes", choice_axis, 1);
    aq_onnx_set_int(graph, "keepdims", 1);
    const char *above = aq_onnx_node(graph, "Sub", "above_mean", AQ_ONNX_OF(advantage, mean));
    const char *sum = aq_onnx_node(graph, "Add", "value_and_advantage", AQ_ONNX_OF(value, above));
    return put_shape(layer, "flat", sum, flat);
}

static const char *put_categorical(const aq_onnx_layer *layer)
{
    aq_onnx_graph *graph = layer->graph;
    const aq_head_shape *head = &spec_of(layer)->head;
    const int64_t table[] = {head->choices, head->atoms, 0};
    float *atoms = aq_onnx_room(graph, head->atoms, sizeof(*atoms));
    for (uint32_t k = 0; atoms != NULL && k < head->atoms; k++) {
        atoms[k] = aq_head_atom(head, k);
    }
    const char *logits = put_shape(layer, "table", layer->x[0], table);
    const char *shares = aq_onnx_node(graph, "Softmax", "probabilities", AQ_ONNX_OF(logits));
    aq_onnx_set_int(graph, "axis", -1);
    const char *values = aq_onnx_floats(graph, "atoms", atoms, head->atoms);
    return aq_onnx_node(graph, "MatMul", "expectations", AQ_ONNX_OF(shares, values));
}

static put_fn *put_of(uint32_t kind)
{
    static put_fn *const rows[AQ_LAYER_KINDS_END] = {
        [AQ_LAYER_LINEAR] = put_linear,
        [AQ_LAYER_CONV2D] = put_conv2d,
        [AQ_LAYER_NORM] = put_norm,
        [AQ_LAYER_DUELING] = put_dueling,
        [AQ_LAYER_CATEGORICAL] = put_categorical,
        [AQ_LAYER_ADD] = put_add,
        [AQ_LAYER_POOL] = put_pool,
    };
    AQ_ASSERT(kind < AQ_LAYER_KINDS_END);
    return rows[kind];
}

int aq_onnx_layer_check(const aq_snapshot *snapshot, uint32_t index, aq_error *error)
{
    const aq_layer_spec *spec = &snapshot->spec.layers[index];
    const aq_snapshot_layer *stored = &snapshot->layers[index];
    if (put_of(spec->kind) == NULL) {
        return aq_fail(
            error, AQ_E_UNSUPPORTED,
            "export: layer %u, %s, is not known to the writer of ONNX; as C (--format c) it "
            "can be exported",
            index, aq_layer_kind_name(spec->kind));
    }
    if (aq_format_is_integer(stored->format) && !is_quantized(stored)) {
        return aq_fail(
            error, AQ_E_UNSUPPORTED,
            "export: the weights of layer %u, %s, are %s, and an ONNX file holds int8, "
            "int8-tensor, fp32, fp16 and bf16; as C (--format c) they can be exported, or "
            "a run's policy with --precision int8 or fp32",
            index, aq_layer_kind_name(spec->kind), aq_format_name(stored->format));
    }
    return 0;
}

const char *aq_onnx_put_layer(const aq_onnx_layer *layer, const char *name)
{
    static const char *const activations[] = {
        [AQ_ACTIVATION_RELU] = "Relu", [AQ_ACTIVATION_TANH] = "Tanh", [AQ_ACTIVATION_ELU] = "Elu"};
    const aq_layer_spec *spec = spec_of(layer);
    aq_onnx_scope(layer->graph, "layer%u", layer->index);
    const char *made = put_of(spec->kind)(layer);
    if (spec->activation != AQ_ACTIVATION_NONE) {
        made = aq_onnx_node(layer->graph, activations[spec->activation],
                            aq_activation_name(spec->activation), AQ_ONNX_OF(made));
    }
    aq_onnx_scope(layer->graph, "%s", "");
    return name != NULL ? aq_onnx_node(layer->graph, "Identity", name, AQ_ONNX_OF(made)) : made;
}
