/*
 * The AMX rung: AVX-512-VNNI's, but for int8 layers of several rows.
 */
#include "common/sys/cpu.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

const aq_qkernels aq_qkernels_amx =
    QKERNELS_X86("amx", AQ_CPU_AVX512 | AQ_CPU_AVX512_VNNI | AQ_CPU_AMX, avx512vnni, avx512vnni,
                 aq_int8_amx, aq_int8_amx);
