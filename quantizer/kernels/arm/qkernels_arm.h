/*
 * The rungs for Arm of 64 bits. Each is one constant table in a small static library of its own,
 * which alone sees the flags of its instruction set; nothing of it may run before the processor's
 * flags are checked.
 */
#ifndef AQ_QUANTIZER_KERNELS_ARM_QKERNELS_ARM_H
#define AQ_QUANTIZER_KERNELS_ARM_QKERNELS_ARM_H

#include "quantizer/kernels/qkernels.h"

/* What every processor of 64 bits has. */
extern const aq_qkernels aq_qkernels_neon;

/* With the dot product of bytes: 16 exact multiply-adds an instruction. Else as the former. */
extern const aq_qkernels aq_qkernels_neondot;

/* The formats, each in a file of its own, for the tables above. */
extern const aq_linear_kernel aq_f32_neon;
extern const aq_linear_kernel aq_f16_neon;
extern const aq_linear_kernel aq_bf16_neon;
extern const aq_linear_kernel aq_int8_neon;
extern const aq_linear_kernel aq_int8_neondot;

/* quantize_rows_neon.c */
void aq_quantize_rows_neon(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                           uint8_t *q, size_t q_stride, aq_row_quant *ret_quant);
void aq_quantize_rows_static_neon(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                                  aq_row_quant quant, uint8_t *q, size_t q_stride,
                                  aq_row_quant *ret_quant);

#endif
