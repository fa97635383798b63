/*
 * Network descriptions: what can be built, what a peer's may not be, and what is derived from them.
 */
#include "common/policy/netspec.h"
#include "tests/support/test.h"

static aq_net_spec small_net(void)
{
    const uint32_t hidden[] = {64, 32};
    aq_net_spec spec;
    assert_int_equal(aq_net_spec_init_mlp(4, hidden, 2, 2, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    return spec;
}

TEST(an_mlp_chains_its_layers)
{
    aq_net_spec spec = small_net();
    assert_int_equal(spec.layer_count, 3);
    assert_int_equal(spec.layers[0].inputs, 4);
    assert_int_equal(spec.layers[0].outputs, 64);
    assert_int_equal(spec.layers[1].inputs, 64);
    assert_int_equal(spec.layers[1].outputs, 32);
    assert_int_equal(spec.layers[1].activation, AQ_ACTIVATION_RELU);
    assert_int_equal(spec.layers[2].inputs, 32);
    assert_int_equal(spec.layers[2].outputs, 2);
    assert_int_equal(spec.layers[2].activation, AQ_ACTIVATION_NONE);
    assert_int_equal(aq_net_spec_inputs(&spec), 4);
    assert_int_equal(aq_net_spec_outputs(&spec), 2);
    assert_int_equal(aq_net_spec_width_max(&spec), 64);
    assert_int_equal(aq_net_spec_parameters(&spec), 5 * 64 + 65 * 32 + 33 * 2);
}

TEST(no_hidden_layer_is_a_linear_map)
{
    aq_net_spec spec;
    assert_int_equal(aq_net_spec_init_mlp(300, NULL, 0, 5, AQ_ACTIVATION_TANH, &spec, NULL), 0);
    assert_int_equal(spec.layer_count, 1);
    assert_int_equal(spec.layers[0].activation, AQ_ACTIVATION_NONE);
    assert_int_equal(aq_net_spec_width_max(&spec), 300);
}

TEST(the_most_and_widest_layers_can_be_built)
{
    uint32_t hidden[AQ_NET_LAYERS_MAX - 1];
    aq_net_spec spec;
    for (int i = 0; i < AQ_NET_LAYERS_MAX - 1; i++) {
        hidden[i] = AQ_NET_WIDTH_MAX;
    }
    assert_int_equal(aq_net_spec_init_mlp(AQ_NET_WIDTH_MAX, hidden, AQ_NET_LAYERS_MAX - 1,
                                          AQ_NET_WIDTH_MAX, AQ_ACTIVATION_ELU, &spec, NULL),
                     0);
    assert_true(aq_net_spec_parameters(&spec) == (size_t)AQ_NET_LAYERS_MAX * 16385 * 16384);
}

TEST(an_impossible_mlp_leaves_the_spec_alone)
{
    static const struct {
        uint32_t inputs, hidden_count, outputs;
        const char *words;
    } rows[] = {
        {4, AQ_NET_LAYERS_MAX, 2, "48 hidden layers"},
        {4, 1, 2, "layer 0: its output is 0; 1 to 16384 are possible"},
        {0, 0, 2, "layer 0: its input is 0; 1 to 16384 are possible"},
        {4, 0, 16385, "16385"},
    };
    const uint32_t hidden[AQ_NET_LAYERS_MAX] = {0};
    EACH_ROW(i, rows) {
        aq_net_spec before, spec;
        memset(&before, 0x5a, sizeof(before));
        spec = before;
        assert_refused(aq_net_spec_init_mlp(rows[i].inputs, hidden, rows[i].hidden_count,
                                            rows[i].outputs, AQ_ACTIVATION_RELU, &spec, &refusal),
                       AQ_E_INVALID, rows[i].words);
        assert_memory_equal(&spec, &before, sizeof(spec));
    }
}

static void refuse(const aq_net_spec *spec, const char *words)
{
    assert_refused(aq_net_spec_validate(spec, &refusal), AQ_E_INVALID, words);
}

TEST(what_a_peer_may_not_send_is_refused)
{
    aq_net_spec spec = small_net();
    spec.layer_count = 0;
    refuse(&spec, "0 layers");
    spec.layer_count = AQ_NET_LAYERS_MAX + 1;
    refuse(&spec, "49 layers");
    spec.layer_count = UINT32_MAX;
    refuse(&spec, "layers");
    spec = small_net();
    spec.layers[1].kind = 99;
    refuse(&spec, "layer 1: unknown kind 99");
    spec = small_net();
    spec.layers[2].activation = 0;
    refuse(&spec, "layer 2: unknown activation 0");
    spec.layers[2].activation = 5;
    refuse(&spec, "layer 2: unknown activation 5");
    spec = small_net();
    spec.layers[1].inputs = 63;
    refuse(&spec, "layer 1 takes 63 values, but layer 0 gives 64");
    spec = small_net();
    spec.layers[2].inputs = 64; /* beside layer 1, which is an end, too */
    spec.layers[2].sources = (aq_layer_sources){.count = 1, .values = {1}};
    refuse(&spec, "layer 1 gives a value that no layer takes");
}

TEST(the_hash_is_what_it_was)
{
    aq_net_spec spec = small_net();
    /* Checkpoints keep it: a change of this number makes old ones foreign. */
    assert_true(aq_net_spec_hash(&spec) == UINT64_C(0x12c1f3a2f789d5f0));
}

TEST(the_hash_tells_networks_apart)
{
    aq_net_spec spec = small_net(), other = small_net();
    uint64_t hash = aq_net_spec_hash(&spec);
    memset(&other.layers[3], 0x77, sizeof(other.layers[3])); /* past the count: no meaning */
    assert_true(aq_net_spec_hash(&other) == hash);
    other.layers[0].activation = AQ_ACTIVATION_TANH;
    assert_true(aq_net_spec_hash(&other) != hash);
    other = small_net();
    other.layers[0].inputs = 5;
    assert_true(aq_net_spec_hash(&other) != hash);
    other = small_net();
    other.layer_count = 2;
    assert_true(aq_net_spec_hash(&other) != hash);
}

TEST(unchecked_garbage_is_not_read_past_its_end)
{
    aq_net_spec spec;
    char text[1024];
    memset(&spec, 0xff, sizeof(spec));
    assert_true(aq_net_spec_hash(&spec) != 0);
    assert_true(aq_net_spec_width_max(&spec) == UINT32_MAX);
    assert_non_null(strstr(aq_net_spec_text(&spec, text, sizeof(text)), "4294967295-?"));
}

TEST(text_shows_widths_and_activations)
{
    aq_net_spec spec = small_net();
    char text[64], tiny[9];
    assert_string_equal(aq_net_spec_text(&spec, text, sizeof(text)), "4-64r-32r-2");
    spec.layers[0].activation = AQ_ACTIVATION_TANH;
    spec.layers[1].activation = AQ_ACTIVATION_ELU;
    assert_string_equal(aq_net_spec_text(&spec, text, sizeof(text)), "4-64t-32e-2");
    assert_string_equal(aq_net_spec_text(&spec, tiny, sizeof(tiny)), "4-64t-32");
}

TEST(activations_have_names_and_suffixes)
{
    static const char *const names[] = {"unknown", "none", "relu", "tanh", "elu", "unknown"};
    static const char *const suffixes[] = {"?", "", "r", "t", "e", "?"};
    for (uint32_t i = 0; i < 6; i++) {
        assert_string_equal(aq_activation_name(i), names[i]);
        assert_string_equal(aq_activation_suffix(i), suffixes[i]);
    }
}
