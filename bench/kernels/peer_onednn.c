/*
 * oneDNN 2.x: a chain of inner-product and convolution primitives, made once. Weights are in the
 * layout that each primitive asks for, images have their channels last, as its int8 convolutions
 * prefer; bias and ReLU are fused, the last result is fp32.
 *
 * In int8 the weights are signed with a scale an output, the activations unsigned bytes with a
 * static scale from the problem's own ranges. A chain begins with fp32 observations, which it turns
 * into bytes itself (a handful of values); a single layer, and a chain that begins with pictures,
 * is given bytes, so that its time holds no quantization of activations at all.
 *
 * With weights that are scale[o] * w and activations that are s * (q - z), oneDNN's formula
 * y = output_scale[o] * (sum_i q[i] w[o][i] + bias[o]) gives ours for
 * output_scale[o] = s * scale[o] and a bias of b / (s * scale[o]) - z * sum_i w[o][i].
 *
 * Without VNNI it adds two products in 16 bits, which cuts off what is beyond: weights are of 7
 * bits there, so that nothing is. It takes as long.
 */
#include <dnnl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/kernels/peer_tables.h"
#include "common/base/memory.h"

enum { ARGUMENTS = 4, OUTPUTS_MASK = 1 << 1, IMAGE_RANK = 4 };

typedef struct dnn_layer {
    dnnl_primitive_t primitive;
    dnnl_memory_t weights, bias, x, y;
    void *weights_bytes, *bias_bytes, *y_bytes; /* what they lie in */
    dnnl_exec_arg_t arguments[ARGUMENTS];
} dnn_layer;

typedef struct dnn_chain {
    const aq_bench_problem *problem; /* lent */
    bool is_int8;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnn_layer layers[AQ_NET_LAYERS_MAX];
    void *x_bytes; /* the first layer's input */

    /* int8: how the observations become bytes */
    float x_scale;
    float x_zero;
} dnn_chain;

/* The parameters of one layer as its primitive is made from them. */
typedef struct dnn_parameters {
    dnnl_data_type_t x_type, weights_type, y_type;
    const void *weights; /* (outputs, inputs) */
    const float *bias;
    const float *output_scale; /* NULL in fp32 */
} dnn_parameters;

static int check(dnnl_status_t status, const char *what, aq_error *error)
{
    if (status == dnnl_success) {
        return 0;
    }
    return aq_fail(error, status == dnnl_out_of_memory ? AQ_E_NOMEM : AQ_E_PEER,
                   "onednn: %s: status %d", what, (int)status);
}

/* Matrices are row-major, images and filters have their channels last. */
typedef struct dnn_shape {
    int rank;
    dnnl_dims_t sizes;
} dnn_shape;

static dnn_shape shape_of(size_t a, size_t b)
{
    return (dnn_shape){.rank = 2, .sizes = {(dnnl_dim_t)a, (dnnl_dim_t)b}};
}

static dnn_shape shape_of_images(size_t count, size_t channels, size_t height, size_t width)
{
    return (dnn_shape){
        .rank = IMAGE_RANK,
        .sizes = {(dnnl_dim_t)count, (dnnl_dim_t)channels, (dnnl_dim_t)height, (dnnl_dim_t)width}};
}

static dnn_shape shape_of_x(const aq_layer_spec *spec, size_t rows)
{
    const aq_conv_shape *conv = &spec->conv;
    return (spec->kind == AQ_LAYER_CONV2D)
               ? shape_of_images(rows, conv->channels, conv->height, conv->width)
               : shape_of(rows, spec->inputs);
}

static dnn_shape shape_of_y(const aq_layer_spec *spec, size_t rows)
{
    const aq_conv_shape *conv = &spec->conv;
    return (spec->kind == AQ_LAYER_CONV2D)
               ? shape_of_images(rows, conv->filters, aq_conv_out_height(conv),
                                 aq_conv_out_width(conv))
               : shape_of(rows, spec->outputs);
}

static dnn_shape shape_of_weights(const aq_layer_spec *spec)
{
    const aq_conv_shape *conv = &spec->conv;
    return (spec->kind == AQ_LAYER_CONV2D)
               ? shape_of_images(conv->filters, conv->channels, conv->kernel, conv->kernel)
               : shape_of(spec->outputs, spec->inputs);
}

