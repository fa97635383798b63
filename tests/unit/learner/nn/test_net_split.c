/*
 * Which layers ranks share, and where each slice lies in the whole.
 */
#include "learner/nn/net_split.h"
#include "tests/support/test.h"

enum { VALUES_MAX = 1 << 20 };

/* 5 -> widths, each with relu and perhaps a norm behind it; 0 ends them. */
static aq_net_spec chain(const uint32_t *widths, bool has_norm)
{
    aq_net_spec spec = {.array_count = 1, .arrays = {{.name = "extra", .count = 3}}};
    uint32_t inputs = 5;
    for (size_t i = 0; widths[i] > 0; i++) {
        const aq_layer_spec linear = aq_layer_linear(inputs, widths[i], AQ_ACTIVATION_RELU);
        const aq_layer_spec norm = aq_layer_norm(widths[i], AQ_ACTIVATION_TANH);
        assert_succeeds(aq_net_spec_add(&spec, &linear, &refusal));
        if (has_norm) {
            assert_succeeds(aq_net_spec_add(&spec, &norm, &refusal));
        }
        inputs = widths[i];
    }
    assert_succeeds(aq_net_spec_validate(&spec, &refusal));
    return spec;
}

TEST(pairs_of_wide_linear_layers_are_shared_from_the_front)
{
    static const struct {
        uint32_t ranks, widths[5];
        bool has_norm;
        const char *slice;
    } rows[] = {
        {2, {256, 256, 2}, false, "5-128r-256r-2r+extra3"},
        {3, {256, 384, 2}, false, "5-256r-128r-2r+extra3"},
        {4, {16, 512, 64, 512}, false, "5-16r-128r-64r-512r+extra3"},
        {2, {512, 512, 512, 6}, false, "5-256r-512r-256r-6r+extra3"},
        {2, {126, 126, 2}, false, "5-126r-126r-2r+extra3"},
        {2, {256, 256, 2}, true, "5-256r-normt-256r-normt-2r-normt+extra3"},
        {1, {256, 256, 2}, false, "5-256r-256r-2r+extra3"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        aq_split_ranks ranks = {.count = rows[i].ranks};
        const aq_net_spec whole = chain(rows[i].widths, rows[i].has_norm);
        const aq_net_split split = aq_net_split_of(&whole, &ranks);
        char text[128];
        assert_string_equal(aq_net_spec_text(&split.slice, text, sizeof(text)), rows[i].slice);
        assert_succeeds(aq_net_spec_validate(&split.slice, &refusal));
        const aq_net_split alone = aq_net_split_of(&whole, NULL);
        assert_true(aq_net_spec_hash(&alone.slice) == aq_net_spec_hash(&whole));
    }
}

TEST(a_value_that_others_take_is_whole)
{
    aq_net_spec spec = chain((const uint32_t[]){256, 256, 0}, false);
    aq_layer_spec sum = aq_layer_add(256);
    sum.sources = (aq_layer_sources){.count = 2, .values = {1, 2}};
    assert_succeeds(aq_net_spec_add(&spec, &sum, &refusal));
    assert_succeeds(aq_net_spec_validate(&spec, &refusal));
    aq_split_ranks ranks = {.count = 2};
    const aq_net_split split = aq_net_split_of(&spec, &ranks);
    assert_true(aq_net_spec_hash(&split.slice) == aq_net_spec_hash(&spec));
}

static void put_all(const aq_slices *slices, uint32_t rank, const float *own, float *whole)
{
    aq_slice_piece pieces[AQ_SLICE_PIECES_MAX];
    const size_t count = aq_slices_pieces(slices, pieces);
    for (size_t p = 0; p < count; p++) { /* in two parts, as it may come */
        const size_t half = pieces[p].count / 3;
        aq_slice_put(&pieces[p], rank, 0, half, own + pieces[p].own, whole);
        aq_slice_put(&pieces[p], rank, half, pieces[p].count - half, own + pieces[p].own + half,
                     whole);
    }
}

/* Of weights, and of biases before the first layer of each pair's activation; twice the network. */
static double cut_squares(const aq_net_spec *spec, float *whole)
{
    double sum = 0;
    for (size_t n = 0; n < 2; n++) {
        const aq_params view = aq_params_view(spec, whole + n * aq_net_spec_parameters(spec));
        for (uint32_t l = 0; l < spec->layer_count; l++) {
            const size_t biases = l % 2 == 0 ? spec->layers[l].outputs : 0;
            for (const float *at = view.weight[l]; at < view.bias[l] + biases; at++) {
                sum += (double)*at * (double)*at;
            }
        }
    }
    return sum;
}

TEST(there_are_places_for_the_pieces_of_the_deepest_networks)
{
    static aq_slice_piece pieces[AQ_SLICE_PIECES_MAX];
    uint32_t widths[AQ_NET_LAYERS_MAX + 1] = {0};
    for (size_t i = 0; i < AQ_NET_LAYERS_MAX; i++) {
        widths[i] = AQ_SPLIT_WIDTH_MIN;
    }
    const aq_net_spec spec = chain(widths, false);
    aq_split_ranks ranks = {.count = 2};
    const aq_net_split split = aq_net_split_of(&spec, &ranks);
    aq_slices slices = {.count = AQ_SLICED_NETS_MAX, .rest = 1};
    for (size_t i = 0; i < AQ_SLICED_NETS_MAX; i++) {
        slices.nets[i] = &split;
    }
    assert_int_equal(aq_slices_pieces(&slices, pieces), AQ_SLICE_PIECES_MAX);
}

TEST(slices_of_all_ranks_make_the_whole_again)
{
    static float whole[VALUES_MAX], own[VALUES_MAX], again[VALUES_MAX];
    const aq_net_spec spec = chain((const uint32_t[]){192, 40, 384, 2, 0}, false);
    for (size_t i = 0; i < VALUES_MAX; i++) {
        whole[i] = (float)i;
    }
    for (uint32_t count = 2; count <= 3; count++) {
        aq_split_ranks ranks = {.count = count};
        const aq_net_split split = aq_net_split_of(&spec, &ranks);
        const aq_slices slices = {.count = 2, .nets = {&split, &split}, .rest = 1};
        const size_t values = 2 * aq_net_spec_parameters(&spec) + 1;
        assert_int_equal(aq_slices_whole(&slices), values);
        memset(again, 0, sizeof(again));
        double squares = 0;
        for (uint32_t rank = 0; rank < count; rank++) {
            aq_slices_take(&slices, rank, whole, own);
            assert_true(own[2 * aq_net_spec_parameters(&split.slice)] == whole[values - 1]);
            put_all(&slices, rank, own, again);
            squares += aq_slices_squares(&slices, own, 0, values);
        }
        assert_memory_equal(again, whole, values * sizeof(float));
        assert_near(squares, cut_squares(&spec, whole), 1e-9 * squares);
    }
}
