/*
 * The kinds of layers but for conv2d, and the table of them all.
 *
 * Activations with vectors of their own (tanh, ELU) are a second walk over the layer's output while
 * it is in the first cache; ReLU is the kernels' own.
 */
#include "quantizer/engine/engine_layer.h"

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/nn/forward.h"

/* ---- linear --------------------------------------------------------------------------------- */

void aq_engine_quantize(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                        const aq_const_rows *x, size_t rows, uint32_t width)
{
    const aq_qkernels *kernels = layer->tables->kernels;
    if (layer->input_quant.scale == 0.0f) {
        kernels->quantize_rows(x->values, x->stride, rows, width, scratch->q, scratch->q_stride,
                               scratch->quant);
        return;
    }
    if (kernels->quantize_rows_static == NULL) {
        kernels = aq_qkernels_scalar();
    }
    kernels->quantize_rows_static(x->values, x->stride, rows, width, layer->input_quant, scratch->q,
                                  scratch->q_stride, scratch->quant);
}

static void run_linear(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                       const aq_const_rows *x, const aq_float_rows *y)
{
    const aq_packed_layer *packed = &layer->packed;
    const aq_kernel_input input = {
        .x = x->values,
        .x_stride = x->stride,
        .q = scratch->q,
        .q_stride = scratch->q_stride,
        .quant = scratch->quant,
        .rows = y->rows,
    };
    if (layer->kernel->quantizes_input) {
        aq_engine_quantize(layer, scratch, x, y->rows, packed->inputs);
        aq_engine_set_offsets(layer, scratch->q, scratch->q_stride, y->rows, scratch->quant);
    }
    layer->kernel->run(packed, &input, y->values, y->stride);
    if (packed->activation > AQ_ACTIVATION_RELU) {
        layer->tables->passes->activate(packed->activation, y, packed->outputs);
    }
}

static int init_matrix(const aq_snapshot_layer *from, aq_engine_layer *layer)
{
    layer->kernel = aq_qkernels_linear(layer->tables->kernels, from->format);
    if (layer->kernel == NULL) {
        return AQ_E_UNSUPPORTED;
    }
    layer->input_quant = (aq_row_quant){.scale = from->input_scale, .zero_point = from->input_zero};
    layer->weight_zero = from->weight_zero;
    return aq_packed_layer_init(layer->tables->kernels, layer->spec, from, &layer->packed);
}

/* ---- norm and heads ------------------------------------------------------------------------- */

static int init_norm(const aq_snapshot_layer *from, aq_engine_layer *layer)
{
    layer->gain = from->weights;
    layer->bias = from->bias;
    return 0;
}

static void run_norm(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                     const aq_const_rows *x, const aq_float_rows *y)
{
    const aq_layer_spec *spec = layer->spec;
    (void)scratch;
    layer->tables->passes->norm(x, spec->inputs, layer->gain, layer->bias, y);
    layer->tables->passes->activate(spec->activation, y, spec->outputs);
}

static int init_dueling(const aq_snapshot_layer *from, aq_engine_layer *layer)
{
    (void)from;
    (void)layer;
    return 0;
}

static void run_dueling(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                        const aq_const_rows *x, const aq_float_rows *y)
{
    (void)scratch;
    layer->tables->passes->dueling(x, &layer->spec->head, y);
}

static int init_categorical(const aq_snapshot_layer *from, aq_engine_layer *layer)
{
    const aq_head_shape *head = &layer->spec->head;
    (void)from;
    layer->atoms = aq_alloc(head->atoms, sizeof(*layer->atoms));
    if (layer->atoms == NULL) {
        return AQ_E_NOMEM;
    }
    for (uint32_t k = 0; k < head->atoms; k++) {
        layer->atoms[k] = aq_head_atom(head, k);
    }
    return 0;
}

static void run_categorical(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                            const aq_const_rows *x, const aq_float_rows *y)
{
    (void)scratch;
    layer->tables->passes->categorical(x, &layer->spec->head, layer->atoms, y);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static const struct kind_row {
    int (*init)(const aq_snapshot_layer *from, aq_engine_layer *layer);
    aq_engine_run *run;
} kinds[] = {
    [AQ_LAYER_LINEAR] = {init_matrix, run_linear},
    [AQ_LAYER_CONV2D] = {init_matrix, aq_engine_run_conv},
    [AQ_LAYER_NORM] = {init_norm, run_norm},
    [AQ_LAYER_DUELING] = {init_dueling, run_dueling},
    [AQ_LAYER_CATEGORICAL] = {init_categorical, run_categorical},
};

int aq_engine_layer_init(const aq_engine_tables *tables, const aq_layer_spec *spec,
                         const aq_snapshot_layer *layer, aq_engine_layer *ret_layer)
{
    AQ_ASSERT(spec->kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[spec->kind].init != NULL);
    const struct kind_row *kind = &kinds[spec->kind];
    aq_engine_layer made = {.spec = spec, .tables = tables, .run = kind->run};
    int rc = kind->init(layer, &made);
    if (rc != 0) {
        return rc;
    }
    *ret_layer = made;
    return 0;
}

void aq_engine_layer_fini(aq_engine_layer *layer)
{
    aq_packed_layer_fini(&layer->packed);
    aq_free(layer->atoms);
    *layer = (aq_engine_layer){0};
}

aq_engine_need aq_engine_layer_need(const aq_engine_layer *layer, size_t rows_max)
{
    const bool is_conv = layer->spec->kind == AQ_LAYER_CONV2D;
    aq_engine_need need = {0};
    if (layer->kernel != NULL && layer->kernel->quantizes_input) {
        need.q_row_bytes = layer->spec->inputs;
        need.q_rows = is_conv ? 1 : rows_max;
    }
    if (is_conv) {
        need.patches_bytes = AQ_ENGINE_BLOCK * aq_engine_patch_bytes(layer);
    }
    return need;
}
