/*
 * The rungs of the passes. Each is one constant table in a library that alone sees the flags of its
 * instruction set; nothing of it may run before the processor's flags were checked.
 */
#ifndef AQ_LEARNER_NN_PASSES_RUNGS_H
#define AQ_LEARNER_NN_PASSES_RUNGS_H

#include "learner/nn/passes.h"

extern const aq_passes aq_passes_generic;
extern const aq_passes aq_passes_avx2;
extern const aq_passes aq_passes_avx512;

#endif
