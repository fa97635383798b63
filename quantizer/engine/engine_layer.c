/*
 * The table of the kinds of layers, and what those with a matrix share.
 *
 * Activations with vectors of their own (tanh, ELU) are a second walk over the layer's output while
 * it is in the first cache; ReLU is the kernels' own.
 */
#include "quantizer/engine/engine_layer.h"

#include "common/base/assert.h"
#include "common/base/memory.h"

#define DECLARE(number, NAME, name) extern const aq_engine_kind aq_engine_##name;
AQ_LAYER_KINDS(DECLARE)
#undef DECLARE

int aq_engine_layer_init(const aq_engine_tables *tables, const aq_layer_spec *spec,
                         const aq_snapshot_layer *stored, aq_engine_layer *ret_layer)
{
#define ROW(number, NAME, name) [number] = &aq_engine_##name,
    static const aq_engine_kind *const kinds[] = {AQ_LAYER_KINDS(ROW)};
#undef ROW
    AQ_ASSERT(spec->kind < AQ_LAYER_KINDS_END);
    aq_engine_layer made = {
        .spec = spec, .stored = stored, .tables = tables, .kind = kinds[spec->kind]};
    int rc = made.kind->init != NULL ? made.kind->init(&made) : 0;
    if (rc != 0) {
        aq_engine_layer_fini(&made);
        return rc;
    }
    *ret_layer = made;
    return 0;
}

void aq_engine_layer_fini(aq_engine_layer *layer)
{
    aq_packed_layer_fini(&layer->matrix.packed);
    aq_free(layer->own);
    *layer = (aq_engine_layer){0};
}

aq_engine_need aq_engine_layer_need(const aq_engine_layer *layer, size_t rows_max)
{
    return layer->kind->need != NULL ? layer->kind->need(layer, rows_max) : (aq_engine_need){0};
}

/* ---- matrices ------------------------------------------------------------------------------- */

int aq_engine_matrix_init(aq_engine_layer *layer, uint32_t activation)
{
    aq_engine_matrix *matrix = &layer->matrix;
    const aq_snapshot_layer *stored = layer->stored;
    matrix->kernel = aq_qkernels_linear(layer->tables->kernels, stored->format);
    int rc = aq_packed_layer_init(layer->tables->kernels, layer->spec, stored,
                                  matrix->pieces > 0 ? matrix->pieces : 1, &matrix->packed);
    matrix->packed.activation = activation;
    return rc;
}

aq_engine_need aq_engine_matrix_need(const aq_engine_layer *layer, size_t rows_max)
{
    const aq_engine_matrix *matrix = &layer->matrix;
    return matrix->kernel->quantizes_input
               ? (aq_engine_need){.q_row_bytes = matrix->packed.inputs, .q_rows = rows_max}
               : (aq_engine_need){0};
}

void aq_engine_quantize(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                        const aq_const_rows *x, size_t rows, uint32_t width)
{
    const aq_qkernels *kernels = layer->tables->kernels;
    const aq_row_quant quant = {.scale = layer->stored->input_scale,
                                .zero_point = layer->stored->input_zero};
    if (quant.scale == 0.0f) {
        kernels->quantize_rows(x->values, x->stride, rows, width, scratch->q, scratch->q_stride,
                               scratch->quant);
        return;
    }
    kernels->quantize_rows_static(x->values, x->stride, rows, width, quant, scratch->q,
                                  scratch->q_stride, scratch->quant);
}

void aq_engine_set_offsets(const aq_engine_layer *layer, const uint8_t *q, size_t q_stride,
                           size_t rows, aq_row_quant *quant)
{
    const int32_t weight_zero = layer->stored->weight_zero;
    const int32_t inputs = (int32_t)layer->matrix.packed.inputs;
    for (size_t row = 0; weight_zero != 0 && row < rows; row++) {
        const int32_t sum = layer->tables->passes->level_sum(q + row * q_stride, (size_t)inputs);
        quant[row].offset = -weight_zero * (sum - inputs * quant[row].zero_point);
    }
}
