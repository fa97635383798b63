/*
 * Parameters: one block without gaps, the starting distribution, copies.
 */
#include "common/nn/params.h"
#include "tests/support/test.h"

static aq_net_spec spec_of(uint32_t inputs, uint32_t width, uint32_t outputs)
{
    aq_net_spec spec;
    assert_int_equal(
        aq_net_spec_init_mlp(inputs, &width, 1, outputs, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    return spec;
}

static aq_params params_of(const aq_net_spec *spec, uint64_t seed)
{
    aq_params params;
    aq_rng rng;
    aq_rng_init(&rng, seed, 0);
    assert_int_equal(aq_params_init(spec, &params), 0);
    aq_params_randomize(spec, &params, &rng);
    return params;
}

TEST(views_cover_the_block_without_gaps)
{
    aq_net_spec spec = spec_of(4, 8, 2);
    aq_params params;
    assert_int_equal(aq_params_init(&spec, &params), 0);
    assert_int_equal(params.count, 5 * 8 + 9 * 2);
    assert_ptr_equal(params.weight[0], params.block);
    assert_ptr_equal(params.bias[0], params.block + 32);
    assert_ptr_equal(params.weight[1], params.block + 40);
    assert_ptr_equal(params.bias[1], params.block + 56);
    assert_null(params.weight[2]);
    assert_int_equal((uintptr_t)params.block % AQ_ALIGNMENT_BYTES, 0);
    for (size_t i = 0; i < params.count; i++) {
        assert_true(params.block[i] == 0.0f);
    }
    aq_params_fini(&params);
}

TEST(nothing_and_twice_can_be_finished)
{
    aq_net_spec spec = spec_of(4, 8, 2);
    aq_params params;
    aq_params_fini(NULL);
    assert_int_equal(aq_params_init(&spec, &params), 0);
    aq_params_fini(&params);
    assert_null(params.block);
    assert_int_equal(params.count, 0);
    aq_params_fini(&params);
}

TEST(a_failed_allocation_leaves_the_struct_alone)
{
    aq_net_spec spec = spec_of(4, 8, 2);
    aq_params params, before;
    memset(&before, 0x5a, sizeof(before));
    params = before;
    assert_fails_without_memory(aq_params_init(&spec, &params));
    assert_memory_equal(&params, &before, sizeof(params));
}

/* Mean and variance of a uniform variable in +-bound: 0 and bound^2 / 3. */
static void check_uniform(const float *values, size_t count, double bound)
{
    double sum = 0.0, squares = 0.0, largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        squares += (double)values[i] * values[i];
        largest = fmax(largest, fabs(values[i]));
    }
    double deviation = bound / sqrt(3.0);
    assert_true(largest <= (double)(float)bound);
    assert_true(largest > 0.99 * bound);
    assert_true(fabs(sum / (double)count) < 5.0 * deviation / sqrt((double)count));
    assert_true(fabs(squares / (double)count / (deviation * deviation) - 1.0) < 0.05);
}

TEST(random_parameters_are_uniform_within_the_layers_bound)
{
    aq_net_spec spec = spec_of(100, 4000, 50);
    aq_params params = params_of(&spec, 1);
    check_uniform(params.weight[0], 100 * 4000, sqrt(1.0 / 100));
    check_uniform(params.bias[0], 4000, sqrt(1.0 / 100));
    check_uniform(params.weight[1], 4000 * 50, sqrt(1.0 / 4000));
    aq_params_fini(&params);
}

TEST(a_seed_gives_one_set_and_another_seed_another)
{
    aq_net_spec spec = spec_of(4, 8, 2);
    aq_params a = params_of(&spec, 5), b = params_of(&spec, 5), c = params_of(&spec, 6);
    assert_memory_equal(a.block, b.block, a.count * sizeof(float));
    assert_memory_not_equal(a.block, c.block, a.count * sizeof(float));
    aq_params_fini(&a);
    aq_params_fini(&b);
    aq_params_fini(&c);
}

TEST(a_copy_is_equal_and_apart)
{
    aq_net_spec spec = spec_of(4, 8, 2);
    aq_params from = params_of(&spec, 5), to;
    assert_int_equal(aq_params_init(&spec, &to), 0);
    aq_params_copy(&to, &from);
    assert_memory_equal(to.block, from.block, from.count * sizeof(float));
    from.weight[1][0] += 1.0f;
    assert_true(to.weight[1][0] == from.weight[1][0] - 1.0f);
    assert_ptr_equal(to.weight[0], to.block);
    aq_params_fini(&from);
    aq_params_fini(&to);
}

/* The largest thing that keeps W W^T, or W^T W of fewer columns, from being the identity. */
static double off_orthogonal(const float *weight, size_t rows, size_t columns)
{
    const size_t count = rows < columns ? rows : columns, length = rows < columns ? columns : rows;
    const size_t apart = rows < columns ? columns : 1, step = rows < columns ? 1 : columns;
    double worst = 0.0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k <= i; k++) {
            double dot = i == k ? -1.0 : 0.0;
            for (size_t j = 0; j < length; j++) {
                dot += (double)weight[i * apart + j * step] * (double)weight[k * apart + j * step];
            }
            worst = fmax(worst, fabs(dot));
        }
    }
    return worst;
}

