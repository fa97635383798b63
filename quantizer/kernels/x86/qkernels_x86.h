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

/* A rung's table: floats and the quantizing of rows are as on the rung `wide`, integers in groups
 * and sparse ones as on the rung `exact`. */
#define QKERNELS_X86(rung, flags, wide, exact, int8, int8_tensor)                                  \
    {                                                                                              \
        .name = rung, .cpu_flags = flags, .quantize_rows = aq_quantize_rows_##wide,                \
        .quantize_rows_static = aq_quantize_rows_static_##wide,                                    \
        .linear = {                                                                                \
            [AQ_FORMAT_F32] = &aq_f32_##wide,       [AQ_FORMAT_F16] = &aq_f16_##wide,              \
            [AQ_FORMAT_BF16] = &aq_bf16_##wide,     [AQ_FORMAT_INT8_CHANNEL] = &int8,              \
            [AQ_FORMAT_INT8_TENSOR] = &int8_tensor, [AQ_FORMAT_INT4] = &aq_int4_##exact,           \
            [AQ_FORMAT_INT2] = &aq_int2_##exact,    [AQ_FORMAT_INT8_SPARSE] = &aq_sparse_##exact}, \
    }

#endif
