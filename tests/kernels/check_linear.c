/*
 * Layers. int8 must give the reference's bits; fp32 must stay within the bound that qkernels.h
 * states, measured against sums in double.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "quantizer/packed_layer.h"
#include "tests/kernels/kernel_check.h"

enum { ROWS_MAX = 17, WIDTH_MAX = 4096, WEIGHTS_MAX = 4096 * 272 };

/* The last is more than 1 MiB of int8: weights that are fetched ahead. */
static const struct shape {
    uint32_t inputs, outputs;
} shapes[] = {
    {1, 1},    {1, 17},   {2, 3},      {3, 5},     {4, 64},     {5, 15},    {7, 16},    {15, 31},
    {16, 16},  {17, 7},   {31, 33},    {33, 48},   {63, 2},     {64, 64},   {65, 63},   {127, 65},
    {128, 80}, {17, 96},  {255, 8},    {256, 256}, {257, 127},  {512, 130}, {1000, 33}, {100, 512},
    {2048, 9}, {9, 1024}, {4096, 100}, {19, 4096}, {4096, 272},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static const size_t row_counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 13, 17};
enum { ROW_COUNTS = sizeof(row_counts) / sizeof(row_counts[0]) };

/* One layer's tensors as a snapshot holds them. Static: too big for the stack. */
typedef struct layer_tensors {
    union {
        int8_t q[WEIGHTS_MAX];
        float f[WEIGHTS_MAX];
    } weights;
    float scale[WIDTH_MAX];
    int32_t sum[WIDTH_MAX];
    float bias[WIDTH_MAX];
} layer_tensors;

static layer_tensors tensors;

static aq_packed_layer pack(const aq_qkernels *rung, uint32_t format, uint32_t activation,
                            const struct shape *shape)
{
    const aq_layer_spec spec = aq_layer_linear(shape->inputs, shape->outputs, activation);
    const aq_snapshot_layer layer = {
        .format = format,
        .weights = &tensors.weights,
        .scale = format == AQ_FORMAT_F32 ? NULL : tensors.scale,
        .sum = format == AQ_FORMAT_F32 ? NULL : tensors.sum,
        .bias = tensors.bias,
        .sizes = aq_format_sizes(format, shape->outputs, shape->inputs, 0),
    };
    aq_packed_layer packed;
    const int rc = aq_packed_layer_init(rung, &spec, &layer, &packed);
    AQ_ASSERT(rc == 0);
    return packed;
}

static void run_both(kernel_check *check, uint32_t format, uint32_t activation,
                     const struct shape *shape, const aq_kernel_input *input, output_pair *y,
                     size_t y_stride)
{
    const aq_qkernels *rungs[] = {aq_qkernels_scalar(), check->rung};
    float *outputs[] = {(float *)(void *)y->expected, (float *)(void *)y->got};
    for (int i = 0; i < 2; i++) {
        aq_packed_layer packed = pack(rungs[i], format, activation, shape);
        aq_qkernels_linear(rungs[i], format)->run(&packed, input, outputs[i], y_stride);
        aq_packed_layer_fini(&packed);
    }
}

/* NaN has many bit patterns, and which one an operation gives is the processor's affair. */
static bool same_bits(const output_pair *y)
{
    const float *expected = (const float *)(const void *)y->expected;
    const float *got = (const float *)(const void *)y->got;
    for (size_t i = 0; i < y->bytes / sizeof(float); i++) {
        if (memcmp(&expected[i], &got[i], sizeof(float)) != 0 &&
            !(isnan(expected[i]) && isnan(got[i]))) {
            return false;
        }
    }
    return true;
}

static uint32_t random_activation(aq_rng *rng)
{
    return aq_rng_below(rng, 2) == 0 ? AQ_ACTIVATION_NONE : AQ_ACTIVATION_RELU;
}

static void fill_bias(aq_rng *rng, uint32_t outputs)
{
    for (uint32_t o = 0; o < outputs; o++) {
        tensors.bias[o] = aq_rng_below(rng, 8) == 0 ? -0.0f : (float)aq_rng_normal(rng);
    }
}

/* --- int8 --- */

enum fill { FILL_RANDOM, FILL_LEAST, FILL_GREATEST, FILL_EXTREMES, FILLS };

static int32_t filled(aq_rng *rng, enum fill fill, int32_t least, int32_t greatest)
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

static void fill_int8(aq_rng *rng, enum fill fill, const struct shape *shape)
{
    int8_t *q = tensors.weights.q;
    for (uint32_t o = 0; o < shape->outputs; o++) {
        tensors.sum[o] = 0;
        for (uint32_t i = 0; i < shape->inputs; i++) {
            *q = (int8_t)filled(rng, fill, -127, 127);
            tensors.sum[o] += *q++;
        }
        tensors.scale[o] = fabsf(random_scaled(rng, -20, 4));
    }
    fill_bias(rng, shape->outputs);
}

static void check_int8(kernel_check *check, const struct shape *shape, size_t rows,
                       enum fill weight_fill, enum fill input_fill)
{
    aq_rng *rng = &check->rng;
    const uint32_t activation = random_activation(rng);
    const size_t room =
        (shape->inputs + AQ_QKERNEL_Q_PADDING - 1) / AQ_QKERNEL_Q_PADDING * AQ_QKERNEL_Q_PADDING;
    const size_t q_stride = room + aq_rng_below(rng, 3) * 5;
    const size_t y_stride = shape->outputs + aq_rng_below(rng, 3);
    const size_t q_bytes = (rows - 1) * q_stride + room;
    uint8_t *q = guarded_input(0, q_bytes);
    aq_row_quant *quant = guarded_input(1, rows * sizeof(*quant));
    output_pair y;

