/*
 * Fake quantization against the quantizer and the kernels: what is trained is what is published and
 * what actors compute with, bit for bit.
 */
#include <float.h>

#include "common/policy/snapshot.h"
#include "learner/nn/fake_quant.h"
#include "quantizer/kernels/qkernels.h"
#include "quantizer/quantize/quantize.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"

enum { INPUTS = 7, HIDDEN = 131, ACTIONS = 3, PARAMETERS_MAX = 20000 };

static const aq_fake_quant plans[] = {
    {.bits = 2, .format = AQ_FORMAT_INT8_CHANNEL}, {.bits = 3, .format = AQ_FORMAT_INT8_CHANNEL},
    {.bits = 4, .format = AQ_FORMAT_INT8_CHANNEL}, {.bits = 5, .format = AQ_FORMAT_INT8_CHANNEL},
    {.bits = 6, .format = AQ_FORMAT_INT8_CHANNEL}, {.bits = 7, .format = AQ_FORMAT_INT8_CHANNEL},
    {.bits = 8, .format = AQ_FORMAT_INT8_CHANNEL}, {.bits = 2, .format = AQ_FORMAT_INT8_TENSOR},
    {.bits = 3, .format = AQ_FORMAT_INT8_TENSOR},  {.bits = 4, .format = AQ_FORMAT_INT8_TENSOR},
    {.bits = 5, .format = AQ_FORMAT_INT8_TENSOR},  {.bits = 6, .format = AQ_FORMAT_INT8_TENSOR},
    {.bits = 7, .format = AQ_FORMAT_INT8_TENSOR},  {.bits = 8, .format = AQ_FORMAT_INT8_TENSOR},
    {.bits = 4, .format = AQ_FORMAT_INT4},         {.bits = 2, .format = AQ_FORMAT_INT2},
};
enum { PLANS = sizeof(plans) / sizeof(plans[0]) };

typedef struct fixture {
    aq_schema schema;
    aq_net_spec spec;
    aq_params real, fake;
} fixture;

/* 7-131-131-3: widths that no group of 64 divides, a norm and a dueling head; weights of all sizes.
 */
static void init(fixture *f, uint64_t seed)
{
    float low[INPUTS], high[INPUTS];
    memset(f, 0, sizeof(*f));
    for (int i = 0; i < INPUTS; i++) {
        low[i] = -1;
        high[i] = 1;
    }
    aq_space_init_box(&f->schema.obs, INPUTS, low, high);
    aq_space_init_discrete(&f->schema.action, ACTIONS);
    net_add(&f->spec, aq_layer_linear(INPUTS, HIDDEN, AQ_ACTIVATION_NONE));
    net_add(&f->spec, aq_layer_norm(HIDDEN, AQ_ACTIVATION_RELU));
    net_add(&f->spec, aq_layer_linear(HIDDEN, HIDDEN, AQ_ACTIVATION_TANH));
    net_add(&f->spec, aq_layer_linear(HIDDEN, 1 + ACTIONS, AQ_ACTIVATION_NONE));
    net_add(&f->spec, aq_layer_dueling(ACTIONS, 1));
    assert_int_equal(aq_params_init(&f->spec, &f->real), 0);
    assert_int_equal(aq_params_init(&f->spec, &f->fake), 0);
    assert_true(f->real.count <= PARAMETERS_MAX);
    aq_rng rng = rng_of(seed, 0);
    for (size_t k = 0; k < f->real.count; k++) {
        f->real.block[k] = (float)(aq_rng_normal(&rng) * exp(aq_rng_range(&rng, -6, 6)));
    }
}

static void fini(fixture *f)
{
    aq_params_fini(&f->fake);
    aq_params_fini(&f->real);
}

/* What a snapshot of `params` stands for: weights and biases, layer by layer. */
static void published(const fixture *f, const aq_fake_quant *quant, const aq_params *params,
                      aq_params *out)
{
    const aq_quantize_plan plan = {.format = quant->format, .bits = quant->bits};
    const aq_quantize_meta meta = {.run_id = 1,
                                   .version = 1,
                                   .task = "gym:Test-v0",
                                   .schema = &f->schema,
                                   .head = AQ_HEAD_ARGMAX};
    aq_snapshot *snapshot = NULL;
    assert_succeeds(aq_quantize(&f->spec, params, &plan, &meta, &snapshot, &refusal));
    aq_params_copy(out, params);
    for (uint32_t l = 0; l < f->spec.layer_count; l++) {
        if (aq_layer_is_quantizable(&f->spec.layers[l])) {
            assert_int_equal(snapshot->layers[l].format, quant->format);
            aq_snapshot_layer_weights(snapshot, l, out->weight[l]);
        }
    }
    aq_snapshot_unref(snapshot);
}

static void assert_same(const aq_params *got, const aq_params *want)
{
    assert_memory_equal(got->block, want->block, want->count * sizeof(float));
}

