/*
 * int4 layers.
 */
#define GROUP_BITS 4

#include "quantizer/kernels/x86/lanes_x86.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

#ifdef HAS_VNNI
#include "quantizer/kernels/x86/group_vnni.h"
#else
#include "quantizer/kernels/x86/group_avx2.h"
#endif

const aq_linear_kernel RUNG(aq_int4) = GROUP_KERNEL;
