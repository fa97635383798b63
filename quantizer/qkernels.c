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
#ifdef AQ_HAVE_X86_RUNGS
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
    const uint32_t rest = (AQ_QKERNEL_Q_PADDING - inputs % AQ_QKERNEL_Q_PADDING) %
                          AQ_QKERNEL_Q_PADDING;
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
    return value > 0.0f ? value : 0.0f;
}

static size_t packed_bytes_int8(uint32_t inputs, uint32_t outputs)
{
    return (size_t)inputs * outputs;
}

static void pack_int8(const void *weights, uint32_t inputs, uint32_t outputs, void *packed)
{
    memcpy(packed, weights, packed_bytes_int8(inputs, outputs));
}

static int32_t dot_int8(const uint8_t *q, const int8_t *weights, uint32_t inputs)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < inputs; i++) {
        sum += (int32_t)q[i] * (int32_t)weights[i];
    }
    return sum;
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
            const int32_t centred = dot - quant.zero_point * layer->sum[o];
            const float factor = quant.scale * layer->scale[o];
            const float value = factor * (float)centred + layer->bias[o];
            y[row * y_stride + o] = relu_if(layer->activation, value);
        }
    }
}

static size_t packed_bytes_f32(uint32_t inputs, uint32_t outputs)
{
    return (size_t)inputs * outputs * sizeof(float);
}

static void pack_f32(const void *weights, uint32_t inputs, uint32_t outputs, void *packed)
{
    memcpy(packed, weights, packed_bytes_f32(inputs, outputs));
}

static float dot_f32(const float *x, const float *weights, uint32_t inputs)
{
    float sum = 0.0f;
    for (uint32_t i = 0; i < inputs; i++) {
        sum += x[i] * weights[i];
    }
    return sum;
}

static void run_f32(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                    size_t y_stride)
{
    const float *weights = layer->weights;
    const uint32_t inputs = layer->inputs;

    for (size_t row = 0; row < input->rows; row++) {
        const float *x = input->x + row * input->x_stride;
        for (uint32_t o = 0; o < layer->outputs; o++) {
            const float dot = dot_f32(x, weights + (size_t)o * inputs, inputs);
            y[row * y_stride + o] = relu_if(layer->activation, dot + layer->bias[o]);
        }
    }
}

static const aq_qkernels scalar_kernels = {
    .name = "scalar",
    .cpu_flags = 0,
    .quantize_rows = quantize_rows,
    .linear = {
        [AQ_FORMAT_F32] = {false, packed_bytes_f32, pack_f32, run_f32},
        [AQ_FORMAT_INT8_CHANNEL] = {true, packed_bytes_int8, pack_int8, run_int8},
    },
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
    if (format >= AQ_QKERNEL_FORMATS || kernels->linear[format].run == NULL) {
        return NULL;
    }
    return &kernels->linear[format];
}
