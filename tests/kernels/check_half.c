/*
 * Layers of fp16 and bf16: the reference's bits, and within the bound that qkernels.h states, of
 * sums over the weights that the sixteen bits stand for.
 */
#include "common/policy/half.h"
#include "tests/kernels/layer_check.h"

static uint16_t halves[LAYER_WEIGHTS_MAX];
static float weights[LAYER_WEIGHTS_MAX]; /* what they stand for */
static float bias[LAYER_WIDTH_MAX];

enum size { SIZE_COMMON, SIZE_SUBNORMAL, SIZES }; /* subnormal where it is fp16 */

static void fill_halves(aq_rng *rng, uint32_t format, enum size size, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const float value =
            size == SIZE_SUBNORMAL ? random_scaled(rng, -24, -15) : random_scaled(rng, -10, 6);
        if (format == AQ_FORMAT_F16) {
            halves[i] = aq_f16_from_f32(value);
            weights[i] = aq_f16_to_f32(halves[i]);
        } else {
            halves[i] = aq_bf16_from_f32(value);
            weights[i] = aq_bf16_to_f32(halves[i]);
        }
    }
}

static void check_case(kernel_check *check, uint32_t format, const layer_case *at, enum size size,
                       enum oddity oddity)
{
    const aq_snapshot_layer layer = {
        .format = format,
        .weights = halves,
        .bias = bias,
        .sizes = aq_format_sizes(format, at->shape.outputs, at->shape.inputs, 0),
    };
    output_pair y;
    fill_halves(&check->rng, format, size, (size_t)at->shape.inputs * at->shape.outputs);
    fill_bias(&check->rng, at->shape.outputs, bias);
    const aq_kernel_input input = random_floats(&check->rng, at, oddity);
    run_layer(check, at, &layer, &input, &y);
    kernel_check_case(check,
                      same_bits(&y) &&
                          (oddity == ODDITY_ENDS || within_bound(at, weights, bias, &input, &y)),
                      "%s %u to %u, %zu rows, activation %u%s%s", aq_format_name(format),
                      at->shape.inputs, at->shape.outputs, at->rows, at->activation,
                      size == SIZE_SUBNORMAL ? ", tiny weights" : "", oddity_text(oddity));
    output_pair_fini(&y);
}

static void check_half(kernel_check *check, uint32_t format)
{
    layer_case at;
    for (size_t i = 0; layer_case_at(check, i, &at); i++) {
        for (int size = 0; size < SIZES; size++) {
            check_case(check, format, &at, (enum size)size, ODDITY_NONE);
        }
        check_case(check, format, &at, SIZE_COMMON, ODDITY_NAN);
        check_case(check, format, &at, SIZE_COMMON, ODDITY_ENDS);
    }
}

void check_linear_f16(kernel_check *check)
{
    check_half(check, AQ_FORMAT_F16);
}

void check_linear_bf16(kernel_check *check)
{
    check_half(check, AQ_FORMAT_BF16);
}
