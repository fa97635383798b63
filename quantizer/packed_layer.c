/*
 * Packing one layer. The weights and the padded arrays lie in one block, each on a cache line of
 * its own, so that every kernel can use aligned loads.
 */
#include "quantizer/packed_layer.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/rl/columns.h"

int aq_packed_layer_init(const aq_qkernels *kernels, const aq_layer_spec *spec,
                         const aq_snapshot_layer *layer, aq_packed_layer *ret_packed)
{
    AQ_ASSERT(spec->kind == AQ_LAYER_LINEAR);
    AQ_ASSERT(spec->inputs <= AQ_QKERNEL_INPUTS_MAX);
    const aq_linear_kernel *kernel = aq_qkernels_linear(kernels, layer->format);
    if (kernel == NULL) {
        return AQ_E_UNSUPPORTED;
    }

    const size_t outputs = spec->outputs;
    const size_t padded = (outputs + AQ_QKERNEL_OUTPUT_PADDING - 1) / AQ_QKERNEL_OUTPUT_PADDING *
                          AQ_QKERNEL_OUTPUT_PADDING;
    size_t bytes = 0;
    const size_t weights_at =
        aq_columns_add(&bytes, kernel->packed_bytes(spec->inputs, spec->outputs), 1);
    const size_t bias_at = aq_columns_add(&bytes, padded, sizeof(float));
    const size_t scale_at = aq_columns_add(&bytes, padded, sizeof(float));
    const size_t sum_at = aq_columns_add(&bytes, padded, sizeof(int32_t));
    unsigned char *block = aq_alloc(1, bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }

    kernel->pack(layer->weights, spec->inputs, spec->outputs, block + weights_at);
    memcpy(block + bias_at, layer->bias, outputs * sizeof(float));
    if (layer->scale != NULL) {
        memcpy(block + scale_at, layer->scale, outputs * sizeof(float));
        memcpy(block + sum_at, layer->sum, outputs * sizeof(int32_t));
    }
    *ret_packed = (aq_packed_layer){
        .inputs = spec->inputs,
        .outputs = spec->outputs,
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
