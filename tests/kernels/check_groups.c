/*
 * Layers of int4 and int2, with a scale a group: the reference's bits.
 */
#include <math.h>
#include <string.h>

#include "tests/kernels/layer_check.h"

enum { GROUPS_MAX = LAYER_WEIGHTS_MAX };

static uint8_t levels[LAYER_WEIGHTS_MAX];
static float scale[GROUPS_MAX];
static float bias[LAYER_WIDTH_MAX];

static void fill_levels(aq_rng *rng, enum fill fill, uint32_t bits, const layer_shape *shape)
{
    const size_t row_bytes = ((size_t)shape->inputs * bits + 7) / 8;
    const int32_t greatest = (1 << (bits - 1)) - 1;
    memset(levels, 0, row_bytes * shape->outputs);
    for (uint32_t o = 0; o < shape->outputs; o++) {
        for (uint32_t i = 0; i < shape->inputs; i++) {
            const uint32_t level =
                (uint32_t)filled(rng, fill, -greatest, greatest) & ((1u << bits) - 1);
            levels[o * row_bytes + i * bits / 8] |= (uint8_t)(level << (i * bits % 8));
        }
    }
    for (size_t g = 0; g < (size_t)shape->outputs * aq_format_groups(shape->inputs); g++) {
        scale[g] = fabsf(random_scaled(rng, -20, 4));
    }
    fill_bias(rng, shape->outputs, bias);
}

static void check_case(kernel_check *check, uint32_t format, const layer_case *at,
                       enum fill weight_fill, enum fill input_fill)
{
    const aq_snapshot_layer layer = {
        .format = format,
        .weights = levels,
        .scale = scale,
        .bias = bias,
        .sizes = aq_format_sizes(format, at->shape.outputs, at->shape.inputs, 0),
    };
    output_pair y;
    fill_levels(&check->rng, weight_fill, format == AQ_FORMAT_INT4 ? 4 : 2, &at->shape);
    const aq_kernel_input input = random_levels(&check->rng, at, input_fill);
    run_layer(check, at, &layer, &input, &y);
    kernel_check_case(check, same_bits(&y),
                      "%s %u to %u, %zu rows, weights fill %d, inputs fill %d, activation %u",
                      aq_format_name(format), at->shape.inputs, at->shape.outputs, at->rows,
                      (int)weight_fill, (int)input_fill, at->activation);
    output_pair_fini(&y);
}

static void check_groups(kernel_check *check, uint32_t format)
{
    layer_case at;
    for (size_t i = 0; layer_case_at(check, i, &at); i++) {
        for (int fill = 0; fill < FILLS; fill++) {
            check_case(check, format, &at, (enum fill)fill, FILL_RANDOM);
        }
        check_case(check, format, &at, FILL_GREATEST, FILL_GREATEST);
        check_case(check, format, &at, FILL_LEAST, FILL_GREATEST);
    }
}

void check_linear_int4(kernel_check *check)
{
    check_groups(check, AQ_FORMAT_INT4);
}

void check_linear_int2(kernel_check *check)
{
    check_groups(check, AQ_FORMAT_INT2);
}
