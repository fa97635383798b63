/*
 * Kernels of half floats, groups and sparse blocks that are wrong on purpose (faulty_kernels.h),
 * and right ones beside them. They pack as the scalar reference does, unless they are wrong there.
 */
#ifndef AQ_TESTS_KERNELS_FAULTY_FORMATS_H
#define AQ_TESTS_KERNELS_FAULTY_FORMATS_H

#include "quantizer/kernels/qkernels.h"

typedef void faulty_pack(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                         void *packed);
typedef void faulty_run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                        size_t y_stride);

faulty_pack f16_flushes_subnormals;
faulty_pack bf16_drops_the_last_bit;
faulty_pack int4_swaps_halves;
faulty_pack int2_reverses_quarters;

faulty_run groups_right;
faulty_run groups_take_the_next_scale;
faulty_run groups_take_the_next_sum;
faulty_run groups_add_downwards;
faulty_run groups_fuse;
faulty_run groups_scale_once;

faulty_run sparse_right;
faulty_run sparse_is_a_column_off;
faulty_run sparse_is_a_mask_byte_short;
faulty_run sparse_forgets_the_last_row;
faulty_run sparse_transposes_blocks;

#endif
