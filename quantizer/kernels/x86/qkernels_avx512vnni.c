/*
 * The AVX-512-VNNI rung: its table.
 */
#include "common/sys/cpu.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

const aq_qkernels aq_qkernels_avx512vnni =
    QKERNELS_X86("avx512vnni", AQ_CPU_AVX512 | AQ_CPU_AVX512_VNNI, avx512vnni, avx512vnni,
                 aq_int8_avx512vnni, aq_int8_avx512vnni);
