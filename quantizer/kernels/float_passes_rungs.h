/*
 * The tables of the float passes. Each is in a library that alone sees the flags of its instruction
 * set; nothing of it may run before the processor's flags were checked.
 */
#ifndef AQ_QUANTIZER_KERNELS_FLOAT_PASSES_RUNGS_H
#define AQ_QUANTIZER_KERNELS_FLOAT_PASSES_RUNGS_H

#include "quantizer/kernels/float_passes.h"

extern const aq_float_passes aq_float_passes_generic;
extern const aq_float_passes aq_float_passes_avx2;
extern const aq_float_passes aq_float_passes_avx512;

#endif
