/*
 * Layers of int4 and int2 weights with a scale a group, written once as a template. A file of one
 * instruction set and one format defines what is listed here, includes this, and initializes its
 * aq_linear_kernel with GROUP_KERNEL.
 *
 *   LANES               outputs in one vector: a block
 *   GROUP_BITS          of a level: 4 or 2
 *   weight_vector       the levels of one step, ready to multiply
 *   group_dots          a block's dot products with one group of one row, under way
 *   float_lanes, all_lanes(value), group_constants
 *   load_weights(bytes)                     one step of a block, from aligned memory
 *   dots_zero(), dots_add(dots, q, weights) q is at the step's first input
 *   load_constants(scales, sums)            of a block and group
 *   total_add(total, dots, constants, zero_point)
 *   finish(total, scale, bias)              the results before ReLU
 *   store_lanes(y, result, relu, lanes)     the first `lanes` of them; ReLU is v < 0 ? 0 : v
 *
 * A step is 32 bits of every output of the block: four bytes, each with a level of 2 or 4 quads of
 * inputs, the first quad's lowest. So a step needs no shuffle: shifts and masks give it as vectors
 * of four inputs an output, as int8 layers have them. The packed weights of a block are
 *
 *   [group][step][lane][4 bytes], then [group] { float scale[LANES]; int16_t sum[LANES]; }
 *
 * outputs and inputs padded with zeros to whole blocks and groups, which rows of q have room for.
 * One block at a time is enough, unlike for int8: it is the unpacking that a vector of weights
 * costs, not its loading or that of the activations, and up to four rows share it. Weights that
 * outgrow the second-level cache are asked for ahead of time (1.15 times faster where measured).
 */
#ifndef AQ_QUANTIZER_KERNELS_GROUP_BLOCK_H
#define AQ_QUANTIZER_KERNELS_GROUP_BLOCK_H

#include <string.h>

#include "quantizer/kernels/qkernels.h"

#define GROUP_INLINE static inline __attribute__((always_inline))

enum {
    GROUP = AQ_FORMAT_GROUP,
    QUAD = 4,
    QUADS = 8 / GROUP_BITS, /* in a step */
    STEP_INPUTS = QUADS * QUAD,
    STEP_BYTES = LANES * QUAD,
    STEPS = GROUP / STEP_INPUTS, /* in a group */
    GROUP_BYTES = STEPS * STEP_BYTES,
    SCALES_BYTES = LANES * (int)sizeof(float),
    CONSTANTS_BYTES = SCALES_BYTES + LANES * (int)sizeof(int16_t),
    GROUP_ROWS = 4,
    PREFETCH_BYTES = 2048,   /* how far ahead */
    FAR_BYTES_MIN = 1 << 20, /* a layer's weights, from which on it pays */
};
_Static_assert(AQ_QKERNEL_Q_PADDING % AQ_FORMAT_GROUP == 0, "a row of q ends with a whole group");

/* --- packing --- */