TEST(what_is_trained_is_what_is_published)
{
    aq_params stored;
    fixture f;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        init(&f, seed);
        assert_int_equal(aq_params_init(&f.spec, &stored), 0);
        for (size_t p = 0; p < PLANS; p++) {
            aq_fake_quant_params(&plans[p], &f.spec, &f.real, &f.fake);
            published(&f, &plans[p], &f.real, &stored);
            assert_same(&f.fake, &stored);
            assert_memory_not_equal(f.fake.block, f.real.block, f.real.count * sizeof(float));
            /* The learner hands on what was fake-quantized already. */
            published(&f, &plans[p], &f.fake, &stored);
            assert_same(&f.fake, &stored);
        }
        aq_params_fini(&stored);
        fini(&f);
    }
}

TEST(levels_are_as_many_as_the_bits_allow)
{
    for (uint32_t bits = 2; bits <= 8; bits++) {
        const aq_fake_quant quant = {.bits = bits, .format = AQ_FORMAT_INT8_CHANNEL};
        const aq_layer_spec layer = aq_layer_linear(1001, 1, AQ_ACTIVATION_NONE);
        const int levels = (1 << (bits - 1)) - 1;
        float weights[1001], out[1001];
        int distinct = 1;
        for (int i = 0; i <= 1000; i++) {
            weights[i] = (float)(i - 500);
        }
        aq_fake_quant_weights(&quant, &layer, weights, out);
        for (int i = 1; i <= 1000; i++) {
            distinct += out[i] != out[i - 1];
            assert_true(fabsf(out[i] - weights[i]) <= 250.001f / (float)levels);
        }
        assert_int_equal(distinct, 2 * levels + 1);
        assert_true(out[500] == 0.0f);
        assert_true(fabsf(out[0] + 500) < 1e-4f);
        assert_true(fabsf(out[1000] - 500) < 1e-4f);
    }
}

TEST(weights_too_small_for_a_scale_count_as_zeros)
{
    const aq_fake_quant quant = {.bits = 8, .format = AQ_FORMAT_INT8_CHANNEL};
    const aq_layer_spec layer = aq_layer_linear(3, 2, AQ_ACTIVATION_NONE);
    const float weights[6] = {FLT_MIN, -FLT_MIN, FLT_TRUE_MIN, 1, 2, -3};
    float out[6];
    aq_fake_quant_weights(&quant, &layer, weights, out);
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0);
    assert_true(fabsf(out[5] + 3) < 1e-6f);
}

TEST(inputs_are_what_the_kernels_make_of_them)
{
    enum { ROWS = 300, WIDTH = 67, ROOM = 128 };
    static float x[ROWS * WIDTH], got[ROWS * WIDTH];
    static uint8_t q[ROWS * ROOM];
    static aq_row_quant quant[ROWS];
    aq_rng rng = rng_of(5, 0);
    for (size_t r = 0; r < ROWS; r++) {
        const double size = exp(aq_rng_range(&rng, -30, 30));
        const double shift = aq_rng_range(&rng, -2, 2);
        for (size_t i = 0; i < WIDTH; i++) {
            x[r * WIDTH + i] = r == 7 ? 0.0f : (float)(size * (aq_rng_normal(&rng) + shift));
            if (r % 3 == 0 && x[r * WIDTH + i] < 0) {
                x[r * WIDTH + i] = 0; /* as after ReLU */
            }
        }
    }
    aq_fake_quant_input(x, ROWS, WIDTH, got);
    aq_qkernels_scalar()->quantize_rows(x, WIDTH, ROWS, WIDTH, q, ROOM, quant);
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < WIDTH; i++) {
            const float want = quant[r].scale * (float)(q[r * ROOM + i] - quant[r].zero_point);
            assert_true(got[r * WIDTH + i] == want);
        }
    }
}

/* The kernels count it as 0; training must see it, and refuse the step. */
TEST(an_input_that_is_not_finite_makes_its_row_nan)
{
    const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 4; i++) {
        float x[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, out[10];
        x[2] = bad[i];
        aq_fake_quant_input(x, 2, 5, out);
        for (size_t k = 0; k < 5; k++) {
            assert_true(isnan(out[k]));
            assert_true(isfinite(out[5 + k]));
        }
    }
}

TEST(formats_hold_the_bits_that_they_can)
{
    for (uint32_t bits = 0; bits <= 16; bits++) {
        const bool any = bits >= 2 && bits <= 8;
        assert_int_equal(aq_format_holds_bits(AQ_FORMAT_INT8_CHANNEL, bits), any);
        assert_int_equal(aq_format_holds_bits(AQ_FORMAT_INT8_TENSOR, bits), any);
        assert_int_equal(aq_format_holds_bits(AQ_FORMAT_INT4, bits), bits == 4);
        assert_int_equal(aq_format_holds_bits(AQ_FORMAT_INT2, bits), bits == 2);
        assert_false(aq_format_holds_bits(AQ_FORMAT_F32, bits));
        assert_false(aq_format_holds_bits(AQ_FORMAT_F16, bits));
        assert_false(aq_format_holds_bits(AQ_FORMAT_BF16, bits));
        assert_false(aq_format_holds_bits(AQ_FORMAT_INT8_SPARSE, bits));
        assert_false(aq_format_holds_bits(0, bits));
        assert_false(aq_format_holds_bits(AQ_FORMAT_COUNT + 1, bits));
    }
}
