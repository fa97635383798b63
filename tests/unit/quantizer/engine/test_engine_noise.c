/*
 * Policies with noisy layers: what they do by their means, what each row does by noise of its own,
 * and that all rungs say the same.
 */
#include "common/sys/cpu.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"
#include "tests/unit/quantizer/random_policy.h"

enum { ROWS = 70, INPUTS = 5, WIDTH = 19, OUTPUTS = 3, NOISES = INPUTS + WIDTH + WIDTH + OUTPUTS };

static void add(aq_net_spec *spec, aq_layer_spec layer, uint32_t count, uint32_t first,
                uint32_t second)
{
    layer.sources = (aq_layer_sources){.count = count, .values = {first, second}};
    assert_int_equal(aq_net_spec_add(spec, &layer, NULL), 0);
}

static void add_noisy(aq_net_spec *spec, uint32_t inputs, uint32_t outputs,
                      enum aq_activation activation)
{
    const uint32_t from = spec->layer_count;
    const aq_layer_spec linear = aq_layer_linear(inputs, outputs, AQ_ACTIVATION_NONE);
    add(spec, linear, 1, from, 0);
    add(spec, aq_layer_noise(inputs, 1, 1, AQ_ACTIVATION_NONE), 1, from, 0);
    add(spec, linear, 1, from + 2, 0);
    add(spec, aq_layer_noise(outputs, 2, 1, activation), 2, from + 1, from + 3);
}

static aq_snapshot *make_policy(uint32_t format)
{
    aq_net_spec spec = {0};
    add_noisy(&spec, INPUTS, WIDTH, AQ_ACTIVATION_RELU);
    add_noisy(&spec, WIDTH, OUTPUTS, AQ_ACTIVATION_NONE);
    assert_succeeds(aq_net_spec_validate(&spec, &refusal));
    assert_int_equal(aq_net_spec_noise(&spec), NOISES);
    return random_policy_create(
        &spec, &(random_policy_how){.seed = 3 + format, .format = format, .head = AQ_HEAD_ARGMAX});
}

static aq_engine *make_engine(aq_snapshot *snapshot, uint32_t cpu_flags)
{
    return quantizer_fixture_engine(snapshot, ROWS, cpu_flags);
}

static float *make_noise(uint64_t seed)
{
    float *noise = quantizer_fixture_floats((size_t)ROWS * NOISES);
    aq_rng rng = rng_of(seed, 2);
    fill_normal(noise, (size_t)ROWS * NOISES, 1, &rng);
    return noise;
}

TEST(without_noise_the_network_of_the_means_acts)
{
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        aq_snapshot *snapshot = make_policy(format);
        aq_snapshot mean = aq_snapshot_mean(snapshot);
        const float *obs = random_policy_observations(&snapshot->spec, 7, ROWS);
        float whole[ROWS * OUTPUTS], part[ROWS * OUTPUTS];
        aq_engine *engine = make_engine(snapshot, aq_cpu_flags()), *of_mean = NULL;
        char text[64];
        assert_string_equal(aq_net_spec_text(&mean.spec, text, sizeof(text)), "5-19r-3");
        assert_succeeds(aq_engine_create(&mean, ROWS, aq_cpu_flags(), &of_mean, &refusal));
        aq_engine_forward(engine, obs, ROWS, whole);
        aq_engine_forward(of_mean, obs, ROWS, part);
        aq_engine_destroy(of_mean); /* the view outlives it */
        assert_memory_equal(whole, part, sizeof(whole));
        aq_engine_perturb(engine, make_noise(1));
        aq_engine_forward(engine, obs, ROWS, part);
        assert_memory_not_equal(whole, part, sizeof(whole));
        aq_engine_perturb(engine, NULL);
        aq_engine_forward(engine, obs, ROWS, part);
        assert_memory_equal(whole, part, sizeof(whole));
    }
}

