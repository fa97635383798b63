/*
 * int8-sparse layers.
 */
#include "quantizer/kernels/x86/lanes_x86.h"
#include "quantizer/kernels/x86/qkernels_x86.h"

#ifdef HAS_VNNI
#include "quantizer/kernels/x86/dot_vnni.h"
#else
#include "quantizer/kernels/x86/dot_avx2.h"
#endif

/* After the arithmetic that it is built from. */
#include "quantizer/kernels/sparse_block.h"

const aq_linear_kernel RUNG(aq_sparse) = {
    .quantizes_input = true,
    .packed_bytes = sparse_packed_bytes,
    .pack = sparse_pack,
    .run = sparse_layer,
};
