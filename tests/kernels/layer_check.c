/*
 * Sizes, inputs and comparisons for layers of any format.
 */
#include "tests/kernels/layer_check.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "quantizer/engine/packed_layer.h"

/* The last is more than 1 MiB of int8: weights that are fetched ahead. */
static const layer_shape shapes[] = {
    {1, 1},    {1, 17},   {2, 3},      {3, 5},     {4, 64},     {5, 15},    {7, 16},    {15, 31},
    {16, 16},  {17, 7},   {31, 33},    {33, 48},   {63, 2},     {64, 64},   {65, 63},   {127, 65},
    {128, 80}, {17, 96},  {255, 8},    {256, 256}, {257, 127},  {512, 130}, {1000, 33}, {100, 512},
    {2048, 9}, {9, 1024}, {4096, 100}, {19, 4096}, {4096, 272},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]), ROWS_MAX = 17, BIG = 20000, OFFSET = 1 << 24 };

/* From one number of rows to the next: all of them; 1, 6, 11, 16; 1, 4, ... 16; 1 alone. The
 * reference has its own bits for certain. */
static size_t rows_step(const kernel_check *check, bool big)
{
    if (check->rung == aq_qkernels_scalar()) {
        return ROWS_MAX;
    }
    if (check->quick) {
        return big ? ROWS_MAX : 3;
    }
    return big ? 5 : 1;
}

bool layer_case_at(kernel_check *check, size_t index, layer_case *ret_case)
{
    for (size_t s = 0; s < SHAPES && !kernel_check_is_over(check); s++) {
        const bool big = (size_t)shapes[s].inputs * shapes[s].outputs > BIG;
        const size_t step = rows_step(check, big);
        const size_t count = big && check->planted ? 0 : (ROWS_MAX - 1) / step + 1;
        if (index < count) {
            *ret_case = (layer_case){
                .shape = shapes[s],
                .rows = 1 + index * step,
                .activation =
                    aq_rng_below(&check->rng, 2) == 0 ? AQ_ACTIVATION_NONE : AQ_ACTIVATION_RELU,
                .y_stride = shapes[s].outputs + aq_rng_below(&check->rng, 3),
            };
            return true;
        }
        index -= count;
    }
    return false;
}

int32_t filled(aq_rng *rng, enum fill fill, int32_t least, int32_t greatest)
{
    switch (fill) {
    case FILL_LEAST:
        return least;
    case FILL_GREATEST:
        return greatest;
    case FILL_EXTREMES:
        return aq_rng_below(rng, 2) == 0 ? least : greatest;
    default:
        return least + (int32_t)aq_rng_below(rng, (uint64_t)(greatest - least + 1));
    }
}

void fill_bias(aq_rng *rng, uint32_t outputs, float *bias)
{
    for (uint32_t o = 0; o < outputs; o++) {
        bias[o] = aq_rng_below(rng, 8) == 0 ? -0.0f : (float)aq_rng_normal(rng);
    }
}

aq_kernel_input random_levels(aq_rng *rng, const layer_case *at, enum fill fill)
{
    const size_t room = ((size_t)at->shape.inputs + AQ_QKERNEL_Q_PADDING - 1) /
                        AQ_QKERNEL_Q_PADDING * AQ_QKERNEL_Q_PADDING;
    const size_t stride = room + aq_rng_below(rng, 3) * 5;
    const size_t bytes = (at->rows - 1) * stride + room;
    uint8_t *q = guarded_input(0, bytes);
    aq_row_quant *quant = guarded_input(1, at->rows * sizeof(*quant));
    for (size_t i = 0; i < bytes; i++) {
        q[i] = (uint8_t)filled(rng, fill, 0, 255);
    }
    for (size_t row = 0; row < at->rows; row++) {
        quant[row] = (aq_row_quant){
            .scale = fabsf(random_scaled(rng, -20, 20)),
            .zero_point = filled(rng, (enum fill)aq_rng_below(rng, FILLS), 0, 255),
            .offset = aq_rng_below(rng, 2) == 0 ? 0 : filled(rng, FILL_RANDOM, -OFFSET, OFFSET),
        };
    }
    return (aq_kernel_input){.q = q, .q_stride = stride, .quant = quant, .rows = at->rows};
}

const char *oddity_text(enum oddity oddity)
{
    static const char *const texts[ODDITIES] = {"", ", NaN in a row", ", ends of the range"};
    return texts[oddity];
}