/* Of any layout with `any`. */
static dnnl_memory_desc_t describe_memory(dnnl_data_type_t type, dnn_shape shape, bool any)
{
    static const dnnl_format_tag_t tags[] = {[1] = dnnl_a, [2] = dnnl_ab, [IMAGE_RANK] = dnnl_acdb};
    dnnl_memory_desc_t memory;
    memset(&memory, 0, sizeof(memory));
    /* Can fail on sizes that are negative only. */
    (void)dnnl_memory_desc_init_by_tag(&memory, shape.rank, shape.sizes, type,
                                       any ? dnnl_format_tag_any : tags[shape.rank]);
    return memory;
}

static dnnl_memory_desc_t describe_bias(const aq_layer_spec *spec)
{
    return describe_memory(
        dnnl_f32, (dnn_shape){.rank = 1, .sizes = {(dnnl_dim_t)aq_layer_matrix(spec).rows}}, false);
}

/* ---- making it ------------------------------------------------------------------------------ */

static int make_attributes(const dnn_parameters *from, const aq_layer_spec *spec,
                           dnnl_primitive_attr_t *ret_attributes, aq_error *error)
{
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_post_ops_t after = NULL;
    int rc = check(dnnl_primitive_attr_create(&attributes), "attributes", error);
    if (rc == 0 && from->output_scale != NULL) {
        rc = check(dnnl_primitive_attr_set_output_scales(attributes,
                                                         (dnnl_dim_t)aq_layer_matrix(spec).rows,
                                                         OUTPUTS_MASK, from->output_scale),
                   "output scales", error);
    }
    if (rc == 0 && spec->activation == AQ_ACTIVATION_RELU) {
        rc = check(dnnl_post_ops_create(&after), "post-operations", error);
        rc = rc != 0 ? rc
                     : check(dnnl_post_ops_append_eltwise(after, 1.0f, dnnl_eltwise_relu, 0, 0),
                             "ReLU", error);
        rc = rc != 0 ? rc
                     : check(dnnl_primitive_attr_set_post_ops(attributes, after), "ReLU", error);
        (void)dnnl_post_ops_destroy(after);
    }
    if (rc != 0) {
        (void)dnnl_primitive_attr_destroy(attributes);
        return rc;
    }
    *ret_attributes = attributes;
    return 0;
}

typedef union dnn_operation {
    dnnl_inner_product_desc_t product;
    dnnl_convolution_desc_t convolution;
} dnn_operation;

static dnnl_status_t describe_operation(const aq_layer_spec *spec, const dnnl_memory_desc_t *x,
                                        const dnnl_memory_desc_t *weights,
                                        const dnnl_memory_desc_t *bias, const dnnl_memory_desc_t *y,
                                        dnn_operation *ret_operation)
{
    const dnnl_dims_t strides = {spec->conv.stride, spec->conv.stride};
    const dnnl_dims_t padding = {spec->conv.padding, spec->conv.padding};
    return (spec->kind == AQ_LAYER_CONV2D)
               ? dnnl_convolution_forward_desc_init(&ret_operation->convolution,
                                                    dnnl_forward_inference, dnnl_convolution_direct,
                                                    x, weights, bias, y, strides, padding, padding)
               : dnnl_inner_product_forward_desc_init(&ret_operation->product,
                                                      dnnl_forward_inference, x, weights, bias, y);
}

/* The primitive, and the layout that it wants the weights in. */
static int make_primitive(dnn_chain *chain, dnn_layer *layer, const aq_layer_spec *spec,
                          const dnn_parameters *from, dnnl_memory_desc_t *ret_weights,
                          aq_error *error)
{
    const size_t rows = chain->problem->rows;
    const dnnl_memory_desc_t x = describe_memory(from->x_type, shape_of_x(spec, rows), false);
    const dnnl_memory_desc_t y = describe_memory(from->y_type, shape_of_y(spec, rows), false);
    const dnnl_memory_desc_t bias = describe_bias(spec);
    const dnnl_memory_desc_t weights =
        describe_memory(from->weights_type, shape_of_weights(spec), true);
    dnn_operation operation;
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_primitive_desc_t description = NULL;

    int rc = make_attributes(from, spec, &attributes, error);
    if (rc != 0) {
        return rc;
    }
    rc = check(describe_operation(spec, &x, &weights, &bias, &y, &operation), "layer", error);
    rc = rc != 0 ? rc
                 : check(dnnl_primitive_desc_create(&description, &operation, attributes,
                                                    chain->engine, NULL),
                         "layer", error);
    if (rc == 0) {
        *ret_weights = *dnnl_primitive_desc_query_md(description, dnnl_query_weights_md, 0);
        rc = check(dnnl_primitive_create(&layer->primitive, description), "primitive", error);
        (void)dnnl_primitive_desc_destroy(description);
    }
    (void)dnnl_primitive_attr_destroy(attributes);
    return rc;
}

