/*
 * The choice of a rung. The scalar reference (scalar/) ends the ladder and fills the gaps of the
 * rungs above it.
 */
#include "quantizer/kernels/qkernels.h"

#include "common/base/assert.h"
#include "quantizer/kernels/scalar/scalar_kernels.h"
#if defined(AQ_HAVE_NEON)
#include "quantizer/kernels/arm/qkernels_arm.h"
#endif
#if defined(AQ_HAVE_AVX2) || defined(AQ_HAVE_AVX512VNNI)
#include "quantizer/kernels/x86/qkernels_x86.h"
#endif

static const aq_qkernels scalar_kernels = {
    .name = "scalar",
    .cpu_flags = 0,
    .quantize_rows = aq_scalar_quantize_rows,
    .quantize_rows_static = aq_scalar_quantize_rows_static,
    .linear = {[AQ_FORMAT_F32] = &aq_scalar_f32,
               [AQ_FORMAT_F16] = &aq_scalar_f16,
               [AQ_FORMAT_BF16] = &aq_scalar_bf16,
               [AQ_FORMAT_INT8_CHANNEL] = &aq_scalar_int8,
               [AQ_FORMAT_INT8_TENSOR] = &aq_scalar_int8,
               [AQ_FORMAT_INT4] = &aq_scalar_int4,
               [AQ_FORMAT_INT2] = &aq_scalar_int2,
               [AQ_FORMAT_INT8_SPARSE] = &aq_scalar_sparse},
};

/* Best first; the scalar reference, which needs nothing, ends the ladder. */
static const aq_qkernels *const ladder[] = {
#ifdef AQ_HAVE_AMX
    &aq_qkernels_amx,
#endif
#ifdef AQ_HAVE_AVX512VNNI
    &aq_qkernels_avx512vnni,
#endif
#ifdef AQ_HAVE_AVXVNNI
    &aq_qkernels_avxvnni,
#endif
#ifdef AQ_HAVE_AVX2
    &aq_qkernels_avx2,
#endif
#ifdef AQ_HAVE_NEONDOT
    &aq_qkernels_neondot,
#endif
#ifdef AQ_HAVE_NEON
    &aq_qkernels_neon,
#endif
    &scalar_kernels,
};
enum { RUNGS = sizeof(ladder) / sizeof(ladder[0]) };

const aq_qkernels *aq_qkernels_select(uint32_t cpu_flags)
{
    uint32_t index = 0;
    while ((ladder[index]->cpu_flags & ~cpu_flags) != 0) {
        index++;
        AQ_ASSERT(index < RUNGS);
    }
    return ladder[index];
}

const aq_qkernels *aq_qkernels_rung(uint32_t index)
{
    return index < RUNGS ? ladder[index] : NULL;
}

const aq_qkernels *aq_qkernels_scalar(void)
{
    return &scalar_kernels;
}

const aq_linear_kernel *aq_qkernels_linear(const aq_qkernels *kernels, uint32_t format)
{
    if (format >= AQ_QKERNEL_FORMATS) {
        return NULL;
    }
    const aq_linear_kernel *kernel = kernels->linear[format];
    return kernel != NULL ? kernel : scalar_kernels.linear[format];
}
