/*
 * The rung of NEON with dot products: its table.
 */
#include "common/sys/cpu.h"
#include "quantizer/kernels/arm/qkernels_arm.h"

const aq_qkernels aq_qkernels_neondot = {
    .name = "neondot",
    .cpu_flags = AQ_CPU_NEON | AQ_CPU_NEON_DOT,
    .quantize_rows = aq_quantize_rows_neon,
    .quantize_rows_static = aq_quantize_rows_static_neon,
    .linear = {[AQ_FORMAT_F32] = &aq_f32_neon,
               [AQ_FORMAT_F16] = &aq_f16_neon,
               [AQ_FORMAT_BF16] = &aq_bf16_neon,
               [AQ_FORMAT_INT8_CHANNEL] = &aq_int8_neondot,
               [AQ_FORMAT_INT8_TENSOR] = &aq_int8_neondot},
};
