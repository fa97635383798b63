/*
 * Layers of int8 and fp32. Both must give the reference's bits, and fp32 stay within the bound that
 * qkernels.h states.
 */
#include <math.h>

#include "tests/kernels/layer_check.h"

/* One layer's tensors as a snapshot holds them. Static: too big for the stack. */
static union {
    int8_t q[LAYER_WEIGHTS_MAX];
    float f[LAYER_WEIGHTS_MAX];
} weights;
static float scale[LAYER_WIDTH_MAX];
static int32_t sum[LAYER_WIDTH_MAX];
static float bias[LAYER_WIDTH_MAX];

static void fill_int8(aq_rng *rng, enum fill fill, int32_t least, const layer_shape *shape)
{
    int8_t *q = weights.q;
    for (uint32_t o = 0; o < shape->outputs; o++) {
        sum[o] = 0;
        for (uint32_t i = 0; i < shape->inputs; i++) {
            *q = (int8_t)filled(rng, fill, least, 127);
            sum[o] += *q++;
        }
        scale[o] = fabsf(random_scaled(rng, -20, 4));
    }
    fill_bias(rng, shape->outputs, bias);
}

/* Per channel, or per tensor: one scale, and weights down to -128. */
static void check_int8(kernel_check *check, const layer_case *at, enum fill weight_fill,
                       enum fill input_fill)
{
    const bool tensor = aq_rng_below(&check->rng, 2) == 0;
    const uint32_t format = tensor ? AQ_FORMAT_INT8_TENSOR : AQ_FORMAT_INT8_CHANNEL;
    const aq_snapshot_layer layer = {
        .format = format,
        .weights = weights.q,
        .scale = scale,
        .sum = sum,
        .bias = bias,
        .sizes = aq_format_sizes(format, at->shape.outputs, at->shape.inputs, 0),
    };
    output_pair y;
    fill_int8(&check->rng, weight_fill, tensor ? -128 : -127, &at->shape);
    const aq_kernel_input input = random_levels(&check->rng, at, input_fill);
    run_layer(check, at, &layer, &input, &y);
    kernel_check_case(check, same_bits(&y),
                      "%s %u to %u, %zu rows, weights fill %d, inputs fill %d, activation %u",
                      aq_format_name(format), at->shape.inputs, at->shape.outputs, at->rows,
                      (int)weight_fill, (int)input_fill, at->activation);
    output_pair_fini(&y);
}

void check_linear_int8(kernel_check *check)
{
    layer_case at;
    for (size_t i = 0; layer_case_at(check, i, &at); i++) {
        for (int fill = 0; fill < FILLS; fill++) {
            check_int8(check, &at, (enum fill)fill, FILL_RANDOM);
            check_int8(check, &at, (enum fill)fill, FILL_GREATEST);
        }
    }
}

static void check_f32(kernel_check *check, const layer_case *at, enum oddity oddity)
{
    const aq_snapshot_layer layer = {
        .format = AQ_FORMAT_F32,
        .weights = weights.f,
        .bias = bias,
        .sizes = aq_format_sizes(AQ_FORMAT_F32, at->shape.outputs, at->shape.inputs, 0),
    };
    output_pair y;
    for (size_t i = 0; i < (size_t)at->shape.inputs * at->shape.outputs; i++) {
        weights.f[i] = (float)aq_rng_normal(&check->rng);
    }
    fill_bias(&check->rng, at->shape.outputs, bias);
    const aq_kernel_input input = random_floats(&check->rng, at, oddity);
    run_layer(check, at, &layer, &input, &y);
    kernel_check_case(check,
                      same_bits(&y) &&
                          (oddity == ODDITY_ENDS || within_bound(at, weights.f, bias, &input, &y)),
                      "fp32 %u to %u, %zu rows, activation %u%s", at->shape.inputs,
                      at->shape.outputs, at->rows, at->activation, oddity_text(oddity));
    output_pair_fini(&y);
}

void check_linear_f32(kernel_check *check)
{
    layer_case at;
    for (size_t i = 0; layer_case_at(check, i, &at); i++) {
        for (int oddity = 0; oddity < ODDITIES; oddity++) {
            check_f32(check, &at, (enum oddity)oddity);
        }
    }
}
