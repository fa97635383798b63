/*
 * The planted faults. They work on the layout that the scalar reference packs.
 */
#include "tests/kernels/faulty_kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/kernels/faulty_formats.h"

/* --- quantizing rows --- */

enum quantize_fault {
    QUANTIZE_RIGHT,
    QUANTIZE_TRUNCATES,
    QUANTIZE_ROUNDS_HALF_AWAY,
    QUANTIZE_DOES_NOT_CLAMP,
    QUANTIZE_BELIEVES_NAN,
    QUANTIZE_DIVIDES,
    QUANTIZE_LEAVES_PADDING,
    QUANTIZE_STORES_TOO_MUCH,
    QUANTIZE_OVERFLOWS,
    QUANTIZE_ENDS_AT_INFINITY,
};

static int32_t rounded(enum quantize_fault fault, float level)
{
    if (fault == QUANTIZE_OVERFLOWS && !(fabsf(level) < 0x1p31f)) {
        return INT32_MIN / 2; /* as a conversion that has no such number */
    }
    const float held = level < -1000.0f ? -1000.0f : level > 1000.0f ? 1000.0f : level;
    switch (fault) {
    case QUANTIZE_TRUNCATES:
        return (int32_t)held;
    case QUANTIZE_ROUNDS_HALF_AWAY:
        return (int32_t)roundf(held);
    default:
        return (int32_t)lrintf(held);
    }
}

static float counted(enum quantize_fault fault, float value)
{
    return isfinite(value) || (fault == QUANTIZE_ENDS_AT_INFINITY && isinf(value)) ? value : 0.0f;
}

static void write_levels(enum quantize_fault fault, const float *x, uint32_t inputs,
                         aq_row_quant quant, float inverse, uint8_t *q)
{
    const uint32_t room =
        (inputs + AQ_QKERNEL_Q_PADDING - 1) / AQ_QKERNEL_Q_PADDING * AQ_QKERNEL_Q_PADDING;
    memset(q, quant.zero_point, fault == QUANTIZE_LEAVES_PADDING ? inputs : room);
    memset(q + room, 0, fault == QUANTIZE_STORES_TOO_MUCH ? 8 : 0);
    for (uint32_t i = 0; i < inputs; i++) {
        const float value = counted(fault, x[i]);
        const float level =
            fault == QUANTIZE_DIVIDES && inverse != 0.0f ? value / quant.scale : value * inverse;
        int32_t sum = rounded(fault, level) + quant.zero_point;
        if (fault != QUANTIZE_DOES_NOT_CLAMP) {
            sum = sum < 0 ? 0 : sum > 255 ? 255 : sum;
        }
        q[i] = (uint8_t)sum;
    }
}

static aq_row_quant quantize_row(enum quantize_fault fault, const float *x, uint32_t inputs,
                                 uint8_t *q)
{
    float low = 0.0f;
    float high = 0.0f;
    for (uint32_t i = 0; i < inputs; i++) {
        const bool counts = isfinite(x[i]) || fault == QUANTIZE_BELIEVES_NAN;
        low = counts && x[i] < low ? x[i] : low;
        high = counts && x[i] > high ? x[i] : high;
    }
    aq_row_quant quant = {.scale = high * (1.0f / 255.0f) - low * (1.0f / 255.0f)};
    float inverse = 1.0f / quant.scale;
    if (quant.scale < FLT_MIN) {
        quant.scale = 1.0f;
        inverse = 0.0f;
    }
    quant.zero_point = (int32_t)lrintf(-low * inverse);
    write_levels(fault, x, inputs, quant, inverse, q);
    return quant;
}

#define QUANTIZE_ROWS(name, fault)                                                                 \
    static void name(const float *x, size_t x_stride, size_t rows, uint32_t inputs, uint8_t *q,    \
                     size_t q_stride, aq_row_quant *ret_quant)                                     \
    {                                                                                              \
        for (size_t row = 0; row < rows; row++) {                                                  \
            ret_quant[row] = quantize_row(fault, x + row * x_stride, inputs, q + row * q_stride);  \
        }                                                                                          \
    }
