/*
 * The ladder: rungs of this build, best first, and the choice among them.
 */
#include "learner/nn/conv_kernels.h"

#include "common/sys/cpu.h"
#include "learner/nn/conv_rungs.h"

static const aq_conv_kernels *const rungs[] = {
#if defined(AQ_PASSES_X86)
    &aq_conv_avx512,
    &aq_conv_avx2,
#endif
    &aq_conv_generic,
};

static bool runs_here(const aq_conv_kernels *kernels)
{
    return (kernels->cpu_flags & ~aq_cpu_flags()) == 0;
}

const aq_conv_kernels *aq_conv_kernels_best(void)
{
    size_t i = 0;
    while (!runs_here(rungs[i])) {
        i++; /* ends: the last rung needs nothing */
    }
    return rungs[i];
}

const aq_conv_kernels *aq_conv_kernels_bf16(void)
{
#if defined(AQ_HAVE_BF16_PRODUCTS)
    if (runs_here(&aq_conv_amx)) {
        return &aq_conv_amx;
    }
    return runs_here(&aq_conv_avx512bf16) ? &aq_conv_avx512bf16 : NULL;
#else
    return NULL;
#endif
}
