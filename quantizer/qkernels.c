/*
 * The scalar reference of every kernel, and the choice of a rung. Plain loops over row-major
 * weights: this file defines what the rungs must compute, so it is written to be read, and it is
 * what runs where no rung fits. It is compiled without any processor's flags.
 */
#include "quantizer/qkernels.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/sys/cpu.h"
#include "quantizer/qrow.h"
#if defined(AQ_HAVE_AVX2) || defined(AQ_HAVE_AVX512VNNI)
#include "quantizer/x86/qkernels_x86.h"
#endif

static float finite_or_zero(float value)
{
    return isfinite(value) ? value : 0.0f;
}

static aq_row_quant quantize_row(const float *x, uint32_t inputs, uint8_t *q)
{
    float low = 0.0f;
    float high = 0.0f;
    for (uint32_t i = 0; i < inputs; i++) {
        const float value = finite_or_zero(x[i]);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }

    float inverse;
    const aq_row_quant quant = row_quant_from_range(low, high, &inverse);
    for (uint32_t i = 0; i < inputs; i++) {
        const long level = lrintf(finite_or_zero(x[i]) * inverse) + quant.zero_point;
        q[i] = (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
    }
    const uint32_t rest =
        (AQ_QKERNEL_Q_PADDING - inputs % AQ_QKERNEL_Q_PADDING) % AQ_QKERNEL_Q_PADDING;
    memset(q + inputs, quant.zero_point, rest);
    return quant;
}

static void quantize_rows(const float *x, size_t x_stride, size_t rows, uint32_t inputs, uint8_t *q,
                          size_t q_stride, aq_row_quant *ret_quant)
{
    for (size_t row = 0; row < rows; row++) {
        ret_quant[row] = quantize_row(x + row * x_stride, inputs, q + row * q_stride);
    }
}

static float relu_if(uint32_t activation, float value)
{
    if (activation != AQ_ACTIVATION_RELU) {
        return value;
    }
    return value < 0.0f ? 0.0f : value;
}

static size_t packed_bytes_int8(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    (void)layer;
    return (size_t)inputs * outputs;
}

static void pack_int8(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                      void *packed)
{
    memcpy(packed, layer->weights, (size_t)inputs * outputs);
}

static int32_t dot_int8(const uint8_t *q, const int8_t *weights, uint32_t inputs)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < inputs; i++) {
        sum += (int32_t)q[i] * (int32_t)weights[i];
    }
    return sum;
}

/* May wrap around on the way. */
static int32_t centre(int32_t dot, const aq_row_quant *quant, int32_t sum)
{
    const uint32_t shift = (uint32_t)quant->zero_point * (uint32_t)sum;
    return (int32_t)((uint32_t)dot - shift + (uint32_t)quant->offset);
}

static void run_int8(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                     size_t y_stride)
{
    const int8_t *weights = layer->weights;
    const uint32_t inputs = layer->inputs;

    for (size_t row = 0; row < input->rows; row++) {
        const uint8_t *q = input->q + row * input->q_stride;
        const aq_row_quant quant = input->quant[row];
        for (uint32_t o = 0; o < layer->outputs; o++) {
            const int32_t dot = dot_int8(q, weights + (size_t)o * inputs, inputs);
            const int32_t centred = centre(dot, &quant, layer->sum[o]);
            const float factor = quant.scale * layer->scale[o];
            const float value = factor * (float)centred + layer->bias[o];
            y[row * y_stride + o] = relu_if(layer->activation, value);
        }
    }
}

/* fp32 weights are stored as [block of 16 outputs][input][output of the block], and summed for 16
 * outputs at once in the compiler's own vectors of four, which it maps to what every processor has.
 * A dot product could not be vectorized, and int8 would look better than it is where this runs. */
typedef float f32_quad __attribute__((vector_size(4 * sizeof(float))));
typedef struct f32_block {
    f32_quad a, b, c, d;
} f32_block;
enum { F32_BLOCK = AQ_QKERNEL_OUTPUT_PADDING };
_Static_assert(sizeof(f32_block) == F32_BLOCK * sizeof(float), "a block is 16 outputs");

