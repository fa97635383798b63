/*
 * The reference forward pass against networks worked out by hand, and its activations.
 */
#include "common/nn/forward.h"
#include "tests/support/test.h"

/* 2-3-2: every number below is exact in float. */
static aq_net_spec small_spec(enum aq_activation activation)
{
    const uint32_t hidden = 3;
    aq_net_spec spec;
    assert_int_equal(aq_net_spec_init_mlp(2, &hidden, 1, 2, activation, &spec, NULL), 0);
    return spec;
}

static aq_params small_params(const aq_net_spec *spec)
{
    static const float numbers[] = {
        1,    2,   -1, 0.5f, 0,     -3, /* W0, a row an output */
        0.5f, -1,  2,                   /* b0 */
        1,    1,   1,  -2,   0.25f, 4,  /* W1 */
        10,   -10,                      /* b1 */
    };
    aq_params params;
    assert_int_equal(aq_params_init(spec, &params), 0);
    assert_int_equal(params.count, sizeof(numbers) / sizeof(numbers[0]));
    memcpy(params.block, numbers, sizeof(numbers));
    return params;
}

static void forward_small(enum aq_activation activation, const float *in, size_t rows, float *out)
{
    aq_net_spec spec = small_spec(activation);
    aq_params params = small_params(&spec);
    float scratch[2 * 4 * 3];
    assert_true(rows <= 4);
    aq_forward_reference(&spec, &params, in, rows, scratch, out);
    aq_params_fini(&params);
}

TEST(a_relu_network_gives_what_the_hand_does)
{
    const float in[] = {1, 2};
    float out[2];
    /* hidden: 5.5, -1, -4 -> 5.5, 0, 0 */
    forward_small(AQ_ACTIVATION_RELU, in, 1, out);
    assert_true(out[0] == 15.5f);
    assert_true(out[1] == -21.0f);
}

TEST(a_linear_network_gives_what_the_hand_does)
{
    const float in[] = {1, 2};
    float out[2];
    /* hidden: 5.5, -1, -4 */
    forward_small(AQ_ACTIVATION_NONE, in, 1, out);
    assert_true(out[0] == 10.5f);
    assert_true(out[1] == -10.0f - 11.0f - 0.25f - 16.0f);
}

TEST(curved_networks_give_what_the_equation_does)
{
    const float in[] = {0.25f, -0.5f}; /* hidden: -0.25, -1.5, 3.5 */
    float out[2];
    forward_small(AQ_ACTIVATION_TANH, in, 1, out);
    double a = tanh(-0.25), b = tanh(-1.5), c = tanh(3.5);
    assert_true(fabs(out[0] - (10 + a + b + c)) < 1e-6);
    assert_true(fabs(out[1] - (-10 - 2 * a + 0.25 * b + 4 * c)) < 1e-6);
    forward_small(AQ_ACTIVATION_ELU, in, 1, out);
    a = exp(-0.25) - 1, b = exp(-1.5) - 1, c = 3.5;
    assert_true(fabs(out[0] - (10 + a + b + c)) < 2e-6);
    assert_true(fabs(out[1] - (-10 - 2 * a + 0.25 * b + 4 * c)) < 2e-6);
}

TEST(each_row_is_on_its_own)
{
    const float in[] = {1, 2, 0.25f, -0.5f, -3, 4, 0, 0};
    float together[8], alone[2];
    forward_small(AQ_ACTIVATION_ELU, in, 4, together);
    for (size_t row = 0; row < 4; row++) {
        forward_small(AQ_ACTIVATION_ELU, in + 2 * row, 1, alone);
        assert_memory_equal(together + 2 * row, alone, sizeof(alone));
    }
}

