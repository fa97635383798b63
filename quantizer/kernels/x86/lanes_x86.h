/*
 * The vectors of the rung that a source of this folder is built for: the flags of its library say
 * how wide they are, and whether there is an instruction that multiplies and adds bytes. RUNG gives
 * what a source defines the name that it has in qkernels_x86.h.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_LANES_X86_H
#define AQ_QUANTIZER_KERNELS_X86_LANES_X86_H

#if defined(__AVX512VNNI__)
#include "quantizer/kernels/x86/lanes_avx512.h"
#define HAS_VNNI
#define RUNG(name) name##_avx512vnni
#elif defined(__AVXVNNI__)
#include "quantizer/kernels/x86/lanes_avx2.h"
#define HAS_VNNI
#define RUNG(name) name##_avxvnni
#else
#include "quantizer/kernels/x86/lanes_avx2.h"
#define RUNG(name) name##_avx2
#endif

#endif
