/*
 * Convolutions forward and back: against plain loops in double on every rung and in bf16, whose
 * numbers here need no rounding; and, small, against finite differences (net_fixture.h).
 */
#include "common/sys/cpu.h"
#include "learner/nn/train_layers.h"
#include "tests/support/test.h"
#include "tests/unit/learner/net_fixture.h"

enum { ROWS = 3, COUNTED = 2 };

/* A layer of one shape with numbers, and what plain loops make of them. */
typedef struct stand {
    aq_layer_spec spec;
    size_t inputs, outputs, weights, filters; /* of floats */
    float *x, *weight, *bias, *out, *d, *d_x, *d_weight, *d_bias, *uncounted;
    double *want_out, *want_weight, *want_bias, *want_x;
    void *scratch;
} stand;

static void *room(size_t count, size_t size)
{
    void *memory = aq_alloc(count, size);
    assert_non_null(memory);
    at_end(aq_free, memory);
    return memory;
}

/* Eighths from -1 to 1: products of them, and sums of those, are exact. */
static float *eighths(size_t count, aq_rng *rng)
{
    float *values = room(count, sizeof(*values));
    for (size_t i = 0; i < count; i++) {
        values[i] = ((float)aq_rng_below(rng, 17) - 8.0f) / 8.0f;
    }
    return values;
}

/* All pairs of a value of the image and a weight that meet at one pixel of the output. */
static void meet(stand *s, size_t row, uint32_t y, uint32_t x, uint32_t f)
{
    const aq_conv_shape *of = &s->spec.conv;
    const size_t at = row * s->outputs + ((size_t)y * aq_conv_out_width(of) + x) * of->filters + f;
    const double d = s->d[at];
    for (uint32_t k = 0; k < of->kernel * of->kernel * of->channels; k++) {
        const uint32_t c = k % of->channels, tap = k / of->channels;
        const int64_t from_y = (int64_t)y * of->stride + tap / of->kernel - of->padding;
        const int64_t from_x = (int64_t)x * of->stride + tap % of->kernel - of->padding;
        if (from_y < 0 || from_y >= of->height || from_x < 0 || from_x >= of->width) {
            continue;
        }
        const size_t in =
            row * s->inputs + (size_t)(from_y * of->width + from_x) * of->channels + c;
        const size_t w = f * (s->weights / of->filters) + k;
        s->want_out[at] += (double)s->x[in] * (double)s->weight[w];
        s->want_x[in] += d * (double)s->weight[w];
        s->want_weight[w] += row < COUNTED ? d * (double)s->x[in] : 0.0;
    }
    s->want_out[at] += (double)s->bias[f];
    s->want_bias[f] += row < COUNTED ? d : 0.0;
}

static stand *stand_of(const aq_conv_shape *shape)
{
    stand *s = room(1, sizeof(*s));
    aq_rng rng = rng_of(77, shape->filters);
    s->spec = aq_layer_conv2d(shape, AQ_ACTIVATION_NONE);
    s->inputs = s->spec.inputs;
    s->outputs = s->spec.outputs;
    s->filters = shape->filters;
    s->weights = (size_t)shape->filters * aq_layer_matrix(&s->spec).columns;
    s->x = eighths(ROWS * s->inputs, &rng);
    s->d = eighths(ROWS * s->outputs, &rng);
    s->weight = eighths(s->weights, &rng);
    s->bias = eighths(s->filters, &rng);
    s->out = room(ROWS * s->outputs, sizeof(float));
    s->d_x = room(ROWS * s->inputs, sizeof(float));
    s->d_weight = room(s->weights, sizeof(float));
    s->d_bias = room(s->filters, sizeof(float));
    s->uncounted = room(2 * s->outputs, sizeof(float));
    s->want_out = room(ROWS * s->outputs, sizeof(double));
    s->want_x = room(ROWS * s->inputs, sizeof(double));
    s->want_weight = room(s->weights, sizeof(double));
    s->want_bias = room(s->filters, sizeof(double));
    s->scratch = room(1, aq_train_kind_of(&s->spec)->scratch_bytes(&s->spec));
    const uint32_t height = aq_conv_out_height(shape), width = aq_conv_out_width(shape);
    for (size_t i = 0; i < (size_t)ROWS * height * width * shape->filters; i++) {
        const size_t pixel = i / shape->filters;
        meet(s, pixel / ((size_t)height * width), (uint32_t)(pixel / width % height),
             (uint32_t)(pixel % width), (uint32_t)(i % shape->filters));
    }
    return s;
}

static void assert_close(const char *what, const float *got, const double *want, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!(fabs((double)got[i] - want[i]) <= 1e-5 * (1.0 + fabs(want[i])))) {
            fail_msg("%s %zu: %.9g, by plain loops %.9g", what, i, (double)got[i], want[i]);
        }
    }
}

