/*
 * Packing one layer. The weights and the padded arrays lie in one block, each on a cache line of
 * its own, so that every kernel can use aligned loads.
 */
#include "quantizer/packed_layer.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/rl/columns.h"

/* One an output, also where the layer has one for all of them. */
static void copy_scales(const aq_snapshot_layer *layer, size_t outputs, float *scale)
{
    for (size_t o = 0; o < outputs; o++) {
        scale[o] = layer->scale[layer->sizes.scales == 1 ? 0 : o];
    }
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

    const size_t outputs = matrix.rows;
    const size_t padded = (outputs + AQ_QKERNEL_OUTPUT_PADDING - 1) / AQ_QKERNEL_OUTPUT_PADDING *
                          AQ_QKERNEL_OUTPUT_PADDING;
    size_t bytes = 0;
    const size_t weights_at =
        aq_columns_add(&bytes, kernel->packed_bytes(layer, matrix.columns, matrix.rows), 1);
    const size_t bias_at = aq_columns_add(&bytes, padded, sizeof(float));
    const size_t scale_at = aq_columns_add(&bytes, padded, sizeof(float));
    const size_t sum_at = aq_columns_add(&bytes, padded, sizeof(int32_t));
    unsigned char *block = aq_alloc(1, bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }

    kernel->pack(layer, matrix.columns, matrix.rows, block + weights_at);
    memcpy(block + bias_at, layer->bias, outputs * sizeof(float));
    if (layer->sum != NULL) {
        copy_scales(layer, outputs, (float *)(void *)(block + scale_at));
        memcpy(block + sum_at, layer->sum, outputs * sizeof(int32_t));
    }
    *ret_packed = (aq_packed_layer){
        .inputs = matrix.columns,
        .outputs = matrix.rows,
        .activation = spec->activation,
        .format = layer->format,
        .weights = block + weights_at,
        .scale = (const float *)(const void *)(block + scale_at),
        .sum = (const int32_t *)(const void *)(block + sum_at),
        .bias = (const float *)(const void *)(block + bias_at),
        .block = block,
    };
    return 0;
}

void aq_packed_layer_fini(aq_packed_layer *packed)
{
    aq_free(packed->block);
    *packed = (aq_packed_layer){0};
}
