/*
 * Networks that branch: which graphs can be, where their values may lie, and what they are without
 * noise.
 */
#include "common/policy/net_graph.h"
#include "tests/support/test.h"

static void add(aq_net_spec *spec, aq_layer_spec layer, uint32_t source)
{
    layer.sources = (aq_layer_sources){.count = 1, .values = {source}};
    assert_int_equal(aq_net_spec_add(spec, &layer, NULL), 0);
}

static void add_sum(aq_net_spec *spec, uint32_t width, uint32_t first, uint32_t second)
{
    aq_layer_spec sum = aq_layer_add(width);
    sum.sources = (aq_layer_sources){.count = 2, .values = {first, second}};
    assert_int_equal(aq_net_spec_add(spec, &sum, NULL), 0);
}

/* Two layers (values 1 and 2), a branch of two (3 and 4), and where it joins again (5). */
static aq_net_spec branched(void)
{
    aq_net_spec spec = {0};
    add(&spec, aq_layer_linear(4, 6, AQ_ACTIVATION_TANH), 0);
    add(&spec, aq_layer_linear(6, 5, AQ_ACTIVATION_ELU), 1);
    add(&spec, aq_layer_linear(5, 7, AQ_ACTIVATION_RELU), 2);
    add(&spec, aq_layer_linear(7, 5, AQ_ACTIVATION_TANH), 3);
    add_sum(&spec, 5, 2, 4);
    assert_int_equal(aq_net_spec_validate(&spec, NULL), 0);
    return spec;
}

static void add_array(aq_net_spec *spec, const char *name, uint32_t count)
{
    aq_net_array *array = &spec->arrays[spec->array_count++];
    memcpy(array->name, name, strlen(name) + 1);
    array->count = count;
}

/* ---- what can be ---------------------------------------------------------------------------- */

TEST(a_branched_network_takes_a_value_twice)
{
    const aq_net_spec spec = branched();
    char text[64];
    assert_int_equal(aq_net_reader_count(&spec, 2), 2);
    assert_int_equal(aq_net_value_width(&spec, 2), 5);
    assert_string_equal(aq_net_spec_text(&spec, text, sizeof(text)), "4-6t-5e-7r-5t-add(2,4)");
}

TEST(naming_the_value_before_is_saying_nothing)
{
    const uint32_t hidden[] = {6, 5};
    aq_net_spec plain, named = {0};
    char text[2][64];
    assert_int_equal(aq_net_spec_init_mlp(4, hidden, 2, 2, AQ_ACTIVATION_RELU, &plain, NULL), 0);
    for (uint32_t i = 0; i < 3; i++) {
        add(&named, plain.layers[i], i);
    }
    assert_true(aq_net_spec_hash(&plain) == aq_net_spec_hash(&named));
    assert_string_equal(aq_net_spec_text(&plain, text[0], 64),
                        aq_net_spec_text(&named, text[1], 64));
}

TEST(the_hash_tells_sources_and_arrays_apart)
{
    aq_net_spec spec = branched();
    uint64_t hashes[5] = {aq_net_spec_hash(&spec)};
    spec.layers[4].sources.values[0] = 1;
    hashes[1] = aq_net_spec_hash(&spec);
    spec = branched();
    add_array(&spec, "a", 3);
    hashes[2] = aq_net_spec_hash(&spec);
    spec.arrays[0].count = 4;
    hashes[3] = aq_net_spec_hash(&spec);
    spec.arrays[0].name[0] = 'b';
    hashes[4] = aq_net_spec_hash(&spec);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < i; k++) {
            assert_true(hashes[i] != hashes[k]);
        }
    }
}

static void refuse(const aq_net_spec *spec, const char *words)
{
    assert_refused(aq_net_spec_validate(spec, &refusal), AQ_E_INVALID, words);
}

TEST(sources_that_cannot_be_are_refused)
{
    aq_net_spec spec = branched();
    spec.layers[2].sources.values[0] = 3;
    refuse(&spec, "layer 2 takes value 3; 0 to 2 are there before it");
    spec.layers[2].sources.values[0] = UINT32_MAX;
    refuse(&spec, "layer 2 takes value 4294967295");
    spec = branched();
    spec.layers[0].sources.values[0] = 1;
    refuse(&spec, "layer 0 takes value 1");
    spec = branched();
    spec.layers[4].sources.values[0] = 1;
    refuse(&spec, "layer 4 takes 10 values, but is given 11");
    spec.layers[4].sources.count = UINT32_MAX;
    refuse(&spec, "layer 4 takes 4294967295 values; 1 to 4 are possible");
    spec.layers[3].sources.count = 2;
    refuse(&spec, "layer 3: a linear layer takes one value, not 2");
    spec = branched();
    spec.layers[0].sources.count = 2;
    refuse(&spec, "layer 0: a linear layer in front takes one value, not 2");
}

