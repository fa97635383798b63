/*
 * The x86 rungs. Each is one constant table in a small static library of its own, which alone sees
 * the flags of its instruction set; nothing of it may run before the processor's flags are checked.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_QKERNELS_X86_H
#define AQ_QUANTIZER_KERNELS_X86_QKERNELS_X86_H

#include "quantizer/kernels/qkernels.h"

/* AVX2, FMA and F16C. int8 is brought to where nothing saturates before it is multiplied. */
extern const aq_qkernels aq_qkernels_avx2;

/* AVX2 with the 32 exact multiply-adds an instruction that processors without AVX-512 have. */
extern const aq_qkernels aq_qkernels_avxvnni;

/* AVX-512 (F, BW, DQ, VL) with VNNI: 64 exact multiply-adds an instruction. */
extern const aq_qkernels aq_qkernels_avx512vnni;

/* The same with AMX: 16,384 exact multiply-adds an instruction, for int8 layers of several rows. */
extern const aq_qkernels aq_qkernels_amx;

/* Quantizing rows, for the tables above and for rungs that have nothing better. */
void aq_quantize_rows_avx2(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                           uint8_t *q, size_t q_stride, aq_row_quant *ret_quant);
void aq_quantize_rows_static_avx2(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                                  aq_row_quant quant, uint8_t *q, size_t q_stride,
                                  aq_row_quant *ret_quant);
void aq_quantize_rows_avx512vnni(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                                 uint8_t *q, size_t q_stride, aq_row_quant *ret_quant);
void aq_quantize_rows_static_avx512vnni(const float *x, size_t x_stride, size_t rows,
                                        uint32_t inputs, aq_row_quant quant, uint8_t *q,
                                        size_t q_stride, aq_row_quant *ret_quant);

/* The formats, each in a file of its own that is built for some rungs (lanes_x86.h). */
extern const aq_linear_kernel aq_f32_avx2;
extern const aq_linear_kernel aq_f16_avx2;
extern const aq_linear_kernel aq_bf16_avx2;
extern const aq_linear_kernel aq_int8_avx2;
extern const aq_linear_kernel aq_int8_tensor_avx2;
extern const aq_linear_kernel aq_int4_avx2;
extern const aq_linear_kernel aq_int2_avx2;
extern const aq_linear_kernel aq_sparse_avx2;
extern const aq_linear_kernel aq_int8_avxvnni;
extern const aq_linear_kernel aq_int4_avxvnni;
extern const aq_linear_kernel aq_int2_avxvnni;
extern const aq_linear_kernel aq_sparse_avxvnni;
extern const aq_linear_kernel aq_f32_avx512vnni;
extern const aq_linear_kernel aq_f16_avx512vnni;
extern const aq_linear_kernel aq_bf16_avx512vnni;
extern const aq_linear_kernel aq_int8_avx512vnni;
extern const aq_linear_kernel aq_int4_avx512vnni;
extern const aq_linear_kernel aq_int2_avx512vnni;
extern const aq_linear_kernel aq_sparse_avx512vnni;
extern const aq_linear_kernel aq_int8_amx;

#endif
