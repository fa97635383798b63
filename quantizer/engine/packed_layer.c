/*
 * Packing one layer. The weights and the padded arrays lie in one block, each on a cache line of
 * its own, so that every kernel can use aligned loads.
 */
#include "quantizer/engine/packed_layer.h"

#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"

/* One an output, also where the layer has one for all of them. */
static void copy_scales(const aq_snapshot_layer *layer, size_t outputs, float *scale)
{
    for (size_t o = 0; o < outputs; o++) {
        scale[o] = layer->scale[layer->sizes.scales == 1 ? 0 : o];
    }
}

/* Where a layer's arrays lie in its block. */
typedef struct block_plan {
    size_t bytes;
    size_t weights_at, weights_bytes;
    size_t bias_at; /* and from here to the end all that is an array of outputs */
    size_t scale_at, sum_at;
} block_plan;

static block_plan plan_block(const aq_linear_kernel *kernel, const aq_snapshot_layer *layer,
                             const aq_layer_matrix_shape *matrix)
{
    const size_t outputs = matrix->rows;
    const size_t padded = (outputs + AQ_QKERNEL_OUTPUT_PADDING - 1) / AQ_QKERNEL_OUTPUT_PADDING *
                          AQ_QKERNEL_OUTPUT_PADDING;
    block_plan plan = {0};
    plan.weights_bytes = kernel->packed_bytes(layer, matrix->columns, matrix->rows);
    plan.weights_at = aq_arrays_add(&plan.bytes, plan.weights_bytes, 1);
    plan.bias_at = aq_arrays_add(&plan.bytes, padded, sizeof(float));
    plan.scale_at = aq_arrays_add(&plan.bytes, padded, sizeof(float));
    plan.sum_at = aq_arrays_add(&plan.bytes, padded, sizeof(int32_t));
    return plan;
}

int aq_packed_layer_init(const aq_qkernels *kernels, const aq_layer_spec *spec,
                         const aq_snapshot_layer *layer, aq_packed_layer *ret_packed)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(spec);
    AQ_ASSERT(aq_layer_is_quantizable(spec));
    AQ_ASSERT(matrix.columns <= AQ_QKERNEL_INPUTS_MAX);
    const aq_linear_kernel *kernel = aq_qkernels_linear(kernels, layer->format);
    if (kernel == NULL) {
        return AQ_E_UNSUPPORTED;
    }
    const block_plan plan = plan_block(kernel, layer, &matrix);
    unsigned char *block = aq_alloc_unset(1, plan.bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }

    if (!kernel->pack_writes_all) {
        memset(block + plan.weights_at, 0, plan.weights_bytes);
    }
    memset(block + plan.bias_at, 0, plan.bytes - plan.bias_at);
    kernel->pack(layer, matrix.columns, matrix.rows, block + plan.weights_at);
    memcpy(block + plan.bias_at, layer->bias, matrix.rows * sizeof(float));
    if (layer->sum != NULL) {
        copy_scales(layer, matrix.rows, (float *)(void *)(block + plan.scale_at));
        memcpy(block + plan.sum_at, layer->sum, matrix.rows * sizeof(int32_t));
    }
    *ret_packed = (aq_packed_layer){
        .inputs = matrix.columns,
        .outputs = matrix.rows,
        .activation = spec->activation,
        .format = layer->format,
        .weights = block + plan.weights_at,
        .scale = (const float *)(const void *)(block + plan.scale_at),
        .sum = (const int32_t *)(const void *)(block + plan.sum_at),
        .bias = (const float *)(const void *)(block + plan.bias_at),
        .block = block,
    };
    return 0;
}

void aq_packed_layer_fini(aq_packed_layer *packed)
{
    aq_free(packed->block);
    *packed = (aq_packed_layer){0};
}
