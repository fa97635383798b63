/*
 * The AMX rung: AVX-512-VNNI's, but for int8 layers of several rows.
 */
#include "common/sys/cpu.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

const aq_qkernels aq_qkernels_amx = {
    .name = "amx",
    .cpu_flags = AQ_CPU_AVX512 | AQ_CPU_AVX512_VNNI | AQ_CPU_AMX,
    .quantize_rows = aq_quantize_rows_avx512vnni,
    .quantize_rows_static = aq_quantize_rows_static_avx512vnni,
    .linear = {[AQ_FORMAT_F32] = &aq_f32_avx512vnni,
               [AQ_FORMAT_F16] = &aq_f16_avx512vnni,
               [AQ_FORMAT_BF16] = &aq_bf16_avx512vnni,
               [AQ_FORMAT_INT8_CHANNEL] = &aq_int8_amx,
               [AQ_FORMAT_INT8_TENSOR] = &aq_int8_amx,
               [AQ_FORMAT_INT4] = &aq_int4_avx512vnni,
               [AQ_FORMAT_INT2] = &aq_int2_avx512vnni,
               [AQ_FORMAT_INT8_SPARSE] = &aq_sparse_avx512vnni},
};