TEST(one_layer_needs_no_scratch)
{
    aq_net_spec spec;
    aq_params params;
    const float in[] = {2, 3};
    float out[2];
    assert_int_equal(aq_net_spec_init_mlp(1, NULL, 0, 1, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    assert_int_equal(aq_params_init(&spec, &params), 0);
    params.weight[0][0] = 4;
    params.bias[0][0] = -10;
    aq_forward_reference(&spec, &params, in, 2, NULL, out);
    assert_true(out[0] == -2.0f); /* no activation at the end */
    assert_true(out[1] == 2.0f);
    aq_params_fini(&params);
}

TEST(no_rows_touch_nothing)
{
    float out[2] = {7, 7};
    forward_small(AQ_ACTIVATION_RELU, NULL, 0, out);
    assert_true(out[0] == 7 && out[1] == 7);
}

enum { DEEP_ROWS = 5, DEEP_WIDTH = 9, GUARD = 16 };

TEST(scratch_and_output_are_not_passed)
{
    const uint32_t hidden[] = {DEEP_WIDTH, 3, DEEP_WIDTH, 2, 7};
    const size_t scratch_count = 2 * DEEP_ROWS * DEEP_WIDTH;
    aq_net_spec spec;
    aq_params params;
    aq_rng rng;
    float in[DEEP_ROWS * 6], out[DEEP_ROWS * 4 + GUARD];
    assert_int_equal(aq_net_spec_init_mlp(6, hidden, 5, 4, AQ_ACTIVATION_TANH, &spec, NULL), 0);
    assert_int_equal(aq_params_init(&spec, &params), 0);
    aq_rng_init(&rng, 3, 0);
    aq_params_randomize(&spec, &params, &rng);
    float *scratch = aq_alloc(scratch_count + GUARD, sizeof(*scratch));
    assert_non_null(scratch);
    for (size_t i = 0; i < GUARD; i++) {
        scratch[scratch_count + i] = out[DEEP_ROWS * 4 + i] = 1234.0f;
    }
    fill_normal(in, DEEP_ROWS * 6, 1, &rng);
    aq_forward_reference(&spec, &params, in, DEEP_ROWS, scratch, out);
    for (size_t i = 0; i < GUARD; i++) {
        assert_true(scratch[scratch_count + i] == 1234.0f);
        assert_true(out[DEEP_ROWS * 4 + i] == 1234.0f);
    }
    aq_free(scratch);
    aq_params_fini(&params);
}

TEST(sums_keep_what_float_would_lose)
{
    aq_net_spec spec;
    aq_params params;
    float in[101], out;
    assert_int_equal(aq_net_spec_init_mlp(101, NULL, 0, 1, AQ_ACTIVATION_NONE, &spec, NULL), 0);
    assert_int_equal(aq_params_init(&spec, &params), 0);
    for (int i = 0; i < 101; i++) {
        params.weight[0][i] = 1.0f;
        in[i] = i == 0 ? 16777216.0f : 1.0f; /* in float, 2^24 + 1 is 2^24 */
    }
    aq_forward_reference(&spec, &params, in, 1, NULL, &out);
    assert_true(out == 16777316.0f);
    aq_params_fini(&params);
}

TEST(activations_follow_their_equations)
{
    const float in[] = {-100.0f, -1.0f, -1e-6f, 0.0f, 1e-6f, 1.0f, 100.0f};
    for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
        float none = in[i], relu = in[i], tangent = in[i], elu = in[i];
        double x = in[i];
        aq_activate(AQ_ACTIVATION_NONE, &none, 1);
        aq_activate(AQ_ACTIVATION_RELU, &relu, 1);
        aq_activate(AQ_ACTIVATION_TANH, &tangent, 1);
        aq_activate(AQ_ACTIVATION_ELU, &elu, 1);
        assert_true(none == in[i]);
        assert_true(relu == (in[i] > 0 ? in[i] : 0.0f));
        assert_true(fabs(tangent - tanh(x)) <= 2e-7 * fabs(tanh(x)));
        double want = x > 0 ? x : expm1(x);
        assert_true(fabs(elu - want) <= 2e-7 * fabs(want));
    }
}

TEST(nan_comes_out_of_every_activation)
{
    for (uint32_t i = AQ_ACTIVATION_NONE; i <= AQ_ACTIVATION_ELU; i++) {
        float values[] = {1.0f, NAN, -1.0f};
        aq_activate(i, values, 3);
        assert_true(isnan(values[1]));
        assert_true(isfinite(values[0]) && isfinite(values[2]));
    }
}
