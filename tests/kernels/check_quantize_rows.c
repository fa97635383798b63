/*
 * Quantizing rows, with a scale of their own or a given one: bytes, scale and zero point must be
 * the reference's, bit for bit.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/kernels/kernel_check.h"

enum { ROWS_MAX = 7 };

static const uint32_t lengths[] = {1,  2,  3,  4,  5,   7,   8,   15,  16,  17,  31,   32,
                                   33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 4096};

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* --- patterns of one row --- */

static void fill_uniform(aq_rng *rng, float *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        x[i] = (float)aq_rng_range(rng, -1.0, 1.0);
    }
}

static void fill_positive(aq_rng *rng, float *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        x[i] = (float)aq_rng_range(rng, 1.0, 100.0);
    }
}

static void fill_negative(aq_rng *rng, float *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        x[i] = (float)aq_rng_range(rng, -7.0, -3.0);
    }
}

static void fill_zero(aq_rng *rng, float *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        x[i] = aq_rng_below(rng, 2) == 0 ? 0.0f : -0.0f;
    }
}

static void fill_constant(aq_rng *rng, float *x, uint32_t count)
{
    const float value = random_scaled(rng, -30, 30);
    for (uint32_t i = 0; i < count; i++) {
        x[i] = value;
    }
}

static void fill_one_hot(aq_rng *rng, float *x, uint32_t count)
{
    memset(x, 0, count * sizeof(*x));
    x[aq_rng_below(rng, count)] = random_scaled(rng, -3, 3);
}

static void fill_any_magnitude(aq_rng *rng, float *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        x[i] = random_scaled(rng, -140, 127);
    }
}

static void fill_huge(aq_rng *rng, float *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        x[i] = aq_rng_below(rng, 4) == 0 ? FLT_MAX : -FLT_MAX * (float)aq_rng_uniform(rng);
    }
}

/* Around the smallest scale that is not counted as zero. */
static void fill_tiny(aq_rng *rng, float *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        x[i] = random_scaled(rng, -148, -117);
    }
}

/* low + high = 255 steps of a power of two, so that the scale is exact and k + 1/2 are ties, in
 * every other row for the zero point too. */
static void fill_ties(aq_rng *rng, float *x, uint32_t count)
{
    const float step = exp2f((float)aq_rng_below(rng, 20) - 10.0f);
    const float low = (float)aq_rng_below(rng, 510) * 0.5f;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = ((float)aq_rng_below(rng, 511) * 0.5f - low) * step;
    }
    x[0] = -low * step;
    x[count - 1] = (255.0f - low) * step;
}

/* Beside the halves of a scale that is not exact: how a value is brought to levels decides. */
static void fill_near_ties(aq_rng *rng, float *x, uint32_t count)
{
    const float high = (float)aq_rng_range(rng, 0.5, 4.0);
    const float low = -(float)aq_rng_range(rng, 0.0, 4.0);
    const float scale = high * (1.0f / 255.0f) - low * (1.0f / 255.0f);
    for (uint32_t i = 0; i < count; i++) {
        const float level = (float)(int32_t)aq_rng_range(rng, low / scale, high / scale);
        const float tie = (level + 0.5f) * scale;
        const uint64_t side = aq_rng_below(rng, 3);
        x[i] = side == 0 ? tie : nextafterf(tie, side == 1 ? high : low);
    }
    x[0] = low;
    x[count - 1] = high;
}

static void fill_not_finite(aq_rng *rng, float *x, uint32_t count)
{
    static const uint32_t specials[] = {
        0x7F800000, /* infinity */
        0xFF800000, /* -infinity */
        0x7FC00000, /* quiet NaN */
        0xFFC12345, /* quiet NaN with a sign and a payload */
        0x7F800001, /* signalling NaN */
        0xFFBFFFFF, /* signalling NaN */
    };
    const size_t kinds = sizeof(specials) / sizeof(specials[0]);
    const uint64_t one_in = 1 + aq_rng_below(rng, 9); /* 1: the whole row */
    fill_uniform(rng, x, count);
    for (uint32_t i = 0; i < count; i++) {
        if (aq_rng_below(rng, one_in) == 0) {
            x[i] = from_bits(specials[aq_rng_below(rng, kinds)]);
        }
    }
}