aq_kernel_input random_floats(aq_rng *rng, const layer_case *at, enum oddity oddity)
{
    static const float ends[] = {INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, 1e-45f, -FLT_MIN, -0.0f};
    const size_t stride = at->shape.inputs + aq_rng_below(rng, 3);
    const size_t values = (at->rows - 1) * stride + at->shape.inputs;
    float *x = guarded_input(0, values * sizeof(*x));
    for (size_t i = 0; i < values; i++) {
        x[i] = random_scaled(rng, -20, 10);
    }
    if (oddity == ODDITY_NAN) { /* in one row: it must not reach another */
        x[aq_rng_below(rng, at->rows) * stride + aq_rng_below(rng, at->shape.inputs)] = NAN;
    }
    /* the infinite ones, which spoil a row, are the rarest */
    for (size_t i = aq_rng_below(rng, 64); oddity == ODDITY_ENDS && i < values;
         i += 1 + aq_rng_below(rng, 64)) {
        x[i] = ends[aq_rng_below(rng, 64) == 0 ? aq_rng_below(rng, 2) : 2 + aq_rng_below(rng, 5)];
    }
    return (aq_kernel_input){.x = x, .x_stride = stride, .rows = at->rows};
}

void run_layer(kernel_check *check, const layer_case *at, const aq_snapshot_layer *layer,
               const aq_kernel_input *input, output_pair *y)
{
    const aq_layer_spec spec = aq_layer_linear(at->shape.inputs, at->shape.outputs, at->activation);
    const aq_qkernels *rungs[] = {aq_qkernels_scalar(), check->rung};
    output_pair_init(y, ((at->rows - 1) * at->y_stride + at->shape.outputs) * sizeof(float),
                     aq_rng_below(&check->rng, 16) * sizeof(float));
    float *outputs[] = {(float *)(void *)y->expected, (float *)(void *)y->got};
    for (int i = 0; i < 2; i++) {
        aq_packed_layer packed;
        const int rc = aq_packed_layer_init(rungs[i], &spec, layer, 1, &packed);
        AQ_ASSERT(rc == 0);
        aq_qkernels_linear(rungs[i], layer->format)->run(&packed, input, outputs[i], at->y_stride);
        aq_packed_layer_fini(&packed);
    }
}

/* NaN has many bit patterns, and which one an operation gives is the processor's affair. */
bool same_bits(const output_pair *y)
{
    const float *expected = (const float *)(const void *)y->expected;
    const float *got = (const float *)(const void *)y->got;
    for (size_t i = 0; i < y->bytes / sizeof(float); i++) {
        if (memcmp(&expected[i], &got[i], sizeof(float)) != 0 &&
            !(isnan(expected[i]) && isnan(got[i]))) {
            return false;
        }
    }
    return output_pair_margins_hold(y);
}

/* y (outputs) of one row */
static bool row_within_bound(const layer_case *at, const float *w, const float *bias,
                             const float *x, const float *y)
{
    for (uint32_t o = 0; o < at->shape.outputs; o++) {
        double exact = bias[o];
        double size = fabs(exact);
        for (uint32_t i = 0; i < at->shape.inputs; i++) {
            const double product = (double)x[i] * (double)*w++;
            exact += product;
            size += fabs(product);
        }
        if (isnan(exact)) {
            if (!isnan(y[o])) {
                return false;
            }
            continue;
        }
        if (at->activation == AQ_ACTIVATION_RELU && exact < 0.0) {
            exact = 0.0;
        }
        const double bound = (at->shape.inputs + 1) * (FLT_EPSILON * size + (double)FLT_MIN);
        if (!(fabs((double)y[o] - exact) <= bound)) {
            return false;
        }
    }
    return true;
}

/* What is between the rows was not written. */
static bool gaps_hold(const layer_case *at, const output_pair *y)
{
    for (size_t row = 0; row + 1 < at->rows; row++) {
        const size_t from = (row * at->y_stride + at->shape.outputs) * sizeof(float);
        for (size_t i = from; i < (row + 1) * at->y_stride * sizeof(float); i++) {
            if (y->got[i] != OUTPUT_POISON) {
                return false;
            }
        }
    }
    return true;
}

bool within_bound(const layer_case *at, const float *weights, const float *bias,
                  const aq_kernel_input *input, const output_pair *y)
{
    const float *got = (const float *)(const void *)y->got;
    bool good = output_pair_margins_hold(y) && gaps_hold(at, y);
    for (size_t row = 0; good && row < at->rows; row++) {
        good = row_within_bound(at, weights, bias, input->x + row * input->x_stride,
                                got + row * at->y_stride);
    }
    return good;
}