    fill_int8(rng, weight_fill, shape);
    for (size_t i = 0; i < q_bytes; i++) {
        q[i] = (uint8_t)filled(rng, input_fill, 0, 255);
    }
    for (size_t row = 0; row < rows; row++) {
        quant[row].scale = fabsf(random_scaled(rng, -20, 20));
        quant[row].zero_point = filled(rng, aq_rng_below(rng, FILLS), 0, 255);
    }
    const aq_kernel_input input = {.q = q, .q_stride = q_stride, .quant = quant, .rows = rows};
    output_pair_init(&y, ((rows - 1) * y_stride + shape->outputs) * sizeof(float),
                     aq_rng_below(rng, 16) * sizeof(float));
    run_both(check, AQ_FORMAT_INT8_CHANNEL, activation, shape, &input, &y, y_stride);
    kernel_check_case(check, same_bits(&y) && output_pair_margins_hold(&y),
                      "int8 %u to %u, %zu rows, weights fill %d, inputs fill %d, activation %u",
                      shape->inputs, shape->outputs, rows, (int)weight_fill, (int)input_fill,
                      activation);
    output_pair_fini(&y);
}

void check_linear_int8(kernel_check *check)
{
    for (size_t s = 0; s < SHAPES; s++) {
        const bool big = (size_t)shapes[s].inputs * shapes[s].outputs > 20000;
        for (size_t r = 0; r < ROW_COUNTS; r += big ? 3 : 1) {
            for (int fill = 0; fill < FILLS; fill++) {
                check_int8(check, &shapes[s], row_counts[r], (enum fill)fill, FILL_RANDOM);
                check_int8(check, &shapes[s], row_counts[r], (enum fill)fill, FILL_GREATEST);
            }
        }
    }
}

/* --- fp32 --- */

/* Whether y (outputs) of one row keeps the bound of qkernels.h. */
static bool row_within_bound(const struct shape *shape, uint32_t activation, const float *x,
                             const float *y)
{
    const float *w = tensors.weights.f;
    for (uint32_t o = 0; o < shape->outputs; o++) {
        double exact = tensors.bias[o];
        double size = fabs(exact);
        for (uint32_t i = 0; i < shape->inputs; i++) {
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
        if (activation == AQ_ACTIVATION_RELU && exact < 0.0) {
            exact = 0.0;
        }
        const double bound = (shape->inputs + 1) * (FLT_EPSILON * size + (double)FLT_MIN);
        if (!(fabs((double)y[o] - exact) <= bound)) {
            return false;
        }
    }
    return true;
}

/* What is between the rows was not written. */
static bool gaps_hold(const output_pair *y, uint32_t outputs, size_t rows, size_t y_stride)
{
    for (size_t row = 0; row + 1 < rows; row++) {
        const size_t from = (row * y_stride + outputs) * sizeof(float);
        for (size_t i = from; i < (row + 1) * y_stride * sizeof(float); i++) {
            if (y->got[i] != OUTPUT_POISON) {
                return false;
            }
        }
    }
    return true;
}

static void check_f32(kernel_check *check, const struct shape *shape, size_t rows, bool with_nan)
{
    aq_rng *rng = &check->rng;
    const uint32_t activation = random_activation(rng);
    const size_t x_stride = shape->inputs + aq_rng_below(rng, 3);
    const size_t y_stride = shape->outputs + aq_rng_below(rng, 3);
    const size_t values = (rows - 1) * x_stride + shape->inputs;
    float *x = guarded_input(0, values * sizeof(*x));
    output_pair y;

    for (size_t i = 0; i < (size_t)shape->inputs * shape->outputs; i++) {
        tensors.weights.f[i] = (float)aq_rng_normal(rng);
    }
    fill_bias(rng, shape->outputs);
    for (size_t i = 0; i < values; i++) {
        x[i] = random_scaled(rng, -20, 10);
    }
    if (with_nan) { /* in one row: it must not reach another */
        x[aq_rng_below(rng, rows) * x_stride + aq_rng_below(rng, shape->inputs)] = NAN;
    }
    const aq_kernel_input input = {.x = x, .x_stride = x_stride, .rows = rows};
    output_pair_init(&y, ((rows - 1) * y_stride + shape->outputs) * sizeof(float),
                     aq_rng_below(rng, 16) * sizeof(float));
    run_both(check, AQ_FORMAT_F32, activation, shape, &input, &y, y_stride);

    bool good = output_pair_margins_hold(&y) && gaps_hold(&y, shape->outputs, rows, y_stride);
    const float *got = (const float *)(const void *)y.got;
    for (size_t row = 0; good && row < rows; row++) {
        good = row_within_bound(shape, activation, x + row * x_stride, got + row * y_stride);
    }
    kernel_check_case(check, good, "fp32 %u to %u, %zu rows, activation %u%s", shape->inputs,
                      shape->outputs, rows, activation, with_nan ? ", NaN in a row" : "");
    output_pair_fini(&y);
}

void check_linear_f32(kernel_check *check)
{
    for (size_t s = 0; s < SHAPES; s++) {
        const bool big = (size_t)shapes[s].inputs * shapes[s].outputs > 20000;
        for (size_t r = 0; r < ROW_COUNTS; r += big ? 3 : 1) {
            check_f32(check, &shapes[s], row_counts[r], false);
            check_f32(check, &shapes[s], row_counts[r], true);
        }
    }
}
