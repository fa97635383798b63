/*
 * The AVX2 rung: its table.
 */
#include "common/sys/cpu.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

const aq_qkernels aq_qkernels_avx2 =
    QKERNELS_X86("avx2", AQ_CPU_AVX2, avx2, avx2, aq_int8_avx2, aq_int8_tensor_avx2);