TEST(what_is_kept_of_the_way_to_a_deviation_has_its_place_without_noise)
{
    enum { KEPT = 4, ACTING = 8, STEPS = 3 };
    aq_net_spec spec = {0};
    add(&spec, aq_layer_linear(INPUTS, WIDTH, AQ_ACTIVATION_NONE), 1, 0, 0);
    add(&spec, aq_layer_noise(INPUTS, 1, 1, AQ_ACTIVATION_NONE), 1, 0, 0);
    add(&spec, aq_layer_linear(INPUTS, AQ_GRU_GATES * KEPT, AQ_ACTIVATION_NONE), 1, 2, 0);
    add(&spec, aq_layer_gru(KEPT), 1, 3, 0);
    add(&spec, aq_layer_linear(KEPT, WIDTH, AQ_ACTIVATION_NONE), 1, 4, 0);
    add(&spec, aq_layer_noise(WIDTH, 2, 1, AQ_ACTIVATION_RELU), 2, 1, 5);
    add(&spec, aq_layer_linear(WIDTH, AQ_GRU_GATES * ACTING, AQ_ACTIVATION_NONE), 1, 6, 0);
    add(&spec, aq_layer_gru(ACTING), 1, 7, 0);
    add(&spec, aq_layer_linear(ACTING, OUTPUTS, AQ_ACTIVATION_NONE), 1, 8, 0);
    aq_snapshot *snapshot = random_policy_create(
        &spec, &(random_policy_how){.seed = 3, .format = AQ_FORMAT_F32, .head = AQ_HEAD_ARGMAX});
    aq_snapshot mean = aq_snapshot_mean(snapshot);
    const float *obs = random_policy_observations(&spec, 7, STEPS), zeros[KEPT] = {0};
    float whole[KEPT + ACTING] = {0}, part[ACTING] = {0};
    aq_engine *engine = make_engine(snapshot, aq_cpu_flags()), *of_mean = NULL;
    assert_succeeds(aq_engine_create(&mean, ROWS, aq_cpu_flags(), &of_mean, &refusal));
    for (size_t step = 0; step < STEPS; step++) {
        (void)aq_engine_step(engine, obs + step * INPUTS, whole, 1);
        (void)aq_engine_step(of_mean, obs + step * INPUTS, part, 1);
    }
    aq_engine_destroy(of_mean);
    assert_memory_equal(whole, zeros, sizeof(zeros));
    assert_memory_equal(whole + KEPT, part, sizeof(part));
}

/* y = W x + b + e_out (D (e_in x) + d), by the weights that are stored. */
static void noisy(const aq_snapshot *policy, uint32_t l, const float *noise, const double *x,
                  double *y)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(&policy->spec.layers[l]);
    const float *weight = policy->layers[l].weights, *deviation = policy->layers[l + 2].weights;
    for (uint32_t row = 0; row < matrix.rows; row++) {
        double added = (double)policy->layers[l + 2].bias[row];
        y[row] = (double)policy->layers[l].bias[row];
        for (uint32_t i = 0; i < matrix.columns; i++) {
            y[row] += (double)weight[row * matrix.columns + i] * x[i];
            added += (double)deviation[row * matrix.columns + i] * (double)noise[i] * x[i];
        }
        y[row] += (double)noise[matrix.columns + row] * added;
    }
}

TEST(in_fp32_each_row_has_its_own_noise)
{
    aq_snapshot *snapshot = make_policy(AQ_FORMAT_F32);
    aq_engine *engine = make_engine(snapshot, aq_cpu_flags());
    const float *obs = random_policy_observations(&snapshot->spec, 7, ROWS);
    const float *noise = make_noise(5);
    float out[ROWS * OUTPUTS];
    aq_engine_perturb(engine, noise);
    aq_engine_forward(engine, obs, ROWS, out);
    for (size_t row = 0; row < ROWS; row++, noise += NOISES) {
        double x[INPUTS], h[WIDTH], y[OUTPUTS];
        for (size_t i = 0; i < INPUTS; i++) {
            x[i] = (double)obs[row * INPUTS + i];
        }
        noisy(snapshot, 0, noise, x, h);
        for (size_t i = 0; i < WIDTH; i++) {
            h[i] = fmax(h[i], 0.0);
        }
        noisy(snapshot, 4, noise + INPUTS + WIDTH, h, y);
        for (size_t i = 0; i < OUTPUTS; i++) {
            assert_near(out[row * OUTPUTS + i], y[i], 1e-3);
        }
    }
}

TEST(noise_has_the_same_bits_on_every_rung_and_in_every_row)
{
    uint32_t flags[QUANTIZER_RUNGS_MAX];
    const uint32_t rungs = quantizer_fixture_rungs(flags);
    const float *noise = make_noise(2);
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        aq_snapshot *snapshot = make_policy(format);
        const float *obs = random_policy_observations(&snapshot->spec, 8, ROWS);
        aq_engine *scalar = make_engine(snapshot, 0);
        float expected[ROWS * OUTPUTS], out[ROWS * OUTPUTS];
        for (size_t row = 0; row < ROWS; row++) {
            aq_engine_perturb(scalar, noise + row * NOISES);
            aq_engine_forward(scalar, obs + row * INPUTS, 1, expected + row * OUTPUTS);
        }
        for (uint32_t r = 0; r < rungs; r++) {
            aq_engine *engine = make_engine(snapshot, flags[r]);
            aq_engine_perturb(engine, noise);
            aq_engine_forward(engine, obs, ROWS, out);
            assert_memory_equal(out, expected, sizeof(out));
        }
    }
}
