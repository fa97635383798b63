/*
 * int2 layers with AVX-VNNI.
 */
#define GROUP_BITS 2

#include "quantizer/kernels/x86/group_avxvnni.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

const aq_linear_kernel aq_int2_avxvnni = {
    .quantizes_input = true,
    .packed_bytes = group_packed_bytes,
    .pack = group_pack,
    .run = group_layer,
};
