/*
 * fp32 layers with AVX-512: the baseline that int8 is measured against.
 */
#include <immintrin.h>

#include "quantizer/tile_job.h"
#include "quantizer/x86/lanes_avx512.h"
#include "quantizer/x86/qkernels_x86.h"

/* Two pipes times four cycles of latency. */
enum { ACCUMULATORS_MIN = 8 };
#define TILE_BLOCKS 4

typedef __m512 accumulator;
typedef __m512 weight_vector;
typedef __m512 input_vector;

typedef struct block_constants {
    __m512 bias;
} block_constants;

static inline __m512 accumulator_zero(void)
{
    return _mm512_setzero_ps();
}

static inline __m512 accumulator_add(__m512 a, __m512 b)
{
    return _mm512_add_ps(a, b);
}

static inline __m512 load_weight(const unsigned char *from)
{
    return _mm512_load_ps((const float *)(const void *)from);
}

static inline __m512 broadcast(const unsigned char *x)
{
    float unit;
    memcpy(&unit, x, sizeof(unit));
    return _mm512_set1_ps(unit);
}

static inline __m512 multiply_add(__m512 sum, __m512 x, __m512 weight)
{
    return _mm512_fmadd_ps(x, weight, sum);
}

static inline block_constants load_constants(const tile_job *job, uint32_t block)
{
    return (block_constants){.bias = _mm512_load_ps(job->bias + block * LANES)};
}

static inline __m512 finish(const tile_job *job, block_constants constants, uint32_t row,
                            __m512 dot)
{
    (void)job;
    (void)row;
    return _mm512_add_ps(dot, constants.bias);
}

#include "quantizer/tile.h"

static size_t packed_bytes(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    (void)layer;
    return tile_packed_bytes(inputs * sizeof(float), outputs);
}

static void pack(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs, void *packed)
{
    tile_pack(layer->weights, inputs * sizeof(float), outputs, packed);
}

static void run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride)
{
    tile_layer(layer, layer->inputs * sizeof(float), input->x, input->x_stride * sizeof(float),
               input, y, y_stride);
}

const aq_linear_kernel aq_f32_avx512 = {
    .quantizes_input = false, .packed_bytes = packed_bytes, .pack = pack, .run = run};