static int make_memory(dnn_chain *chain, const dnnl_memory_desc_t *description, void *bytes,
                       dnnl_memory_t *ret_memory, aq_error *error)
{
    if (bytes == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "onednn: no memory for a network");
    }
    return check(dnnl_memory_create(ret_memory, description, chain->engine, bytes), "memory",
                 error);
}

/* Brings the weights into the layout wanted. */
static int reorder(dnn_chain *chain, dnn_layer *layer, const aq_layer_spec *spec,
                   const dnn_parameters *from, const dnnl_memory_desc_t *wanted, aq_error *error)
{
    const dnnl_memory_desc_t plain =
        describe_memory(from->weights_type, shape_of_weights(spec), false);
    dnnl_memory_t source = NULL;
    dnnl_primitive_desc_t description = NULL;
    dnnl_primitive_t primitive = NULL;
    /* The library takes no constant, and writes nothing here. */
    void *weights = (void *)(uintptr_t)from->weights;
    int rc = make_memory(chain, &plain, weights, &source, error);
    rc = rc != 0 ? rc
                 : check(dnnl_reorder_primitive_desc_create(&description, &plain, chain->engine,
                                                            wanted, chain->engine, NULL),
                         "reorder", error);
    if (rc == 0) {
        rc = check(dnnl_primitive_create(&primitive, description), "reorder", error);
        (void)dnnl_primitive_desc_destroy(description);
    }
    if (rc == 0) {
        const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, source},
                                             {DNNL_ARG_TO, layer->weights}};
        rc =
            check(dnnl_primitive_execute(primitive, chain->stream, 2, arguments), "reorder", error);
        (void)dnnl_stream_wait(chain->stream);
        (void)dnnl_primitive_destroy(primitive);
    }
    (void)dnnl_memory_destroy(source);
    return rc;
}

static int make_layer(dnn_chain *chain, uint32_t index, const dnn_parameters *from, aq_error *error)
{
    const aq_layer_spec *spec = &chain->problem->spec.layers[index];
    const size_t rows = chain->problem->rows;
    dnn_layer *layer = &chain->layers[index];
    dnnl_memory_desc_t weights;
    int rc = make_primitive(chain, layer, spec, from, &weights, error);
    if (rc != 0) {
        return rc;
    }
    const size_t outputs = aq_layer_matrix(spec).rows;
    const dnnl_memory_desc_t bias = describe_bias(spec);
    const dnnl_memory_desc_t x = describe_memory(from->x_type, shape_of_x(spec, rows), false);
    const dnnl_memory_desc_t y = describe_memory(from->y_type, shape_of_y(spec, rows), false);
    layer->weights_bytes = aq_alloc(1, dnnl_memory_desc_get_size(&weights));
    layer->bias_bytes = aq_alloc(outputs, sizeof(float));
    layer->y_bytes = aq_alloc(1, dnnl_memory_desc_get_size(&y));
    if (layer->bias_bytes != NULL) {
        memcpy(layer->bias_bytes, from->bias, outputs * sizeof(float));
    }
    rc = make_memory(chain, &weights, layer->weights_bytes, &layer->weights, error);
    rc = rc != 0 ? rc : make_memory(chain, &bias, layer->bias_bytes, &layer->bias, error);
    rc = rc != 0 ? rc : make_memory(chain, &y, layer->y_bytes, &layer->y, error);
    rc = rc != 0 ? rc
                 : make_memory(chain, &x,
                               index == 0 ? chain->x_bytes : chain->layers[index - 1].y_bytes,
                               &layer->x, error);
    rc = rc != 0 ? rc : reorder(chain, layer, spec, from, &weights, error);
    layer->arguments[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, layer->x};
    layer->arguments[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, layer->weights};
    layer->arguments[2] = (dnnl_exec_arg_t){DNNL_ARG_BIAS, layer->bias};
    layer->arguments[3] = (dnnl_exec_arg_t){DNNL_ARG_DST, layer->y};
    return rc;
}

