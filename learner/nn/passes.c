/*
 * The ladder: rungs of this build, best first, and the choice among them.
 */
#include "learner/nn/passes.h"

#include "common/sys/cpu.h"
#include "learner/nn/passes_rungs.h"

static const aq_passes *const rungs[] = {
#if defined(AQ_PASSES_X86)
    &aq_passes_avx512,
    &aq_passes_avx2,
#endif
    &aq_passes_generic,
};

const aq_passes *aq_passes_best(void)
{
    uint32_t flags = aq_cpu_flags();
    size_t i = 0;

    while ((rungs[i]->cpu_flags & flags) != rungs[i]->cpu_flags) {
        i++; /* ends: the last rung needs nothing */
    }
    return rungs[i];
}

const aq_passes *aq_passes_rung(size_t index)
{
    return index < sizeof(rungs) / sizeof(rungs[0]) ? rungs[index] : NULL;
}
