/*
 * int4 layers with AVX-512-VNNI.
 */
#define GROUP_BITS 4

#include "quantizer/kernels/x86/group_avx512vnni.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

const aq_linear_kernel aq_int4_avx512vnni = {
    .quantizes_input = true,
    .packed_bytes = group_packed_bytes,
    .pack = group_pack,
    .run = group_layer,
};