static int make_layer_fp32(dnn_chain *chain, uint32_t index, aq_error *error)
{
    const dnn_parameters parameters = {
        .x_type = dnnl_f32,
        .weights_type = dnnl_f32,
        .y_type = dnnl_f32,
        .weights = chain->problem->params.weight[index],
        .bias = chain->problem->params.bias[index],
    };
    return make_layer(chain, index, &parameters, error);
}

/* ---- int8 ----------------------------------------------------------------------------------- */

static float input_scale(const aq_bench_problem *problem, uint32_t layer)
{
    return (problem->high[layer] - problem->low[layer]) / 255.0f;
}

enum {
    VNNI = (dnnl_cpu_isa_avx2_vnni & ~dnnl_cpu_isa_avx2) |
           (dnnl_cpu_isa_avx512_core_vnni & ~dnnl_cpu_isa_avx512_core),
};

/* w (inputs) ~ scale * q (inputs); returns sum_i q[i]. */
static int32_t quantize_row(const float *weights, uint32_t inputs, int8_t *q, float *ret_scale)
{
    const float levels = (dnnl_get_effective_cpu_isa() & VNNI) != 0 ? 127.0f : 63.0f;
    float greatest = 0.0f;
    int32_t sum = 0;
    for (uint32_t i = 0; i < inputs; i++) {
        greatest = fmaxf(greatest, fabsf(weights[i]));
    }
    const float scale = greatest > 0.0f ? greatest / levels : 1.0f;
    for (uint32_t i = 0; i < inputs; i++) {
        q[i] = (int8_t)lrintf(weights[i] / scale);
        sum += q[i];
    }
    *ret_scale = scale;
    return sum;
}

static int make_layer_int8(dnn_chain *chain, uint32_t index, aq_error *error)
{
    const aq_bench_problem *problem = chain->problem;
    const aq_layer_spec *spec = &problem->spec.layers[index];
    const bool last = index + 1 == problem->spec.layer_count;
    const float x_scale = input_scale(problem, index);
    const float y_scale = last ? 1.0f : input_scale(problem, index + 1);
    const float x_zero = rintf(-problem->low[index] / x_scale);
    const aq_layer_matrix_shape matrix = aq_layer_matrix(spec);
    int8_t *q = aq_alloc((size_t)matrix.columns * matrix.rows, 1);
    float *bias = aq_alloc(matrix.rows, sizeof(float));
    float *scale = aq_alloc(matrix.rows, sizeof(float));
    int rc = AQ_E_NOMEM;
    if (q == NULL || bias == NULL || scale == NULL) {
        (void)aq_fail(error, rc, "onednn: no memory for a layer");
        goto out;
    }
    for (uint32_t o = 0; o < matrix.rows; o++) {
        const size_t row = (size_t)o * matrix.columns;
        float weight_scale;
        const int32_t sum = quantize_row(problem->params.weight[index] + row, matrix.columns,
                                         q + row, &weight_scale);
        bias[o] = problem->params.bias[index][o] / (x_scale * weight_scale) - x_zero * (float)sum;
        scale[o] = x_scale * weight_scale / y_scale;
    }
    const dnn_parameters parameters = {
        .x_type = dnnl_u8,
        .weights_type = dnnl_s8,
        .y_type = last ? dnnl_f32 : dnnl_u8,
        .weights = q,
        .bias = bias,
        .output_scale = scale,
    };
    rc = make_layer(chain, index, &parameters, error);

out:
    aq_free(q);
    aq_free(bias);
    aq_free(scale);
    return rc;
}

/* The observations as bytes. */
static void quantize_obs(const dnn_chain *chain)
{
    const size_t count = chain->problem->rows * aq_net_spec_inputs(&chain->problem->spec);
    const float inverse = 1.0f / chain->x_scale;
    uint8_t *q = chain->x_bytes;
    for (size_t i = 0; i < count; i++) {
        const float level = rintf(chain->problem->obs[i] * inverse) + chain->x_zero;
        q[i] = (uint8_t)(level < 0.0f ? 0.0f : level > 255.0f ? 255.0f : level);
    }
}

