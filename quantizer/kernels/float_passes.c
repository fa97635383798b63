/*
 * The float passes of this build, widest first, and the choice among them.
 */
#include "quantizer/kernels/float_passes.h"

#include "quantizer/kernels/float_passes_rungs.h"

static const aq_float_passes *const ladder[] = {
#ifdef AQ_FLOAT_PASSES_X86
    &aq_float_passes_avx512,
    &aq_float_passes_avx2,
#endif
    &aq_float_passes_generic,
};

const aq_float_passes *aq_float_passes_select(uint32_t cpu_flags)
{
    size_t i = 0;
    while ((ladder[i]->cpu_flags & ~cpu_flags) != 0) {
        i++; /* ends: the last needs nothing */
    }
    return ladder[i];
}

const aq_float_passes *aq_float_passes_rung(size_t index)
{
    return index < sizeof(ladder) / sizeof(ladder[0]) ? ladder[index] : NULL;
}
