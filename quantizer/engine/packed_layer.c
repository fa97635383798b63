/*
 * Packing one layer. The weights and the padded arrays lie in one block, each on a cache line of
 * its own, so that every kernel can use aligned loads.
 */
#include "quantizer/engine/packed_layer.h"

#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"

enum { PIECE_UNIT = 4 }; /* inputs that a kernel takes at once */

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
    const size_t padded = aq_round_up(outputs, AQ_QKERNEL_OUTPUT_PADDING);
    block_plan plan = {0};
    plan.weights_bytes = kernel->packed_bytes(layer, matrix->columns, matrix->rows);
    plan.weights_at = aq_arrays_add(&plan.bytes, plan.weights_bytes, 1);
    plan.bias_at = aq_arrays_add(&plan.bytes, padded, sizeof(float));
    plan.scale_at = aq_arrays_add(&plan.bytes, padded, sizeof(float));
    plan.sum_at = aq_arrays_add(&plan.bytes, padded, sizeof(int32_t));
    return plan;
}

static int pack_layer(const aq_linear_kernel *kernel, const aq_layer_spec *spec,
                      const aq_snapshot_layer *layer, aq_layer_matrix_shape matrix,
                      aq_packed_layer *ret_packed)
{
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
        .weights = block + plan.weights_at,
        .scale = (const float *)(const void *)(block + plan.scale_at),
        .sum = (const int32_t *)(const void *)(block + plan.sum_at),
        .bias = (const float *)(const void *)(block + plan.bias_at),
        .block = block,
    };
    return 0;
}

/* Weights of a byte in pieces of whole units: zeros are put behind each. */
static int widen_pieces(const aq_snapshot_layer *layer, uint32_t pieces,
                        aq_layer_matrix_shape *matrix, uint8_t **ret_weights)
{
    const size_t piece = matrix->columns / pieces;
    const size_t wide = aq_round_up(piece, PIECE_UNIT);
    const size_t count = (size_t)matrix->rows * pieces;
    uint8_t *weights = aq_alloc(count, wide);
    if (weights == NULL) {
        return AQ_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(weights + i * wide, (const uint8_t *)layer->weights + i * piece, piece);
    }
    matrix->columns = (uint32_t)wide * pieces;
    *ret_weights = weights;
    return 0;
}

int aq_packed_layer_init(const aq_qkernels *kernels, const aq_layer_spec *spec,
                         const aq_snapshot_layer *layer, uint32_t pieces,
                         aq_packed_layer *ret_packed)
{
    aq_layer_matrix_shape matrix = aq_layer_matrix(spec);
    aq_snapshot_layer widened = *layer;
    uint8_t *weights = NULL;
    AQ_ASSERT(aq_layer_is_quantizable(spec));
    AQ_ASSERT(matrix.columns <= AQ_QKERNEL_INPUTS_MAX);
    const aq_linear_kernel *kernel = aq_qkernels_linear(kernels, layer->format);
    AQ_ASSERT(kernel != NULL);
    if (pieces > 1 && matrix.columns / pieces % PIECE_UNIT != 0) {
        int rc = widen_pieces(layer, pieces, &matrix, &weights);
        if (rc != 0) {
            return rc;
        }
        widened.weights = weights;
    }
    int rc = pack_layer(kernel, spec, &widened, matrix, ret_packed);
    aq_free(weights);
    return rc;
}

void aq_packed_layer_fini(aq_packed_layer *packed)
{
    aq_free(packed->block);
    *packed = (aq_packed_layer){0};
}
