/*
 * The AVX-VNNI rung: its table. Floats, and rows that are quantized, are as with AVX2.
 */
#include "common/sys/cpu.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

const aq_qkernels aq_qkernels_avxvnni = QKERNELS_X86("avxvnni", AQ_CPU_AVX2 | AQ_CPU_AVX_VNNI, avx2,
                                                     avxvnni, aq_int8_avxvnni, aq_int8_avxvnni);
