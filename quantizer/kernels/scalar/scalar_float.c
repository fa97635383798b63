/*
 * Layers of float weights, fp32, fp16 and bf16: the reference. Weights of 16 bits are widened when
 * they are packed; from then on they are fp32.
 *
 * They are stored as [block of 16 outputs][input][output of the block], and summed in the order of
 * qkernels.h. The processors that end here have no fused multiply-add, so it is made of what they
 * have, in double: the product of two floats is exact there, and their sum with a third is rounded
 * to odd, from which rounding once more, to a float, gives what one rounding would have given. That
 * takes some twenty operations for one, in vectors of two.
 */
#include <string.h>

#include "common/policy/half.h"
#include "quantizer/kernels/scalar/scalar_kernels.h"

typedef double f64_pair __attribute__((vector_size(2 * sizeof(double))));
typedef int64_t i64_pair __attribute__((vector_size(2 * sizeof(int64_t))));
typedef float f32_pair __attribute__((vector_size(2 * sizeof(float))));
enum { BLOCK = AQ_QKERNEL_OUTPUT_PADDING, PAIRS = BLOCK / 2 };

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

/* sum + x * weight, rounded once, in each of two lanes. The error of the double sum is exact; where
 * there is one and the last bit is even, the neighbour on its side is odd. It is no number where
 * the sum is none, and then the comparisons are false. */
static f32_pair multiply_add(f32_pair sum, double x, f32_pair weight)
{
    const f64_pair product = x * __builtin_convertvector(weight, f64_pair);
    const f64_pair addend = __builtin_convertvector(sum, f64_pair);
    const f64_pair total = product + addend;
    const f64_pair addend_of_it = total - product;
    const f64_pair error = (product - (total - addend_of_it)) + (addend - addend_of_it);
    const i64_pair is_off = (error > 0.0) | (error < 0.0);
    const i64_pair is_inward = (error > 0.0) ^ (total > 0.0);
    i64_pair bits;
    memcpy(&bits, &total, sizeof(bits));
    /* 1 or, inward, -1 where it is off and even */
    bits += is_off & ~-(bits & 1) & (is_inward | 1);
    f64_pair odd;
    memcpy(&odd, &bits, sizeof(odd));
    return __builtin_convertvector(odd, f32_pair);
}

/* sums (BLOCK) = x (inputs) . weights (inputs, BLOCK): every `stride`th input from x on, `count` of
 * them, added to what the sums are */
static void sum_chain(const float *x, const float *weights, uint32_t count, uint32_t stride,
                      float *sums)
{
    for (uint32_t pair = 0; pair < PAIRS; pair++) {
        f32_pair sum;
        memcpy(&sum, sums + 2 * pair, sizeof(sum));
        for (size_t i = 0; i < count; i++) {
            f32_pair weight;
            memcpy(&weight, weights + i * stride * BLOCK + 2 * pair, sizeof(weight));
            sum = multiply_add(sum, x[i * stride], weight);
        }
        memcpy(sums + 2 * pair, &sum, sizeof(sum));
    }
}

/* ret_sums (BLOCK) = x (inputs) . weights (inputs, BLOCK) */
static void sum_block(const aq_packed_layer *layer, const float *x, const float *weights,
                      float *ret_sums)
{
    const uint32_t chains = aq_float_chains(layer->inputs, layer->outputs);
    const uint32_t whole = layer->inputs / chains;
    float sums[AQ_FLOAT_CHAINS_MAX][BLOCK] = {{0}};
    for (uint32_t c = 0; c < chains; c++) {
        sum_chain(x + c, weights + c * BLOCK, whole, chains, sums[c]);
    }
    sum_chain(x + whole * chains, weights + (size_t)whole * chains * BLOCK, layer->inputs % chains,
              1, sums[0]);
    for (uint32_t lane = 0; lane < BLOCK; lane++) {
        const float first = chains == 1 ? sums[0][lane] : sums[0][lane] + sums[1][lane];
        ret_sums[lane] = chains == 4 ? first + (sums[2][lane] + sums[3][lane]) : first;
    }
}

static void run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride)
{
    const float *weights = layer->weights;

    for (uint32_t first = 0; first < layer->outputs; first += BLOCK) {
        const uint32_t left = layer->outputs - first;
        const uint32_t lanes = left < BLOCK ? left : BLOCK;
        for (size_t row = 0; row < input->rows; row++) {
            float sums[BLOCK];
            sum_block(layer, input->x + row * input->x_stride,
                      weights + (size_t)first * layer->inputs, sums);
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