static const struct pattern {
    const char *name;
    void (*fill)(aq_rng *rng, float *x, uint32_t count);
} patterns[] = {
    {"uniform", fill_uniform},   {"positive", fill_positive},   {"negative", fill_negative},
    {"zero", fill_zero},         {"constant", fill_constant},   {"one hot", fill_one_hot},
    {"any", fill_any_magnitude}, {"huge", fill_huge},           {"tiny", fill_tiny},
    {"ties", fill_ties},         {"near ties", fill_near_ties}, {"not finite", fill_not_finite},
    {"mixed rows", NULL},
};
enum { PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

static void fill_row(aq_rng *rng, const struct pattern *pattern, float *x, uint32_t count)
{
    if (pattern->fill != NULL) {
        pattern->fill(rng, x, count);
    } else {
        patterns[aq_rng_below(rng, PATTERNS - 1)].fill(rng, x, count);
    }
}

/* Rows of a pattern, and where both quantizers put them. */
typedef struct rows_case {
    const struct pattern *pattern;
    uint32_t inputs;
    size_t rows, x_stride, q_stride;
    const float *x;
    output_pair q;
    aq_row_quant expected[ROWS_MAX], got[ROWS_MAX];
} rows_case;

static void rows_case_init(aq_rng *rng, const struct pattern *pattern, uint32_t inputs, size_t rows,
                           rows_case *at)
{
    const size_t room =
        (inputs + AQ_QKERNEL_Q_PADDING - 1) / AQ_QKERNEL_Q_PADDING * AQ_QKERNEL_Q_PADDING;
    *at = (rows_case){.pattern = pattern, .inputs = inputs, .rows = rows};
    at->x_stride = inputs + aq_rng_below(rng, 4);
    at->q_stride = room + aq_rng_below(rng, 3) * 7;
    float *x = guarded_input(0, ((rows - 1) * at->x_stride + inputs) * sizeof(float));
    for (size_t row = 0; row < rows; row++) {
        fill_row(rng, pattern, x + row * at->x_stride, inputs);
    }
    at->x = x;
    memset(at->expected, OUTPUT_POISON, sizeof(at->expected));
    memset(at->got, OUTPUT_POISON, sizeof(at->got));
    output_pair_init(&at->q, (rows - 1) * at->q_stride + room,
                     aq_rng_below(rng, AQ_QKERNEL_Q_PADDING));
}

static void rows_case_judge(kernel_check *check, const char *what, rows_case *at)
{
    kernel_check_case(
        check,
        memcmp(at->q.expected, at->q.got, at->q.bytes) == 0 &&
            memcmp(at->expected, at->got, sizeof(at->got)) == 0 && output_pair_margins_hold(&at->q),
        "%s: %s, %u inputs, %zu rows: first row's scale %a and zero point %d, must "
        "be %a and %d",
        what, at->pattern->name, at->inputs, at->rows, (double)at->got[0].scale,
        at->got[0].zero_point, (double)at->expected[0].scale, at->expected[0].zero_point);
    output_pair_fini(&at->q);
}

static void check_dynamic(kernel_check *check, const struct pattern *pattern, uint32_t inputs,
                          size_t rows)
{
    rows_case at;
    rows_case_init(&check->rng, pattern, inputs, rows, &at);
    aq_qkernels_scalar()->quantize_rows(at.x, at.x_stride, rows, inputs, at.q.expected, at.q_stride,
                                        at.expected);
    check->rung->quantize_rows(at.x, at.x_stride, rows, inputs, at.q.got, at.q_stride, at.got);
    rows_case_judge(check, "quantize_rows", &at);
}

/* The scale is what the first row would get, or some powers of two away from it, so that ties stay
 * ties, and values lie beyond the range: by little, by more than int32 holds, or by more than a
 * float does. */
static aq_row_quant draw_static(aq_rng *rng, const rows_case *at)
{
    static const int away[] = {0, 0, -1, 1, -8, 8, -40, -126};
    const int power = away[aq_rng_below(rng, sizeof(away) / sizeof(away[0]))];
    static const int32_t zero_points[] = {0, 1, 127, 128, 254, 255};
    const size_t index = (size_t)aq_rng_below(rng, 2 * sizeof(zero_points) / sizeof(int32_t));
    aq_row_quant own;
    aq_qkernels_scalar()->quantize_rows(at->x, at->x_stride, 1, at->inputs, at->q.expected,
                                        at->q_stride, &own);
    const float scale = ldexpf(own.scale, power);
    return (aq_row_quant){
        .scale = fminf(fmaxf(scale, FLT_MIN), FLT_MAX / 256.0f),
        .zero_point =
            index < sizeof(zero_points) / sizeof(int32_t) ? zero_points[index] : own.zero_point,
    };
}

static void check_static(kernel_check *check, const struct pattern *pattern, uint32_t inputs,
                         size_t rows)
{
    rows_case at;
    rows_case_init(&check->rng, pattern, inputs, rows, &at);
    const aq_row_quant quant = draw_static(&check->rng, &at);
    memset(at.q.expected, OUTPUT_POISON, at.q.bytes);
    aq_qkernels_scalar()->quantize_rows_static(at.x, at.x_stride, rows, inputs, quant,
                                               at.q.expected, at.q_stride, at.expected);
    check->rung->quantize_rows_static(at.x, at.x_stride, rows, inputs, quant, at.q.got, at.q_stride,
                                      at.got);
    rows_case_judge(check, "quantize_rows_static", &at);
}

static void check_all(kernel_check *check,
                      void (*check_one)(kernel_check *check, const struct pattern *pattern,
                                        uint32_t inputs, size_t rows))
{
    for (size_t p = 0; p < PATTERNS; p++) {
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            for (size_t rows = 1; rows <= ROWS_MAX && !kernel_check_is_over(check); rows += 2) {
                check_one(check, &patterns[p], lengths[i], rows);
            }
        }
    }
}

void check_quantize_rows(kernel_check *check)
{
    check_all(check, check_dynamic);
}

void check_quantize_rows_static(kernel_check *check)
{
    check_all(check, check_static);
}
