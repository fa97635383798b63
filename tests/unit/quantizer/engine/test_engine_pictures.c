/*
 * Convolutions of every shape that a kernel may read patches from in place: the same bits on all
 * rungs, of which the scalar one lays them out; and the same for pictures given as bytes.
 */
#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"
#include "tests/unit/quantizer/random_policy.h"

enum { PICTURES = 3, ACTIONS = 3 };

static const aq_conv_shape shapes[] = {
    {12, 9, 4, 20, 3, 1, 0},                           /* pieces of whole units */
    {11, 13, 3, 17, 5, 2, 0},  {9, 9, 7, 33, 3, 1, 1}, /* with rests, and a border */
    {20, 70, 1, 5, 2, 1, 0},                           /* rows of more than one block of patches */
    {8, 8, 32, 64, 4, 2, 0},   {5, 5, 2, 16, 2, 1, 1},
    {10, 11, 32, 70, 4, 2, 0}, /* of enough products for tiles, */
    {8, 26, 24, 20, 3, 1, 1},  /* two of which make a row of patches */
};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static aq_snapshot *policy_of(const aq_conv_shape *shape, uint32_t format, bool is_static)
{
    aq_net_spec spec = {.layer_count = 2};
    spec.layers[0] = aq_layer_conv2d(shape, AQ_ACTIVATION_RELU);
    spec.layers[1] = aq_layer_linear(spec.layers[0].outputs, ACTIONS, AQ_ACTIVATION_NONE);
    const random_policy_how how = {
        .seed = 7, .format = format, .is_static = is_static, .head = AQ_HEAD_ARGMAX};
    return random_policy_create(&spec, &how);
}

#ifdef AQ_TESTS_KERNELS_EMULATED_TILES_H
/* Without them the other tests pass, and have looked at lower rungs alone. */
TEST(emulated_tiles_are_there)
{
    if ((aq_cpu_flags() & AQ_CPU_AMX) == 0) {
        skip();
    }
}
#endif

TEST(patches_read_in_place_give_the_same_bits)
{
    uint32_t flags[QUANTIZER_RUNGS_MAX];
    const uint32_t rungs = quantizer_fixture_rungs(flags);
    EACH_ROW(i, shapes) {
        /* tensors may have a zero point, which the patch itself is needed for */
        const uint32_t format = i % 3 == 2 ? AQ_FORMAT_INT8_TENSOR : AQ_FORMAT_INT8_CHANNEL;
        aq_snapshot *snapshot = policy_of(&shapes[i], format, i % 2 == 1);
        const aq_net_spec *spec = &snapshot->spec;
        float *obs = random_policy_observations(spec, 3, PICTURES);
        float *expected = quantizer_fixture_floats((size_t)PICTURES * spec->layers[0].outputs);
        float *got = quantizer_fixture_floats((size_t)PICTURES * spec->layers[0].outputs);
        aq_engine_forward_until(quantizer_fixture_engine(snapshot, PICTURES, 0), obs, PICTURES, 1,
                                expected);
        for (uint32_t r = 0; r < rungs; r++) {
            aq_engine *engine = quantizer_fixture_engine(snapshot, PICTURES, flags[r]);
            aq_engine_forward_until(engine, obs, PICTURES, 1, got);
            assert_memory_equal(got, expected, sizeof(float) * PICTURES * spec->layers[0].outputs);
        }
    }
}

/* The greatest byte decides how the others are quantized. */
static void check_bytes(const aq_conv_shape *shape, bool is_static, uint32_t greatest)
{
    uint32_t flags[QUANTIZER_RUNGS_MAX];
    const uint32_t rungs = quantizer_fixture_rungs(flags);
    aq_snapshot *snapshot = policy_of(shape, AQ_FORMAT_INT8_CHANNEL, is_static);
    const size_t inputs = aq_net_spec_inputs(&snapshot->spec);
    float *obs = quantizer_fixture_floats(PICTURES * inputs);
    uint8_t *bytes = aq_alloc(PICTURES * inputs, 1);
    assert_non_null(bytes);
    at_end(aq_free, bytes);
    aq_rng rng = rng_of(test_seed(), greatest);
    for (size_t i = 0; i < PICTURES * inputs; i++) {
        bytes[i] = (uint8_t)aq_rng_below(&rng, greatest + 1);
        obs[i] = (float)bytes[i] / 255.0f;
    }
    assert_false(aq_engine_takes_bytes(quantizer_fixture_engine(snapshot, PICTURES, 0)));
    for (uint32_t r = 0; r < rungs; r++) {
        aq_engine *engine = quantizer_fixture_engine(snapshot, PICTURES, flags[r]);
        float expected[PICTURES * ACTIONS];
        aq_engine_forward(engine, obs, PICTURES, expected);
        if (aq_engine_takes_bytes(engine)) {
            assert_memory_equal(aq_engine_step_of_bytes(engine, bytes, NULL, PICTURES), expected,
                                sizeof(expected));
        }
    }
}

TEST(bytes_are_the_floats_that_they_stand_for)
{
    static const uint32_t greatest[] = {0, 1, 2, 3, 77, 200, 254, 255};
    EACH_ROW(i, greatest) {
        check_bytes(&shapes[i % SHAPES], false, greatest[i]);
        check_bytes(&shapes[i % SHAPES], true, greatest[i]);
    }
}
