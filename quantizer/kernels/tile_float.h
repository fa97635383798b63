/*
 * A kernel of fp32, fp16 or bf16 weights from the register tile, whole but for how a weight is
 * loaded. A file of one format and instruction set includes the lanes of the latter, defines
 * WEIGHT_UNIT_BYTES where it isn't that of a float, and load_weight(bytes), which gives one vector
 * of them, includes this, and initializes its aq_linear_kernel with TILE_KERNEL.
 */
#ifndef AQ_QUANTIZER_KERNELS_TILE_FLOAT_H
#define AQ_QUANTIZER_KERNELS_TILE_FLOAT_H

#include "quantizer/kernels/tile_job.h"

/* Two pipes times four cycles of latency. */
enum { ACCUMULATORS_MIN = 8 };
#define TILE_REGISTERS FLOAT_REGISTERS
#define TILE_BLOCKS    FLOAT_TILE_BLOCKS
#ifdef FLOAT_TILE_ROWS
#define TILE_ROWS FLOAT_TILE_ROWS
#endif

typedef float_lanes accumulator;
typedef float_lanes weight_vector;
typedef float_lanes input_vector;

typedef struct block_constants {
    float_lanes bias;
} block_constants;

static inline accumulator accumulator_zero(void)
{
    return all_lanes(0.0f);
}

static inline accumulator accumulator_add(accumulator a, accumulator b)
{
    return a + b;
}

static inline input_vector broadcast(const unsigned char *x)
{
    float unit;
    memcpy(&unit, x, sizeof(unit));
    return all_lanes(unit);
}

static inline accumulator multiply_add(accumulator sum, input_vector x, weight_vector weight)
{
    return multiply_add_lanes(sum, x, weight);
}

static inline block_constants load_constants(const tile_job *job, uint32_t block)
{
    return (block_constants){.bias = load_lanes(job->bias + block * LANES)};
}

static inline float_lanes finish(const tile_job *job, block_constants constants, uint32_t row,
                                 accumulator dot)
{
    (void)job;
    (void)row;
    return dot + constants.bias;
}

#define WEIGHT_BYTES WEIGHT_UNIT_BYTES

#include "quantizer/kernels/tile.h"

static void run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride)
{
    tile_layer(layer, input->x, input->x_stride * sizeof(float), input, y, y_stride);
}

#define TILE_KERNEL                                                                                \
    {                                                                                              \
        .quantizes_input = false, .pack_writes_all = true, .packed_bytes = tile_packed_bytes,      \
        .pack = tile_pack, .run = run                                                              \
    }

#endif
