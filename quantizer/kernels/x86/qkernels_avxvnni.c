/*
 * The AVX-VNNI rung: its table. Floats, and rows that are quantized, are as with AVX2.
 */
#include "common/sys/cpu.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

const aq_qkernels aq_qkernels_avxvnni = {
    .name = "avxvnni",
    .cpu_flags = AQ_CPU_AVX2 | AQ_CPU_AVX_VNNI,
    .quantize_rows = aq_quantize_rows_avx2,
    .quantize_rows_static = aq_quantize_rows_static_avx2,
    .linear = {[AQ_FORMAT_F32] = &aq_f32_avx2,
               [AQ_FORMAT_F16] = &aq_f16_avx2,
               [AQ_FORMAT_BF16] = &aq_bf16_avx2,
               [AQ_FORMAT_INT8_CHANNEL] = &aq_int8_avxvnni,
               [AQ_FORMAT_INT8_TENSOR] = &aq_int8_avxvnni,
               [AQ_FORMAT_INT4] = &aq_int4_avxvnni,
               [AQ_FORMAT_INT2] = &aq_int2_avxvnni,
               [AQ_FORMAT_INT8_SPARSE] = &aq_sparse_avxvnni},
};