/* ---- the peer ------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    dnn_chain *chain = self;
    if (chain == NULL) {
        return;
    }
    for (uint32_t i = 0; i < chain->problem->spec.layer_count; i++) {
        dnn_layer *layer = &chain->layers[i];
        (void)dnnl_primitive_destroy(layer->primitive);
        (void)dnnl_memory_destroy(layer->weights);
        (void)dnnl_memory_destroy(layer->bias);
        (void)dnnl_memory_destroy(layer->x);
        (void)dnnl_memory_destroy(layer->y);
        aq_free(layer->weights_bytes);
        aq_free(layer->bias_bytes);
        aq_free(layer->y_bytes);
    }
    (void)dnnl_stream_destroy(chain->stream);
    (void)dnnl_engine_destroy(chain->engine);
    aq_free(chain->x_bytes);
    aq_free(chain);
}

static int create(const aq_bench_problem *problem, bool is_int8, void **ret_self, aq_error *error)
{
    const size_t values = problem->rows * aq_net_spec_inputs(&problem->spec);
    dnn_chain *chain = aq_alloc(1, sizeof(*chain));
    if (chain == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "onednn: no memory for a network");
    }
    chain->problem = problem;
    chain->is_int8 = is_int8;
    chain->x_scale = input_scale(problem, 0);
    chain->x_zero = rintf(-problem->low[0] / chain->x_scale);
    chain->x_bytes = aq_alloc(values, sizeof(float));
    int rc = check(dnnl_engine_create(&chain->engine, dnnl_cpu, 0), "engine", error);
    rc = rc != 0
             ? rc
             : check(dnnl_stream_create(&chain->stream, chain->engine, dnnl_stream_default_flags),
                     "stream", error);
    for (uint32_t i = 0; rc == 0 && i < problem->spec.layer_count; i++) {
        rc = is_int8 ? make_layer_int8(chain, i, error) : make_layer_fp32(chain, i, error);
    }
    if (rc != 0) {
        destroy(chain);
        return rc;
    }
    if (is_int8) {
        quantize_obs(chain);
    } else {
        memcpy(chain->x_bytes, problem->obs, values * sizeof(float));
    }
    *ret_self = chain;
    return 0;
}

static int create_fp32(const aq_bench_problem *problem, void **ret_self, aq_error *error)
{
    return create(problem, false, ret_self, error);
}

static int create_int8(const aq_bench_problem *problem, void **ret_self, aq_error *error)
{
    return create(problem, true, ret_self, error);
}

static void run(void *self)
{
    dnn_chain *chain = self;
    const uint32_t layer_count = chain->problem->spec.layer_count;
    if (chain->is_int8 && layer_count > 1 && chain->problem->bytes == NULL) {
        quantize_obs(chain);
    }
    for (uint32_t i = 0; i < layer_count; i++) {
        /* A failure shows: the result is checked once. */
        (void)dnnl_primitive_execute(chain->layers[i].primitive, chain->stream, ARGUMENTS,
                                     chain->layers[i].arguments);
    }
    (void)dnnl_stream_wait(chain->stream);
}

static const float *result(const void *self)
{
    const dnn_chain *chain = self;
    return chain->layers[chain->problem->spec.layer_count - 1].y_bytes;
}

static void describe(char *out, size_t size)
{
    const dnnl_version_t *version = dnnl_version();
    (void)snprintf(out, size, "oneDNN %d.%d.%d, instruction set 0x%x", version->major,
                   version->minor, version->patch, (unsigned)dnnl_get_effective_cpu_isa());
}

const aq_bench_peer aq_bench_peer_onednn_fp32 = {
    .name = "onednn-fp32",
    .library = "onednn",
    .convolves = true,
    .describe = describe,
    .create = create_fp32,
    .run = run,
    .result = result,
    .destroy = destroy,
};

const aq_bench_peer aq_bench_peer_onednn_int8 = {
    .name = "onednn-int8",
    .library = "onednn",
    .convolves = true,
    .is_integer = true,
    .describe = describe,
    .create = create_int8,
    .run = run,
    .result = result,
    .destroy = destroy,
};
