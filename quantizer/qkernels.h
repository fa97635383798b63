/*
 * Kernels: the ladder. A scalar reference, never deleted, and faster rungs above it that overwrite
 * it when the processor (and ACTORQ_CPU) allow. Chosen once. All rungs give the same integers, so
 * the same bits: activations are quantized with one rounding rule (ties to even), the dot products
 * are exact in int32, and the epilogue is one multiply and one add, each rounded once.
 *
 *   x (rows, inputs) fp32 -> per row: s = (max - min) / 255 over min <= 0 <= max, z = rint(-min/s)
 *   qx = clamp(rint(x / s) + z, 0, 255)
 *   y[o] = s * scale[o] * (sum_i qx[i] qw[o][i] - z * sum[o]) + bias[o], then the activation
 */
#ifndef AQ_QUANTIZER_QKERNELS_H
#define AQ_QUANTIZER_QKERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

/* The largest `inputs` for which 255 * 127 * inputs stays in int32. */
#define AQ_QKERNEL_INPUTS_MAX UINT32_C(65536)

typedef struct aq_row_quant {
    float scale;
    int32_t zero_point;
} aq_row_quant;

/* A layer packed for one rung; the layout is the rung's own affair. */
typedef struct aq_packed_layer {
    uint32_t inputs, outputs;
    uint32_t activation;
    uint32_t format;
    void *weights;     /* packed; aq_alloc'd */
    float *scale;      /* padded like the outputs are */
    int32_t *sum;
    float *bias;
} aq_packed_layer;

typedef struct aq_qkernels {
    const char *name; /* "scalar", "avx2", "avx512vnni" */

    /* q (inputs rounded up to 64, padding zeroed) and its scale and zero point, from one row. */
    aq_row_quant (*quantize_row)(const float *x, uint32_t inputs, uint8_t *q);

    /* Bytes that the packed weights take, and the packing itself. */
    size_t (*packed_bytes_int8)(uint32_t inputs, uint32_t outputs);
    void (*pack_int8)(const int8_t *weights, uint32_t inputs, uint32_t outputs, void *packed);

    /* Without the activation, which aq_engine applies with one shared routine. */
    void (*linear_int8)(const aq_packed_layer *layer, const uint8_t *q, size_t q_stride,
                        const aq_row_quant *rows_quant, size_t rows, float *y, size_t y_stride);

    size_t (*packed_bytes_f32)(uint32_t inputs, uint32_t outputs);
    void (*pack_f32)(const float *weights, uint32_t inputs, uint32_t outputs, void *packed);
    void (*linear_f32)(const aq_packed_layer *layer, const float *x, size_t x_stride, size_t rows,
                       float *y, size_t y_stride);
} aq_qkernels;

/* The best rung under `cpu_flags` (aq_cpu_flags()). Static storage. */
const aq_qkernels *aq_qkernels_select(uint32_t cpu_flags);

/* The scalar reference. */
const aq_qkernels *aq_qkernels_scalar(void);

#endif