QUANTIZE_ROWS(quantize_right, QUANTIZE_RIGHT)
QUANTIZE_ROWS(quantize_truncates, QUANTIZE_TRUNCATES)
QUANTIZE_ROWS(quantize_rounds_half_away, QUANTIZE_ROUNDS_HALF_AWAY)
QUANTIZE_ROWS(quantize_does_not_clamp, QUANTIZE_DOES_NOT_CLAMP)
QUANTIZE_ROWS(quantize_believes_nan, QUANTIZE_BELIEVES_NAN)
QUANTIZE_ROWS(quantize_divides, QUANTIZE_DIVIDES)
QUANTIZE_ROWS(quantize_leaves_padding, QUANTIZE_LEAVES_PADDING)
QUANTIZE_ROWS(quantize_stores_too_much, QUANTIZE_STORES_TOO_MUCH)

#define QUANTIZE_ROWS_STATIC(name, fault)                                                          \
    static void name(const float *x, size_t x_stride, size_t rows, uint32_t inputs,                \
                     aq_row_quant quant, uint8_t *q, size_t q_stride, aq_row_quant *ret_quant)     \
    {                                                                                              \
        for (size_t row = 0; row < rows; row++) {                                                  \
            write_levels(fault, x + row * x_stride, inputs, quant, 1.0f / quant.scale,             \
                         q + row * q_stride);                                                      \
            ret_quant[row] = quant;                                                                \
        }                                                                                          \
    }
QUANTIZE_ROWS_STATIC(static_right, QUANTIZE_RIGHT)
QUANTIZE_ROWS_STATIC(static_rounds_half_away, QUANTIZE_ROUNDS_HALF_AWAY)
QUANTIZE_ROWS_STATIC(static_does_not_clamp, QUANTIZE_DOES_NOT_CLAMP)
QUANTIZE_ROWS_STATIC(static_overflows, QUANTIZE_OVERFLOWS)
QUANTIZE_ROWS_STATIC(static_ends_at_infinity, QUANTIZE_ENDS_AT_INFINITY)
QUANTIZE_ROWS_STATIC(static_divides, QUANTIZE_DIVIDES)
QUANTIZE_ROWS_STATIC(static_leaves_padding, QUANTIZE_LEAVES_PADDING)

static void static_takes_the_rows_own_range(const float *x, size_t x_stride, size_t rows,
                                            uint32_t inputs, aq_row_quant quant, uint8_t *q,
                                            size_t q_stride, aq_row_quant *ret_quant)
{
    (void)quant;
    quantize_right(x, x_stride, rows, inputs, q, q_stride, ret_quant);
}

/* --- int8 layers --- */

enum int8_fault {
    INT8_RIGHT,
    INT8_SATURATES,
    INT8_FUSES,
    INT8_SCALES_IN_ANOTHER_ORDER,
    INT8_FORGETS_THE_LAST_INPUT,
    INT8_TAKES_THE_FIRST_ROWS_ZERO_POINT,
    INT8_IGNORES_THE_OFFSET,
    INT8_HAS_NO_LEAST_WEIGHT,
    INT8_STORES_TOO_MUCH,
    INT8_STORES_TOO_LITTLE,
};

/* As vpmaddubsw adds: pairs, into 16 bits. */
static int32_t dot_saturating(const uint8_t *q, const int8_t *weights, uint32_t inputs)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < inputs; i += 2) {
        int32_t pair = q[i] * weights[i] + (i + 1 < inputs ? q[i + 1] * weights[i + 1] : 0);
        sum += pair > INT16_MAX ? INT16_MAX : pair < INT16_MIN ? INT16_MIN : pair;
    }
    return sum;
}

/* `least`: what a weight is at least taken for. */
static int32_t dot_exact(const uint8_t *q, const int8_t *weights, uint32_t inputs, int32_t least)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < inputs; i++) {
        sum += q[i] * (weights[i] < least ? least : weights[i]);
    }
    return sum;
}