/* 9-40, a block of 160, a norm, -60: more rows than columns, and the other way round. */
TEST(a_network_with_residual_blocks_begins_as_simbas)
{
    aq_net_spec spec = {.layer_count = 7,
                        .layers = {aq_layer_linear(9, 40, AQ_ACTIVATION_NONE),
                                   aq_layer_norm(40, AQ_ACTIVATION_NONE),
                                   aq_layer_linear(40, 160, AQ_ACTIVATION_RELU),
                                   aq_layer_linear(160, 40, AQ_ACTIVATION_NONE), aq_layer_add(40),
                                   aq_layer_norm(40, AQ_ACTIVATION_NONE),
                                   aq_layer_linear(40, 6, AQ_ACTIVATION_NONE)}};
    spec.layers[4].sources = (aq_layer_sources){.count = 2, .values = {1, 4}};
    assert_int_equal(aq_net_spec_validate(&spec, NULL), 0);
    aq_params params = params_of(&spec, 2);
    assert_true(off_orthogonal(params.weight[0], 40, 9) < 1e-6);
    assert_true(off_orthogonal(params.weight[6], 6, 40) < 1e-6);
    for (uint32_t l = 2; l <= 3; l++) {
        const size_t count = (size_t)40 * 160;
        double squares = 0.0;
        for (size_t i = 0; i < count; i++) {
            squares += (double)params.weight[l][i] * (double)params.weight[l][i];
        }
        assert_near(squares / (double)count * spec.layers[l].inputs, 2.0, 0.2);
    }
    for (uint32_t l = 0; l < spec.layer_count; l++) {
        for (uint32_t i = 0; i < aq_layer_matrix(&spec.layers[l]).rows; i++) {
            assert_true(params.bias[l][i] == 0.0f);
        }
    }
    aq_params_fini(&params);
}

TEST(a_policy_in_fp32_holds_the_parameters)
{
    aq_net_spec spec = {.layer_count = 3,
                        .layers = {aq_layer_linear(5, 7, AQ_ACTIVATION_NONE),
                                   aq_layer_norm(7, AQ_ACTIVATION_RELU),
                                   aq_layer_linear(7, 3, AQ_ACTIVATION_NONE)},
                        .array_count = 2,
                        .arrays = {{"a", 2}, {"b", 3}}};
    aq_params params = params_of(&spec, 4);
    aq_snapshot *exact = NULL;
    for (size_t i = 0; i < 5; i++) {
        params.block[i] = (float)i + 0.5f;
    }
    assert_int_equal(aq_snapshot_create_exact(&spec, &exact), 0);
    aq_params_put(&params, exact);
    const aq_params held = aq_params_of(exact);
    assert_int_equal(held.count, params.count);
    for (uint32_t i = 0; i < spec.array_count; i++) {
        assert_memory_equal(held.array[i], params.array[i], spec.arrays[i].count * sizeof(float));
    }
    for (uint32_t l = 0; l < spec.layer_count; l++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&spec.layers[l]);
        assert_memory_equal(held.weight[l], params.weight[l],
                            (size_t)matrix.rows * matrix.columns * sizeof(float));
        assert_memory_equal(held.bias[l], params.bias[l], matrix.rows * sizeof(float));
    }
    aq_snapshot_unref(exact);
    aq_params_fini(&params);
}