static void check(stand *s, aq_products *products)
{
    const aq_train_kind *kind = aq_train_kind_of(&s->spec);
    float *d = room(ROWS * s->outputs, sizeof(float));
    aq_train_layer layer = {.spec = &s->spec,
                            .weight = s->weight,
                            .bias = s->bias,
                            .x = {s->x},
                            .out = s->out,
                            .products = products,
                            .scratch = s->scratch};
    memcpy(d, s->d, ROWS * s->outputs * sizeof(*d));
    memset(s->d_x, 0x7f, ROWS * s->inputs * sizeof(float));
    memset(s->d_weight, 0x7f, s->weights * sizeof(float));
    memset(s->scratch, 0x7f, kind->scratch_bytes(&s->spec));
    kind->forward(&layer, ROWS);
    const aq_train_gradient gradient = {.d = d,
                                        .weight = s->d_weight,
                                        .bias = s->d_bias,
                                        .d_x = {s->d_x},
                                        .wants_d_x = {true},
                                        .counted_rows = COUNTED,
                                        .uncounted = s->uncounted};
    kind->backward(&layer, &gradient, ROWS);
    assert_close("output", s->out, s->want_out, ROWS * s->outputs);
    assert_close("weight", s->d_weight, s->want_weight, s->weights);
    assert_close("bias", s->d_bias, s->want_bias, s->filters);
    assert_close("input", s->d_x, s->want_x, ROWS * s->inputs);
}

static const aq_conv_shape shapes[] = {
    {10, 10, 4, 16, 3, 1, 0}, {20, 20, 4, 32, 8, 4, 0}, {9, 9, 32, 64, 4, 2, 0},
    {7, 9, 5, 33, 3, 2, 1},   {6, 5, 3, 17, 2, 3, 0},   {5, 8, 2, 40, 5, 1, 4},
    {11, 11, 1, 3, 1, 2, 0},  {30, 31, 7, 20, 3, 1, 1}, {4, 4, 33, 16, 4, 4, 3},
    {1, 1, 1, 1, 1, 1, 0},    {13, 3, 20, 48, 3, 5, 0}, {24, 40, 8, 16, 3, 1, 0},
};

TEST(every_rung_does_what_plain_loops_do)
{
    EACH_ROW(i, shapes) {
        static const uint32_t masks[] = {UINT32_MAX, ~(uint32_t)AQ_CPU_AVX512, 0};
        stand *s = stand_of(&shapes[i]);
        for (size_t k = 0; k < 3; k++) {
            aq_cpu_set_mask(masks[k]);
            check(s, NULL);
            aq_cpu_set_mask(UINT32_MAX);
        }
    }
}

TEST(numbers_that_bf16_holds_give_the_same_in_it)
{
    if (!aq_products_has_bf16()) {
        skip();
    }
    aq_products *products = NULL;
    assert_succeeds(aq_products_create((aq_products_room){0}, 1, &products));
    EACH_ROW(i, shapes) {
        check(stand_of(&shapes[i]), products);
    }
    aq_products_destroy(products);
}

TEST(gradients_of_convolutions_are_right)
{
    static const struct {
        aq_conv_shape first, second;
        enum aq_activation activation;
    } rows[] = {
        {{4, 3, 2, 3, 2, 1, 0}, {3, 2, 3, 4, 2, 1, 0}, AQ_ACTIVATION_TANH},
        {{3, 3, 2, 3, 2, 2, 1}, {2, 2, 3, 2, 2, 1, 1}, AQ_ACTIVATION_ELU},
        {{5, 4, 1, 2, 3, 2, 1}, {3, 2, 2, 5, 1, 2, 0}, AQ_ACTIVATION_RELU},
    };
    EACH_ROW(i, rows) {
        for (uint32_t bits = 0; bits <= 8; bits += 8) {
            const aq_fake_quant quant = {.bits = bits, .format = AQ_FORMAT_INT8_CHANNEL};
            aq_net_spec spec = {.layer_count = 3,
                                .layers = {aq_layer_conv2d(&rows[i].first, rows[i].activation),
                                           aq_layer_conv2d(&rows[i].second, rows[i].activation)}};
            spec.layers[2] = aq_layer_linear(spec.layers[1].outputs, 3, AQ_ACTIVATION_NONE);
            net_fixture *f = net_fixture_of(&spec, quant, 5 + i);
            net_fixture_check_gradient(f, NET_ROWS);
            net_fixture_check_gradient(f, 2);
            if (bits == 0) {
                net_fixture_check_input_gradient(f, NET_ROWS, 4, 4, 3);
            }
        }
    }
}
