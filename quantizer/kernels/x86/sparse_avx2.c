/*
 * int8-sparse layers with AVX2 alone.
 */
#include "quantizer/kernels/x86/dot_avx2.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

/* After the arithmetic that it is built from. */
#include "quantizer/kernels/sparse_block.h"

const aq_linear_kernel aq_sparse_avx2 = {
    .quantizes_input = true,
    .packed_bytes = sparse_packed_bytes,
    .pack = sparse_pack,
    .run = sparse_layer,
};