static size_t group_block_bytes(uint32_t inputs)
{
    enum { LINE_BYTES = 64 };
    const size_t bytes = (size_t)aq_format_groups(inputs) * (GROUP_BYTES + CONSTANTS_BYTES);
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

static size_t group_packed_bytes(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    (void)layer;
    return (outputs + LANES - 1) / LANES * group_block_bytes(inputs);
}

/* One output: lane `lane` of the block. */
static void group_pack_lane(const uint8_t *row, const float *scale, uint32_t inputs, uint32_t lane,
                            unsigned char *block)
{
    const uint32_t groups = aq_format_groups(inputs);
    unsigned char *constants = block + (size_t)groups * GROUP_BYTES;

    for (uint32_t group = 0; group < groups; group++, constants += CONSTANTS_BYTES) {
        const uint32_t first = group * GROUP;
        int16_t sum = 0;
        for (uint32_t i = 0; i < GROUP && first + i < inputs; i++) {
            const int32_t level = aq_packed_level(row, first + i, GROUP_BITS);
            const uint32_t code = (uint32_t)level & ((1u << GROUP_BITS) - 1);
            const uint32_t step = i / STEP_INPUTS;
            const uint32_t quad = i % STEP_INPUTS / QUAD;
            block[step * STEP_BYTES + lane * QUAD + i % QUAD] |=
                (unsigned char)(code << (quad * GROUP_BITS));
            sum = (int16_t)(sum + level);
        }
        memcpy(constants + lane * sizeof(float), &scale[group], sizeof(float));
        memcpy(constants + SCALES_BYTES + lane * sizeof(sum), &sum, sizeof(sum));
        block += GROUP_BYTES;
    }
}

static void group_pack(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                       void *packed)
{
    const size_t row_bytes = ((size_t)inputs * GROUP_BITS + 7) / 8;
    for (uint32_t o = 0; o < outputs; o++) {
        group_pack_lane((const uint8_t *)layer->weights + o * row_bytes,
                        layer->scale + (size_t)o * aq_format_groups(inputs), inputs, o % LANES,
                        (unsigned char *)packed + o / LANES * group_block_bytes(inputs));
    }
}

/* --- one block and up to four rows --- */

typedef struct group_job {
    /* at the block's first output */
    const unsigned char *weights;
    const float *bias;
    uint32_t lanes;
    /* at the first row */
    const uint8_t *q;
    size_t q_stride;
    const aq_row_quant *quant;
    /* at both */
    float *y;
    size_t y_stride;

    uint32_t groups;
    bool relu;
} group_job;

typedef struct group_rows {
    group_dots r0, r1, r2, r3;
} group_rows;

typedef struct group_totals {
    float_lanes r0, r1, r2, r3;
} group_totals;

/* rows += q (rows, STEP_INPUTS) . weights (LANES, STEP_INPUTS) */
GROUP_INLINE group_rows group_step(group_rows dots, const uint8_t *q, size_t q_stride,
                                   const unsigned char *from, const uint32_t rows, const bool far)
{
    if (far) { /* as a number: past the end of the weights there is no pointer */
        __builtin_prefetch((const void *)((uintptr_t)from + PREFETCH_BYTES));
    }
    const weight_vector weights = load_weights(from);
    dots.r0 = dots_add(dots.r0, q, weights);
    if (rows > 1) {
        dots.r1 = dots_add(dots.r1, q + q_stride, weights);
    }
    if (rows > 2) {
        dots.r2 = dots_add(dots.r2, q + 2 * q_stride, weights);
    }
    if (rows > 3) {
        dots.r3 = dots_add(dots.r3, q + 3 * q_stride, weights);
    }
    return dots;
}

GROUP_INLINE group_totals group_add(group_totals totals, group_rows dots, const aq_row_quant *quant,
                                    const unsigned char *constants_at, const uint32_t rows)
{
    const group_constants constants = load_constants(constants_at, constants_at + SCALES_BYTES);
    totals.r0 = total_add(totals.r0, dots.r0, constants, quant[0].zero_point);
    if (rows > 1) {
        totals.r1 = total_add(totals.r1, dots.r1, constants, quant[1].zero_point);
    }
    if (rows > 2) {
        totals.r2 = total_add(totals.r2, dots.r2, constants, quant[2].zero_point);
    }
    if (rows > 3) {
        totals.r3 = total_add(totals.r3, dots.r3, constants, quant[3].zero_point);
    }
    return totals;
}

GROUP_INLINE void group_finish_row(const group_job *job, uint32_t row, float_lanes total)
{
    store_lanes(job->y + row * job->y_stride, finish(total, job->quant[row].scale, job->bias),
                job->relu, job->lanes);
}

GROUP_INLINE void group_compute(const group_job *job, const uint32_t rows, const bool far)
{
    const unsigned char *weights = job->weights;
    const unsigned char *constants = weights + (size_t)job->groups * GROUP_BYTES;
    const uint8_t *q = job->q;
    const float_lanes zero = all_lanes(0.0f);
    group_totals totals = {zero, zero, zero, zero};

    for (uint32_t group = 0; group < job->groups; group++) {
        const group_dots none = dots_zero();
        group_rows dots = {none, none, none, none};
#pragma GCC unroll 8
        for (uint32_t step = 0; step < STEPS; step++) {
            dots = group_step(dots, q + step * STEP_INPUTS, job->q_stride,
                              weights + step * STEP_BYTES, rows, far);
        }
        totals = group_add(totals, dots, job->quant, constants, rows);
        q += GROUP;
        weights += GROUP_BYTES;
        constants += CONSTANTS_BYTES;
    }

    group_finish_row(job, 0, totals.r0);
    if (rows > 1) {
        group_finish_row(job, 1, totals.r1);
    }
    if (rows > 2) {
        group_finish_row(job, 2, totals.r2);
    }
    if (rows > 3) {
        group_finish_row(job, 3, totals.r3);
    }
}

typedef void group_function(const group_job *job);

#define GROUP_DEFINE(name, rows, far)                                                              \
    static void name(const group_job *job)                                                         \
    {                                                                                              \
        group_compute(job, rows, far);                                                             \
    }
GROUP_DEFINE(group_near_1, 1, false)
GROUP_DEFINE(group_near_2, 2, false)
GROUP_DEFINE(group_near_3, 3, false)
GROUP_DEFINE(group_near_4, 4, false)
GROUP_DEFINE(group_far_1, 1, true)
GROUP_DEFINE(group_far_2, 2, true)
GROUP_DEFINE(group_far_3, 3, true)
GROUP_DEFINE(group_far_4, 4, true)

/* [far][rows - 1] */
static group_function *const group_table[2][GROUP_ROWS] = {
    {group_near_1, group_near_2, group_near_3, group_near_4},
    {group_far_1, group_far_2, group_far_3, group_far_4},
};

/* --- the walk over a layer --- */

static void group_layer(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                        size_t y_stride)
{
    const bool far = group_packed_bytes(NULL, layer->inputs, layer->outputs) > FAR_BYTES_MIN;
    const unsigned char *weights = layer->weights;

    for (uint32_t output = 0; output < layer->outputs; output += LANES) {
        const uint32_t left = layer->outputs - output;
        for (size_t row = 0; row < input->rows; row += GROUP_ROWS) {
            const size_t rows = input->rows - row < GROUP_ROWS ? input->rows - row : GROUP_ROWS;
            const group_job job = {
                .weights = weights,
                .bias = layer->bias + output,
                .lanes = left < LANES ? left : LANES,
                .q = input->q + row * input->q_stride,
                .q_stride = input->q_stride,
                .quant = input->quant + row,
                .y = y + row * y_stride + output,
                .y_stride = y_stride,
                .groups = aq_format_groups(layer->inputs),
                .relu = layer->activation == AQ_ACTIVATION_RELU,
            };
            group_table[far && row == 0][rows - 1](&job); /* then the weights are near */
        }
        weights += group_block_bytes(layer->inputs);
    }
}

#define GROUP_KERNEL                                                                               \
    {                                                                                              \
        .quantizes_input = true, .packed_bytes = group_packed_bytes, .pack = group_pack,           \
        .run = group_layer                                                                         \
    }

#endif