/* May wrap around on the way. */
static int32_t centre(int32_t dot, int32_t zero_point, int32_t sum, int32_t offset)
{
    return (int32_t)((uint32_t)dot - (uint32_t)zero_point * (uint32_t)sum + (uint32_t)offset);
}

static float finish_int8(enum int8_fault fault, float row_scale, float scale, int32_t centred,
                         float bias)
{
    switch (fault) {
    case INT8_FUSES:
        return fmaf(row_scale * scale, (float)centred, bias);
    case INT8_SCALES_IN_ANOTHER_ORDER:
        return row_scale * (scale * (float)centred) + bias;
    default:
        return row_scale * scale * (float)centred + bias;
    }
}

static void run_int8(enum int8_fault fault, const aq_packed_layer *layer,
                     const aq_kernel_input *input, float *y, size_t y_stride)
{
    const int8_t *weights = layer->weights;
    const uint32_t outputs = layer->outputs - (fault == INT8_STORES_TOO_LITTLE ? 1 : 0);
    const uint32_t inputs = layer->inputs - (fault == INT8_FORGETS_THE_LAST_INPUT ? 1 : 0);
    for (size_t row = 0; row < input->rows; row++) {
        const uint8_t *q = input->q + row * input->q_stride;
        const aq_row_quant *quant = &input->quant[row];
        const int32_t zero_point = fault == INT8_TAKES_THE_FIRST_ROWS_ZERO_POINT
                                       ? input->quant[0].zero_point
                                       : quant->zero_point;
        const int32_t offset = fault == INT8_IGNORES_THE_OFFSET ? 0 : quant->offset;
        for (uint32_t o = 0; o < outputs; o++) {
            const int8_t *w = weights + (size_t)o * layer->inputs;
            const int32_t least = fault == INT8_HAS_NO_LEAST_WEIGHT ? -127 : INT8_MIN;
            const int32_t dot = fault == INT8_SATURATES ? dot_saturating(q, w, inputs)
                                                        : dot_exact(q, w, inputs, least);
            const int32_t centred = centre(dot, zero_point, layer->sum[o], offset);
            float value =
                finish_int8(fault, quant->scale, layer->scale[o], centred, layer->bias[o]);
            if (layer->activation == AQ_ACTIVATION_RELU) {
                value = value < 0.0f ? 0.0f : value;
            }
            y[row * y_stride + o] = value;
        }
    }
    if (fault == INT8_STORES_TOO_MUCH) {
        y[(input->rows - 1) * y_stride + outputs] = 0.0f;
    }
}

#define RUN_INT8(name, fault)                                                                      \
    static void name(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,         \
                     size_t y_stride)                                                              \
    {                                                                                              \
        run_int8(fault, layer, input, y, y_stride);                                                \
    }
RUN_INT8(int8_right, INT8_RIGHT)
RUN_INT8(int8_saturates, INT8_SATURATES)
RUN_INT8(int8_fuses, INT8_FUSES)
RUN_INT8(int8_scales_in_another_order, INT8_SCALES_IN_ANOTHER_ORDER)
RUN_INT8(int8_forgets_the_last_input, INT8_FORGETS_THE_LAST_INPUT)
RUN_INT8(int8_takes_the_first_rows_zero_point, INT8_TAKES_THE_FIRST_ROWS_ZERO_POINT)
RUN_INT8(int8_ignores_the_offset, INT8_IGNORES_THE_OFFSET)
RUN_INT8(int8_has_no_least_weight, INT8_HAS_NO_LEAST_WEIGHT)
RUN_INT8(int8_stores_too_much, INT8_STORES_TOO_MUCH)
RUN_INT8(int8_stores_too_little, INT8_STORES_TOO_LITTLE)

/* --- fp32 layers: the reference's result, then spoilt --- */

static void scalar_f32(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                       size_t y_stride)
{
    aq_qkernels_linear(aq_qkernels_scalar(), AQ_FORMAT_F32)->run(layer, input, y, y_stride);
}

