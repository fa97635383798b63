/*
 * The rungs of the convolution kernels, as passes_rungs.h those of the passes.
 */
#ifndef AQ_LEARNER_NN_CONV_RUNGS_H
#define AQ_LEARNER_NN_CONV_RUNGS_H

#include "learner/nn/conv_kernels.h"

extern const aq_conv_kernels aq_conv_generic;
extern const aq_conv_kernels aq_conv_avx2;
extern const aq_conv_kernels aq_conv_avx512;
extern const aq_conv_kernels aq_conv_avx512bf16;
extern const aq_conv_kernels aq_conv_amx;

#endif
