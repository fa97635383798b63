/*
 * Layers of float weights, fp32, fp16 and bf16: the reference. Weights of 16 bits are widened when
 * they are packed; from then on they are fp32.
 *
 * They are stored as [block of 16 outputs][input][output of the block], and summed for 16 outputs
 * at once in the compiler's own vectors of four, which it maps to what every processor has. A dot
 * product could not be vectorized, and int8 would look better than it is where this runs.
 */
#include <string.h>

#include "common/policy/half.h"
#include "quantizer/kernels/scalar/scalar_kernels.h"

typedef float f32_quad __attribute__((vector_size(4 * sizeof(float))));
typedef struct f32_block {
    f32_quad a, b, c, d;
} f32_block;
enum { BLOCK = AQ_QKERNEL_OUTPUT_PADDING };
_Static_assert(sizeof(f32_block) == BLOCK * sizeof(float), "a block is 16 outputs");

static size_t packed_bytes(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    (void)layer;
    const size_t blocks = (outputs + BLOCK - 1) / BLOCK;
    return blocks * BLOCK * inputs * sizeof(float);
}

typedef float read_weight(const void *weights, size_t index);

static float read_f32(const void *weights, size_t index)
{
    return ((const float *)weights)[index];
}

static float read_f16(const void *weights, size_t index)
{
    return aq_f16_to_f32(((const uint16_t *)weights)[index]);
}

static float read_bf16(const void *weights, size_t index)
{
    return aq_bf16_to_f32(((const uint16_t *)weights)[index]);
}

static void pack(const void *weights, read_weight *read, uint32_t inputs, uint32_t outputs,
                 float *packed)
{
    for (uint32_t o = 0; o < outputs; o++) {
        const size_t block_at = (size_t)(o / BLOCK) * BLOCK * inputs;
        for (uint32_t i = 0; i < inputs; i++) {
            packed[block_at + (size_t)i * BLOCK + o % BLOCK] =
                read(weights, (size_t)o * inputs + i);
        }
    }
}

static void pack_f32(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                     void *packed)
{
    pack(layer->weights, read_f32, inputs, outputs, packed);
}

static void pack_f16(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                     void *packed)
{
    pack(layer->weights, read_f16, inputs, outputs, packed);
}

static void pack_bf16(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                      void *packed)
{
    pack(layer->weights, read_bf16, inputs, outputs, packed);
}

/* sums (BLOCK) = x (inputs) . weights (inputs, BLOCK) */
static void sum_block(const float *x, const f32_block *weights, uint32_t inputs, float *sums)
{
    f32_block sum = {{0}, {0}, {0}, {0}};
    for (uint32_t i = 0; i < inputs; i++) {
        sum.a += x[i] * weights[i].a;
        sum.b += x[i] * weights[i].b;
        sum.c += x[i] * weights[i].c;
        sum.d += x[i] * weights[i].d;
    }
    memcpy(sums, &sum, sizeof(sum));
}

static void run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride)
{
    const f32_block *weights = layer->weights;

    for (uint32_t first = 0; first < layer->outputs; first += BLOCK) {
        const uint32_t left = layer->outputs - first;
        const uint32_t lanes = left < BLOCK ? left : BLOCK;
        for (size_t row = 0; row < input->rows; row++) {
            float sums[BLOCK];
            sum_block(input->x + row * input->x_stride,
                      weights + (size_t)first / BLOCK * layer->inputs, layer->inputs, sums);
            for (uint32_t lane = 0; lane < lanes; lane++) {
                const float value = sums[lane] + layer->bias[first + lane];
                y[row * y_stride + first + lane] = relu_if(layer->activation, value);
            }
        }
    }
}

const aq_linear_kernel aq_scalar_f32 = {
    .quantizes_input = false, .packed_bytes = packed_bytes, .pack = pack_f32, .run = run};
const aq_linear_kernel aq_scalar_f16 = {
    .quantizes_input = false, .packed_bytes = packed_bytes, .pack = pack_f16, .run = run};
const aq_linear_kernel aq_scalar_bf16 = {
    .quantizes_input = false, .packed_bytes = packed_bytes, .pack = pack_bf16, .run = run};