static void f32_loses_a_bit(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                            size_t y_stride)
{
    scalar_f32(layer, input, y, y_stride);
    for (size_t row = 0; row < input->rows; row++) {
        y[row * y_stride] = nextafterf(y[row * y_stride], INFINITY);
    }
}

static void f32_hides_nan(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                          size_t y_stride)
{
    scalar_f32(layer, input, y, y_stride);
    for (size_t row = 0; row < input->rows; row++) {
        float *value = y + row * y_stride;
        for (uint32_t o = 0; o < layer->outputs; o++) {
            value[o] = isnan(value[o]) ? 0.0f : value[o];
        }
    }
}

static void f32_stores_between_rows(const aq_packed_layer *layer, const aq_kernel_input *input,
                                    float *y, size_t y_stride)
{
    scalar_f32(layer, input, y, y_stride);
    if (input->rows > 1 && y_stride > layer->outputs) {
        y[layer->outputs] = 0.0f;
    }
}

/* --- the list --- */

typedef void quantize_all(const float *x, size_t x_stride, size_t rows, uint32_t inputs, uint8_t *q,
                          size_t q_stride, aq_row_quant *ret_quant);

typedef void quantize_all_static(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                                 aq_row_quant quant, uint8_t *q, size_t q_stride,
                                 aq_row_quant *ret_quant);

enum { F32 = AQ_FORMAT_F32, F16 = AQ_FORMAT_F16, BF16 = AQ_FORMAT_BF16 };
enum { INT8 = AQ_FORMAT_INT8_CHANNEL, INT4 = AQ_FORMAT_INT4, INT2 = AQ_FORMAT_INT2 };
enum { SPARSE = AQ_FORMAT_INT8_SPARSE };

/* What is NULL is the scalar reference's. */
static const struct fault_row {
    const char *name;
    bool is_fault;
    quantize_all *quantize;
    quantize_all_static *quantize_static;
    uint32_t format; /* of what follows */
    faulty_pack *pack;
    faulty_run *run;
} faults[] = {
    {"quantize: another right one", false, .quantize = quantize_right},
    {"quantize: truncates", true, .quantize = quantize_truncates},
    {"quantize: rounds halves away from zero", true, .quantize = quantize_rounds_half_away},
    {"quantize: does not clamp", true, .quantize = quantize_does_not_clamp},
    {"quantize: takes infinity for the range", true, .quantize = quantize_believes_nan},
    {"quantize: divides", true, .quantize = quantize_divides},
    {"quantize: leaves the padding unwritten", true, .quantize = quantize_leaves_padding},
    {"quantize: stores 8 bytes too many", true, .quantize = quantize_stores_too_much},
    {"static: another right one", false, .quantize_static = static_right},
    {"static: rounds halves away from zero", true, .quantize_static = static_rounds_half_away},
    {"static: does not clamp", true, .quantize_static = static_does_not_clamp},
    {"static: the greatest values overflow", true, .quantize_static = static_overflows},
    {"static: infinity becomes the end", true, .quantize_static = static_ends_at_infinity},
    {"static: divides", true, .quantize_static = static_divides},
    {"static: leaves the padding unwritten", true, .quantize_static = static_leaves_padding},
    {"static: takes the row's own range", true, .quantize_static = static_takes_the_rows_own_range},
    {"int8: another right one", false, .format = INT8, .run = int8_right},
    {"int8: saturates pairs", true, .format = INT8, .run = int8_saturates},
    {"int8: fuses multiply and add", true, .format = INT8, .run = int8_fuses},
    {"int8: scales in another order", true, .format = INT8, .run = int8_scales_in_another_order},
    {"int8: forgets the last input", true, .format = INT8, .run = int8_forgets_the_last_input},
    {"int8: first row's zero point for all", true, .format = INT8,
     .run = int8_takes_the_first_rows_zero_point},
    {"int8: ignores the offset", true, .format = INT8, .run = int8_ignores_the_offset},
    {"int8: takes -128 for -127", true, .format = INT8, .run = int8_has_no_least_weight},
    {"int8: stores one value too many", true, .format = INT8, .run = int8_stores_too_much},
    {"int8: stores one value too few", true, .format = INT8, .run = int8_stores_too_little},
    {"fp32: the reference itself", false, .format = F32, .run = scalar_f32},
    {"fp32: loses a bit", true, .format = F32, .run = f32_loses_a_bit},
    {"fp32: hides NaN", true, .format = F32, .run = f32_hides_nan},
    {"fp32: stores between rows", true, .format = F32, .run = f32_stores_between_rows},
    {"fp16: flushes subnormals", true, .format = F16, .pack = f16_flushes_subnormals},
    {"bf16: drops the last bit", true, .format = BF16, .pack = bf16_drops_the_last_bit},
    {"int4: another right one", false, .format = INT4, .run = groups_right},
    {"int4: swaps the halves of a byte", true, .format = INT4, .pack = int4_swaps_halves},
    {"int4: takes the next group's scale", true, .format = INT4, .run = groups_take_the_next_scale},
    {"int4: takes the next group's sum", true, .format = INT4, .run = groups_take_the_next_sum},
    {"int4: adds the last group first", true, .format = INT4, .run = groups_add_downwards},
    {"int4: fuses multiply and add", true, .format = INT4, .run = groups_fuse},
    {"int4: scales each group by the row's", true, .format = INT4, .run = groups_scale_once},
    {"int2: another right one", false, .format = INT2, .run = groups_right},
    {"int2: reverses the quarters of a byte", true, .format = INT2, .pack = int2_reverses_quarters},
    {"int2: takes the next group's scale", true, .format = INT2, .run = groups_take_the_next_scale},
    {"int8-sparse: another right one", false, .format = SPARSE, .run = sparse_right},
    {"int8-sparse: a column off", true, .format = SPARSE, .run = sparse_is_a_column_off},
    {"int8-sparse: a byte of the mask short", true, .format = SPARSE,
     .run = sparse_is_a_mask_byte_short},
    {"int8-sparse: forgets a block's last row", true, .format = SPARSE,
     .run = sparse_forgets_the_last_row},
    {"int8-sparse: transposes blocks", true, .format = SPARSE, .run = sparse_transposes_blocks},
};

