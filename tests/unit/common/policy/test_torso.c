/*
 * Torsos: the layers that a text makes of what is seen, and what a refusal says.
 */
#include "common/policy/torso.h"
#include "tests/support/test.h"

static aq_space seen(uint32_t rank, uint32_t height, uint32_t width, uint32_t channels)
{
    return (aq_space){.kind = AQ_SPACE_BOX,
                      .dtype = AQ_DTYPE_U8,
                      .rank = rank,
                      .shape = {height, width, channels},
                      .bound_count = 1,
                      .high = {255}};
}

TEST(texts_make_layers)
{
    static const struct {
        const char *text;
        uint32_t rank, shape[3], width;
        const char *want;
    } rows[] = {
        {"conv:16x3/1", 3, {10, 10, 4}, 1024, "10x10x4-conv3/1x16r"},
        {"minatar", 3, {10, 10, 4}, 1024, "10x10x4-conv3/1x16r"},
        {"conv:8x2/3", 2, {7, 9, 0}, 2 * 3 * 8, "7x9x1-conv2/3x8r"},
        {"nature", 3, {84, 84, 4}, 3136, "84x84x4-conv8/4x32r-conv4/2x64r-conv3/1x64r"},
        {"conv:3x2/1,conv:1x1/1", 3, {2, 3, 5}, 2, "2x3x5-conv2/1x3r-conv1/1x1r"},
        {"conv:5x3/1+1,pool:2/2", 3, {6, 4, 2}, 3 * 2 * 5, "6x4x2-conv3/1x5r-pool2/2"},
        {"residual:3x1",
         3,
         {9, 6, 2},
         5 * 3 * 3,
         "9x6x2-conv3/1x3-pool3/2-r-conv3/1x3r-conv3/1x3-add(2,5)-r"},
        {"residual:3x1,conv:4x1/1",
         3,
         {2, 2, 1},
         4,
         "2x2x1-conv3/1x3-pool3/2-r-conv3/1x3r-conv3/1x3-add(2,5)-conv1/1x4r"},
        {"residual:3x1,gru:2",
         3,
         {2, 2, 1},
         2,
         "2x2x1-conv3/1x3-pool3/2-r-conv3/1x3r-conv3/1x3-add(2,5)-r-6-gru2"},
        {"gru:8", 1, {4, 0, 0}, 8, "4-24-gru8"},
        {"gru:8,gru:3", 1, {4, 0, 0}, 3, "4-24-gru8-9-gru3"},
        {"gru", 1, {4, 0, 0}, 64, "4-192-gru64"},
    };
    EACH_ROW(i, rows) {
        const uint32_t *shape = rows[i].shape;
        const aq_space obs = seen(rows[i].rank, shape[0], shape[1], shape[2]);
        aq_net_spec spec = {0};
        uint32_t width = 0;
        char text[128];
        assert_succeeds(aq_torso_check(rows[i].text, &refusal));
        assert_succeeds(
            aq_torso_add(rows[i].text, &obs, AQ_ACTIVATION_RELU, &width, &spec, &refusal));
        assert_succeeds(aq_net_spec_validate(&spec, &refusal));
        assert_int_equal(width, rows[i].width);
        assert_int_equal(aq_torso_state(rows[i].text), aq_net_spec_state(&spec));
        assert_string_equal(aq_net_spec_text(&spec, text, sizeof(text)), rows[i].want);
    }
}

/* Three sections of ten layers, and an activation; 11 x 11 pixels are left of Atari's. */
TEST(impalas_torso_has_31_layers)
{
    const aq_space obs = seen(3, 84, 84, 4);
    aq_net_spec spec = {0};
    uint32_t width = 0;
    assert_succeeds(aq_torso_add("impala", &obs, AQ_ACTIVATION_RELU, &width, &spec, &refusal));
    assert_succeeds(aq_net_spec_validate(&spec, &refusal));
    assert_int_equal(spec.layer_count, 31);
    assert_int_equal(width, 11 * 11 * 32);
    assert_int_equal(aq_net_spec_parameters(&spec), 97744);
}

TEST(no_text_is_no_layers)
{
    const aq_space obs = seen(3, 5, 6, 2);
    aq_net_spec spec = {0};
    uint32_t width = 0;
    assert_succeeds(aq_torso_check("", &refusal));
    assert_succeeds(aq_torso_add("", &obs, AQ_ACTIVATION_RELU, &width, &spec, &refusal));
    assert_int_equal(spec.layer_count, 0);
    assert_int_equal(width, 60);
}

TEST(what_is_no_torso_is_refused)
{
    static const char *const rows[] = {
        "conv",           "conv:",
        "conv:16",        "conv:16x3",
        "conv:16x3/1,",   ",conv:16x3/1",
        "conv:0x3/1",     "conv:16x3/0",
        "conv:-1x3/1",    "conv:16x3/1x",
        "conv:16x3/1+",   "conv:16x3/1+0",
        "pool:2",         "pool:3/2+1+1",
        "residual:16",    "conv:16x3/1 ",
        "conv16x3/1",     "dense:16x3/1",
        "atari",          "minatar,conv:1x1/1",
        "conv:16385x1/1", "conv: 16x3/1",
        "conv:16x3/1:r",  "conv:1x1/10000000000000000000000000000000000000000000000",
    };
    EACH_ROW(i, rows) {
        assert_refused(aq_torso_check(rows[i], &refusal), AQ_E_INVALID,
                       "possible are minatar, nature, impala, gru, or a list of "
                       "conv:FILTERSxKERNEL/STRIDE[+PADDING], pool:KERNEL/STRIDE[+PADDING], "
                       "residual:FILTERSxBLOCKS, gru:WIDTH, such as");
    }
}

TEST(what_does_not_fit_is_refused)
{
    const struct {
        const char *text;
        aq_space obs;
        int code;
        const char *says;
    } rows[] = {
        {"minatar", seen(1, 4, 0, 0), AQ_E_UNSUPPORTED, "it would be given 4 numbers"},
        {"minatar", {.kind = AQ_SPACE_DISCRETE, .choice_count = 9}, AQ_E_UNSUPPORTED, "1 numbers"},
        {"nature", seen(3, 10, 10, 4), AQ_E_UNSUPPORTED, "4 x 4 do not fit into"},
        {"gru:8,conv:4x3/1", seen(3, 3, 3, 1), AQ_E_UNSUPPORTED, "it would be given 8 numbers"},
        {"conv:4x3/1", seen(3, 3, 2, 1), AQ_E_UNSUPPORTED, "there for them, 3 x 2"},
        {"pool:3/2", seen(3, 9, 2, 1), AQ_E_UNSUPPORTED, "there for them, 9 x 2"},
        {"residual:2x1", seen(1, 4, 0, 0), AQ_E_UNSUPPORTED, "it would be given 4 numbers"},
        {"residual:2x12", seen(2, 3, 3, 0), AQ_E_INVALID, "more than 48 layers"},
    };
    EACH_ROW(i, rows) {
        aq_net_spec spec = {0};
        uint32_t width = 77;
        assert_succeeds(aq_torso_check(rows[i].text, &refusal));
        assert_refused(
            aq_torso_add(rows[i].text, &rows[i].obs, AQ_ACTIVATION_RELU, &width, &spec, &refusal),
            rows[i].code, rows[i].says);
        assert_int_equal(width, 77);
    }
}
