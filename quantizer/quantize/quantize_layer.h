/*
 * Quantizing one layer: what the files of the families of formats share. A format joins by a row in
 * quantize.c.
 *
 * Private to the quantizer. No state; any thread.
 */
#ifndef AQ_QUANTIZER_QUANTIZE_QUANTIZE_LAYER_H
#define AQ_QUANTIZER_QUANTIZE_QUANTIZE_LAYER_H

#include "common/policy/half.h"
#include "quantizer/quantize/quantize.h"

typedef struct aq_quantize_layer {
    const aq_quantize_plan *plan;
    uint32_t index;
    aq_layer_matrix_shape matrix;
    const float *weights;              /* finite */
    const aq_snapshot_layer *previous; /* of the same format and shape; NULL: none */
    aq_snapshot_layer *view;           /* for what is no tensor */
    aq_snapshot_layer_data to;         /* zeroed */
    aq_error *error;
} aq_quantize_layer;

/* Each fills the layer's weights, scale, sum and mask; AQ_E_CORRUPT in words. */
int aq_quantize_f32(const aq_quantize_layer *layer) AQ_MUST_USE;
int aq_quantize_f16(const aq_quantize_layer *layer) AQ_MUST_USE;
int aq_quantize_bf16(const aq_quantize_layer *layer) AQ_MUST_USE;
int aq_quantize_int8(const aq_quantize_layer *layer) AQ_MUST_USE;
int aq_quantize_int8_tensor(const aq_quantize_layer *layer) AQ_MUST_USE;
int aq_quantize_int4(const aq_quantize_layer *layer) AQ_MUST_USE;
int aq_quantize_int2(const aq_quantize_layer *layer) AQ_MUST_USE;
int aq_quantize_sparse(const aq_quantize_layer *layer) AQ_MUST_USE; /* or AQ_E_NOMEM */

/* Blocks that an int8-sparse layer keeps: the share, rounded, but one a row of blocks at least. */
size_t aq_sparse_block_count(const aq_layer_matrix_shape *matrix, float density);

/* ---- scales --------------------------------------------------------------------------------- */

/* The scale of weights whose greatest magnitude is `greatest`, in levels from -level_max to
 * level_max: `kept`, the previous snapshot's (0: it has none), while it is good enough, else a new
 * one (quantize.h). 0 when it would not be a normal float. */
float aq_quantize_scale(float greatest, int32_t level_max, float kept);

/* rint(weight / scale), ties to even, brought into [level_min, level_max], of at most 22 bits.
 * Adding 1.5 * 2^23 leaves a float no digits behind the point, so its last bits are the level: what
 * lrintf does, but in a way that compilers vectorize on every processor. */
static inline int32_t aq_quantize_level(float weight, float scale, int32_t level_min,
                                        int32_t level_max)
{
    const float point = 0x1.8p23f;
    const float level = weight / scale;
    const float above = level < (float)level_min ? (float)level_min : level;
    const float within = above > (float)level_max ? (float)level_max : above;
    return (int32_t)(aq_f32_to_bits(within + point) - aq_f32_to_bits(point));
}

/* Of finite values. */
float aq_greatest_magnitude(const float *values, size_t count);

#endif
