/*
 * A list of layers with formats of their own is read, and fits a network or is refused in words.
 */
#include "common/policy/layer_formats.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"

/* 8-16-norm-4: two layers that have a choice */
static aq_net_spec network(void)
{
    const aq_layer_spec layers[] = {aq_layer_linear(8, 16, AQ_ACTIVATION_RELU),
                                    aq_layer_norm(16, AQ_ACTIVATION_NONE),
                                    aq_layer_linear(16, 4, AQ_ACTIVATION_NONE)};
    return net_of(layers);
}

static int resolve(const char *text, uint32_t *ret_formats, aq_error *error)
{
    const aq_net_spec spec = network();
    aq_layer_formats list;
    int rc = aq_layer_formats_parse(text, &list, error);
    return rc != 0 ? rc : aq_layer_formats_resolve(&list, &spec, ret_formats, error);
}

TEST(layers_count_from_both_ends)
{
    uint32_t formats[AQ_NET_LAYERS_MAX];
    assert_int_equal(resolve("0:fp32,-1:bf16", formats, NULL), 0);
    assert_int_equal(formats[0], AQ_FORMAT_F32);
    assert_int_equal(formats[1], 0);
    assert_int_equal(formats[2], AQ_FORMAT_BF16);
}

TEST(no_list_leaves_every_layer_alone)
{
    const aq_net_spec spec = network();
    uint32_t formats[AQ_NET_LAYERS_MAX] = {7};
    const aq_layer_formats none = {0};
    assert_int_equal(aq_layer_formats_resolve(&none, &spec, formats, NULL), 0);
    assert_int_equal(formats[0], 0);
}

TEST(layers_are_counted_that_have_a_choice)
{
    uint32_t formats[AQ_NET_LAYERS_MAX];
    assert_int_equal(resolve("1:fp16", formats, NULL), 0);
    assert_int_equal(formats[1], 0);
    assert_int_equal(formats[2], AQ_FORMAT_F16);
    assert_int_equal(resolve("0:int8,-2:int4", formats, NULL), 0); /* the last counts */
    assert_int_equal(formats[0], AQ_FORMAT_INT4);
    assert_int_equal(resolve("", formats, NULL), 0);
    assert_int_equal(formats[0], 0);
}

/* 8-16-noisy 4: what makes deviations is not counted. */
TEST(a_noisy_layer_is_one_its_means)
{
    const aq_layer_spec hidden = aq_layer_linear(8, 16, AQ_ACTIVATION_RELU);
    const aq_layer_spec outputs = aq_layer_linear(16, 4, AQ_ACTIVATION_NONE);
    aq_layer_spec layers[] = {hidden, outputs, aq_layer_noise(16, 1, 1, AQ_ACTIVATION_NONE),
                              outputs, aq_layer_noise(4, 2, 1, AQ_ACTIVATION_NONE)};
    layers[2].sources = (aq_layer_sources){.count = 1, .values = {1}};
    layers[4].sources = (aq_layer_sources){.count = 2, .values = {2, 4}};
    const aq_net_spec spec = net_of(layers);
    uint32_t formats[AQ_NET_LAYERS_MAX];
    static const uint32_t wanted[] = {AQ_FORMAT_BF16, AQ_FORMAT_F32, 0, 0, 0};
    aq_layer_formats list;
    assert_succeeds(aq_layer_formats_parse("0:bf16,-1:fp32", &list, &refusal));
    assert_succeeds(aq_layer_formats_resolve(&list, &spec, formats, &refusal));
    assert_memory_equal(formats, wanted, sizeof(wanted));
    assert_succeeds(aq_layer_formats_parse("2:fp32", &list, &refusal));
    assert_refused(aq_layer_formats_resolve(&list, &spec, formats, &refusal), AQ_E_INVALID,
                   "there is no layer 2: this network has 2 that may have a format");
}

TEST(what_cannot_be_is_refused_in_words)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"0:fp32,", "is not a list"},
        {"fp32", "'fp32' is not LAYER:FORMAT"},
        {"x:fp32", "'x' is no number of a layer"},
        {"48:fp32", "'48' is no number of a layer, -48 to 47"},
        {"0:int3", "'int3' is no format; there are fp32"},
        {"2:fp16",
         "there is no layer 2: this network has 2 that may have a format, 0 to 1 or -2 to -1"},
        {"-3:fp16", "there is no layer -3"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t formats[AQ_NET_LAYERS_MAX];
        assert_refused(resolve(rows[i].text, formats, &refusal), AQ_E_INVALID, rows[i].words);
    }
}