static size_t packed_bytes_f32(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    (void)layer;
    const size_t blocks = (outputs + F32_BLOCK - 1) / F32_BLOCK;
    return blocks * F32_BLOCK * inputs * sizeof(float);
}

static void pack_f32(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                     void *packed)
{
    const float *from = layer->weights;
    float *to = packed;
    for (uint32_t o = 0; o < outputs; o++) {
        const size_t block_at = (size_t)(o / F32_BLOCK) * F32_BLOCK * inputs;
        for (uint32_t i = 0; i < inputs; i++) {
            to[block_at + (size_t)i * F32_BLOCK + o % F32_BLOCK] = from[(size_t)o * inputs + i];
        }
    }
}

/* sums (F32_BLOCK) = x (inputs) . weights (inputs, F32_BLOCK) */
static void block_f32(const float *x, const f32_block *weights, uint32_t inputs, float *sums)
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

static void run_f32(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                    size_t y_stride)
{
    const f32_block *weights = layer->weights;

    for (uint32_t first = 0; first < layer->outputs; first += F32_BLOCK) {
        const uint32_t left = layer->outputs - first;
        const uint32_t lanes = left < F32_BLOCK ? left : F32_BLOCK;
        for (size_t row = 0; row < input->rows; row++) {
            float sums[F32_BLOCK];
            block_f32(input->x + row * input->x_stride,
                      weights + (size_t)first / F32_BLOCK * layer->inputs, layer->inputs, sums);
            for (uint32_t lane = 0; lane < lanes; lane++) {
                const float value = sums[lane] + layer->bias[first + lane];
                y[row * y_stride + first + lane] = relu_if(layer->activation, value);
            }
        }
    }
}

static const aq_linear_kernel scalar_f32 = {
    .quantizes_input = false, .packed_bytes = packed_bytes_f32, .pack = pack_f32, .run = run_f32};

static const aq_linear_kernel scalar_int8 = {
    .quantizes_input = true, .packed_bytes = packed_bytes_int8, .pack = pack_int8, .run = run_int8};

static const aq_qkernels scalar_kernels = {
    .name = "scalar",
    .cpu_flags = 0,
    .quantize_rows = quantize_rows,
    .linear = {[AQ_FORMAT_F32] = &scalar_f32,
               [AQ_FORMAT_INT8_CHANNEL] = &scalar_int8,
               [AQ_FORMAT_INT8_TENSOR] = &scalar_int8},
};

/* Best first; the scalar reference, which needs nothing, ends the ladder. */
static const aq_qkernels *const ladder[] = {
#ifdef AQ_HAVE_AVX512VNNI
    &aq_qkernels_avx512vnni,
#endif
#ifdef AQ_HAVE_AVX2
    &aq_qkernels_avx2,
#endif
    &scalar_kernels,
};
enum { RUNGS = sizeof(ladder) / sizeof(ladder[0]) };

const aq_qkernels *aq_qkernels_select(uint32_t cpu_flags)
{
    uint32_t index = 0;
    while ((ladder[index]->cpu_flags & ~cpu_flags) != 0) {
        index++;
        AQ_ASSERT(index < RUNGS);
    }
    return ladder[index];
}

const aq_qkernels *aq_qkernels_rung(uint32_t index)
{
    return index < RUNGS ? ladder[index] : NULL;
}

const aq_qkernels *aq_qkernels_scalar(void)
{
    return &scalar_kernels;
}

const aq_linear_kernel *aq_qkernels_linear(const aq_qkernels *kernels, uint32_t format)
{
    if (format >= AQ_QKERNEL_FORMATS) {
        return NULL;
    }
    const aq_linear_kernel *kernel = kernels->linear[format];
    return kernel != NULL ? kernel : scalar_kernels.linear[format];
}