TEST(behind_images_no_layer_takes_the_observation)
{
    const aq_conv_shape shape = {4, 4, 1, 2, 3, 1, 0};
    aq_net_spec spec = {0};
    add(&spec, aq_layer_conv2d(&shape, AQ_ACTIVATION_RELU), 0);
    add(&spec, aq_layer_linear(8, 16, AQ_ACTIVATION_NONE), 1);
    add_sum(&spec, 16, 2, 2);
    assert_int_equal(aq_net_spec_validate(&spec, NULL), 0);
    spec.layers[2].sources.values[1] = 0;
    refuse(&spec, "layer 2 takes value 0; behind layer 0, the last one of images");
    spec.layers[0] = aq_layer_linear(16, 8, AQ_ACTIVATION_RELU);
    assert_int_equal(aq_net_spec_validate(&spec, NULL), 0);
}

TEST(arrays_that_cannot_be_are_refused)
{
    static const char *const names[] = {"", "1a", "_a", "A", "a-b", "a b", "\xc3\xa4"};
    aq_net_spec spec = branched();
    char text[64];
    add_array(&spec, "log_deviation", 2);
    add_array(&spec, "x9", AQ_NET_WIDTH_MAX);
    assert_int_equal(aq_net_spec_validate(&spec, NULL), 0);
    assert_string_equal(aq_net_spec_text(&spec, text, sizeof(text)),
                        "4-6t-5e-7r-5t-add(2,4)+log_deviation2+x916384");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        memcpy(spec.arrays[1].name, names[i], strlen(names[i]) + 1);
        refuse(&spec, "array 1: its name is not made of");
    }
    memset(spec.arrays[1].name, 'a', AQ_NET_ARRAY_NAME_MAX);
    refuse(&spec, "array 1: its name is not made of");
    memcpy(spec.arrays[1].name, "log_deviation", 14);
    refuse(&spec, "two arrays are called log_deviation");
    spec.arrays[1].name[3] = '\0';
    spec.arrays[1].count = 0;
    refuse(&spec, "array log has 0 values; 1 to 67108864");
    spec.arrays[1].count = AQ_NET_ARRAY_VALUES_MAX + 1;
    refuse(&spec, "array log has 67108865 values");
    spec.array_count = AQ_NET_ARRAYS_MAX + 1;
    refuse(&spec, "5 arrays; at most 4");
}

TEST(only_affine_layers_on_the_input_take_in_a_map_of_it)
{
    aq_net_spec spec = branched();
    assert_true(aq_net_is_affine_in_input(&spec));
    add(&spec, aq_layer_norm(4, AQ_ACTIVATION_NONE), 0);
    assert_false(aq_net_is_affine_in_input(&spec));
    spec.layers[5].sources.values[0] = 1;
    assert_true(aq_net_is_affine_in_input(&spec));
}

/* ---- buffers -------------------------------------------------------------------------------- */