static void (*const checks[AQ_QKERNEL_FORMATS])(kernel_check *check) = {
    [AQ_FORMAT_F32] = check_linear_f32,
    [AQ_FORMAT_F16] = check_linear_f16,
    [AQ_FORMAT_BF16] = check_linear_bf16,
    [AQ_FORMAT_INT8_CHANNEL] = check_linear_int8,
    [AQ_FORMAT_INT4] = check_linear_int4,
    [AQ_FORMAT_INT2] = check_linear_int2,
    [AQ_FORMAT_INT8_SPARSE] = check_linear_sparse,
};

const planted_fault *planted_fault_at(size_t index)
{
    static planted_fault planted;
    static aq_linear_kernel linear;
    if (index >= sizeof(faults) / sizeof(faults[0])) {
        return NULL;
    }
    const struct fault_row *fault = &faults[index];
    planted = (planted_fault){fault->name, fault->is_fault, NULL, *aq_qkernels_scalar()};
    planted.kernels.name = fault->name;
    if (fault->quantize != NULL) {
        planted.check = check_quantize_rows;
        planted.kernels.quantize_rows = fault->quantize;
    } else if (fault->quantize_static != NULL) {
        planted.check = check_quantize_rows_static;
        planted.kernels.quantize_rows_static = fault->quantize_static;
    } else {
        planted.check = checks[fault->format];
        linear = *planted.kernels.linear[fault->format];
        linear.pack = fault->pack != NULL ? fault->pack : linear.pack;
        linear.run = fault->run != NULL ? fault->run : linear.run;
        planted.kernels.linear[fault->format] = &linear;
        if (fault->format == AQ_FORMAT_INT8_CHANNEL) {
            planted.kernels.linear[AQ_FORMAT_INT8_TENSOR] = &linear;
        }
    }
    return &planted;
}
