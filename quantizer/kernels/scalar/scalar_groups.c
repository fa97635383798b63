/*
 * Layers whose weights have a scale a group, int4 and int2: the reference. Packed they are
 *
 *   levels  int8[outputs][groups of AQ_FORMAT_GROUP inputs], zeros past the last input
 *   scales  float[outputs][groups]
 *   sums    int32[outputs][groups] of the levels
 */
#include <string.h>

#include "quantizer/kernels/scalar/scalar_kernels.h"

enum { GROUP = AQ_FORMAT_GROUP };
_Static_assert(AQ_QKERNEL_Q_PADDING % AQ_FORMAT_GROUP == 0, "a row of q ends with a whole group");

typedef struct packed_groups {
    const int8_t *levels;
    const float *scale;
    const int32_t *sum;
} packed_groups;

static size_t packed_bytes(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    (void)layer;
    const size_t groups = (size_t)outputs * aq_format_groups(inputs);
    return groups * (GROUP + sizeof(float) + sizeof(int32_t));
}

static packed_groups find(const void *packed, uint32_t inputs, uint32_t outputs)
{
    const size_t groups = (size_t)outputs * aq_format_groups(inputs);
    const int8_t *levels = packed;
    const float *scale = (const float *)(const void *)(levels + groups * GROUP);
    return (packed_groups){levels, scale, (const int32_t *)(const void *)(scale + groups)};
}

static void pack(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs, uint32_t bits,
                 void *packed)
{
    const uint32_t groups = aq_format_groups(inputs);
    const size_t row_bytes = ((size_t)inputs * bits + 7) / 8;
    const size_t count = (size_t)outputs * groups;
    int8_t *levels = packed;
    float *scale = (float *)(void *)(levels + count * GROUP);
    int32_t *sums = (int32_t *)(void *)(scale + count);

    memcpy(scale, layer->scale, count * sizeof(float));
    for (uint32_t o = 0; o < outputs; o++) {
        const uint8_t *row = (const uint8_t *)layer->weights + o * row_bytes;
        for (uint32_t i = 0; i < inputs; i++) {
            const int32_t level = aq_packed_level(row, i, bits);
            levels[(size_t)o * groups * GROUP + i] = (int8_t)level;
            sums[(size_t)o * groups + i / GROUP] += level;
        }
    }
}

static void pack_int4(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                      void *packed)
{
    pack(layer, inputs, outputs, 4, packed);
}

static void pack_int2(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                      void *packed)
{
    pack(layer, inputs, outputs, 2, packed);
}

/* sum_g scale[g] * (sum_{i in g} q[i] w[i] - z * sum[g]), from the first group on */
static float sum_groups(packed_groups weights, uint32_t groups, const uint8_t *q,
                        int32_t zero_point)
{
    float total = 0.0f;
    for (uint32_t g = 0; g < groups; g++) {
        const int32_t dot = dot_levels(q + g * GROUP, weights.levels + g * GROUP, GROUP);
        const int32_t centred = dot - zero_point * weights.sum[g];
        total += weights.scale[g] * (float)centred;
    }
    return total;
}

static void run(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride)
{
    const uint32_t groups = aq_format_groups(layer->inputs);
    const packed_groups all = find(layer->weights, layer->inputs, layer->outputs);

    for (size_t row = 0; row < input->rows; row++) {
        const uint8_t *q = input->q + row * input->q_stride;
        const aq_row_quant quant = input->quant[row];
        for (uint32_t o = 0; o < layer->outputs; o++) {
            const size_t first = (size_t)o * groups;
            const packed_groups weights = {all.levels + first * GROUP, all.scale + first,
                                           all.sum + first};
            const float total = sum_groups(weights, groups, q, quant.zero_point);
            y[row * y_stride + o] =
                relu_if(layer->activation, quant.scale * total + layer->bias[o]);
        }
    }
}

const aq_linear_kernel aq_scalar_int4 = {
    .quantizes_input = true, .packed_bytes = packed_bytes, .pack = pack_int4, .run = run};
const aq_linear_kernel aq_scalar_int2 = {
    .quantizes_input = true, .packed_bytes = packed_bytes, .pack = pack_int2, .run = run};