TEST(a_chain_takes_two_buffers_in_turn)
{
    const uint32_t hidden[] = {6, 6, 6, 6};
    aq_net_spec spec;
    assert_int_equal(aq_net_spec_init_mlp(4, hidden, 4, 2, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    const aq_net_buffers inner = aq_net_inner_buffers(&spec), all = aq_net_all_buffers(&spec);
    assert_int_equal(inner.count, 2);
    assert_int_equal(all.count, 2);
    for (uint32_t value = 0; value <= 5; value++) {
        assert_int_equal(all.of[value], value % 2);
        assert_true(value == 0 || value == 5 || inner.of[value] == (value - 1) % 2);
    }
}

/* Writes values into buffers as layers would, and looks whether those that are read are there. */
static void check_buffers(const aq_net_spec *spec, const aq_net_buffers *buffers, bool is_inner)
{
    uint32_t holds[AQ_NET_VALUES_MAX] = {0};
    assert_true(buffers->count <= spec->layer_count + 1);
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_sources sources = aq_net_sources(spec, i);
        if (!is_inner || i + 1 < spec->layer_count) {
            assert_true(buffers->of[1 + i] < buffers->count);
            holds[buffers->of[1 + i]] = 1 + i;
        }
        for (uint32_t k = 0; k < sources.count; k++) {
            const uint32_t value = sources.values[k];
            assert_true((is_inner && value == 0) || holds[buffers->of[value]] == value);
        }
    }
}

TEST(no_value_is_overwritten_while_it_is_needed)
{
    aq_rng rng = rng_of(17, 0);
    for (int turn = 0; turn < 500; turn++) {
        aq_net_spec spec = {0};
        add(&spec, aq_layer_norm(3, AQ_ACTIVATION_NONE), 0);
        for (uint32_t i = 1; i < AQ_NET_LAYERS_MAX; i++) {
            add_sum(&spec, 3, i, (uint32_t)aq_rng_below(&rng, i + 1));
        }
        assert_int_equal(aq_net_spec_validate(&spec, NULL), 0);
        const aq_net_buffers inner = aq_net_inner_buffers(&spec), all = aq_net_all_buffers(&spec);
        check_buffers(&spec, &inner, true);
        check_buffers(&spec, &all, false);
    }
}

/* ---- noise ---------------------------------------------------------------------------------- */

/* Two noisy layers in a row, of which the first has an activation. */
static aq_net_spec noisy_net(void)
{
    aq_net_spec spec = {0};
    for (uint32_t from = 0; from < 8; from += 4) {
        aq_layer_spec sum =
            aq_layer_noise(4, 2, 2, from == 0 ? AQ_ACTIVATION_RELU : AQ_ACTIVATION_NONE);
        sum.sources = (aq_layer_sources){.count = 2, .values = {from + 1, from + 3}};
        add(&spec, aq_layer_linear(4, 4, AQ_ACTIVATION_NONE), from);
        add(&spec, aq_layer_noise(4, 1, 1, AQ_ACTIVATION_NONE), from);
        add(&spec, aq_layer_linear(4, 4, AQ_ACTIVATION_NONE), from + 2);
        assert_int_equal(aq_net_spec_add(&spec, &sum, NULL), 0);
    }
    return spec;
}

TEST(the_network_of_the_means_has_no_noise)
{
    const aq_net_spec spec = noisy_net();
    aq_net_part part;
    char text[96];
    assert_succeeds(aq_net_spec_validate(&spec, &refusal));
    assert_string_equal(aq_net_spec_text(&spec, text, sizeof(text)),
                        "4-4-noise(0)-4-noise/2r(1,3)-4-noise(4)-4-noise/2(5,7)");
    assert_int_equal(aq_net_spec_noise(&spec), 4 + 2 + 4 + 2);
    aq_net_mean(&spec, &part);
    assert_succeeds(aq_net_spec_validate(&part.spec, &refusal));
    assert_string_equal(aq_net_spec_text(&part.spec, text, sizeof(text)), "4-4r-4");
    assert_int_equal(part.layers[1], 4);
    aq_net_spec plain = branched();
    add_array(&plain, "log_deviation", 2);
    aq_net_mean(&plain, &part);
    assert_true(aq_net_spec_hash(&part.spec) == aq_net_spec_hash(&plain));
}

TEST(noise_that_is_not_added_to_a_mean_is_refused)
{
    aq_net_spec alone = {0}, shared = noisy_net(), activated = noisy_net(), odd = noisy_net();
    add(&alone, aq_layer_linear(4, 4, AQ_ACTIVATION_NONE), 0);
    add(&alone, aq_layer_noise(4, 1, 1, AQ_ACTIVATION_NONE), 1);
    assert_refused(aq_net_spec_validate(&alone, &refusal), AQ_E_INVALID, "layer 1");
    shared.layers[5].sources.values[0] = 1; /* what the first mean gives, too */
    assert_refused(aq_net_spec_validate(&shared, &refusal), AQ_E_INVALID, "to it alone");
    activated.layers[4].activation = AQ_ACTIVATION_TANH;
    assert_refused(aq_net_spec_validate(&activated, &refusal), AQ_E_INVALID, "an activation");
    odd.layers[3].shape[0] = 3;
    assert_refused(aq_net_spec_validate(&odd, &refusal), AQ_E_INVALID, "a divisor");
    odd.layers[3].shape[0] = 0;
    assert_refused(aq_net_spec_validate(&odd, &refusal), AQ_E_INVALID, "a divisor");
}
