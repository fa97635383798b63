/*
 * What an exported file says and what is refused. That it computes what the engine does is tested
 * where it is compiled (tests/integration/export).
 */
#include <float.h>

#include "quantizer/export/export_c.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/random_policy.h"

typedef struct exported {
    aq_snapshot *snapshot;
    aq_buffer text;
    aq_export_figures figures;
    aq_error error;
} exported;

static void finish(void *data)
{
    exported *own = data;
    aq_buffer_fini(&own->text);
    aq_free(own);
}

static exported *prepare(enum random_policy_net net, uint32_t format, uint32_t head)
{
    const aq_net_spec spec = random_policy_spec(net);
    const random_policy_how how = {.seed = 4, .format = format, .head = head};
    exported *own = aq_alloc(1, sizeof(*own));
    assert_non_null(own);
    own->snapshot = random_policy_create(&spec, &how);
    aq_buffer_init(&own->text, AQ_EXPORT_BYTES_MAX);
    at_end(finish, own);
    return own;
}

static int export_as(exported *own, const char *prefix)
{
    return aq_export_c(own->snapshot, prefix, &own->text, &own->figures, &own->error);
}

/* How often the words are in the text. */
static size_t count_words(const exported *own, const char *words)
{
    const size_t length = strlen(words);
    size_t count = 0;
    for (size_t i = 0; i + length <= own->text.size; i++) {
        count += memcmp(own->text.data + i, words, length) == 0;
    }
    return count;
}

static void refuse(exported *own, const char *prefix, int code, const char *words)
{
    assert_int_equal(export_as(own, prefix), code);
    assert_int_equal(own->text.size, 0);
    assert_says(own->error.text, words);
}

TEST(a_file_has_its_functions_and_three_headers)
{
    exported *own = prepare(NET_RELU, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_ARGMAX);
    assert_int_equal(export_as(own, "pole_2"), 0);
    assert_int_equal(count_words(own, "#include"), 3);
    assert_int_equal(count_words(own, "void pole_2_forward(const float *obs, float *out);"), 1);
    assert_int_equal(count_words(own, "uint32_t pole_2_act(const float *obs);"), 1);
    assert_int_equal(count_words(own, "@"), 0);
    assert_int_equal(count_words(own, "tanh"), 0); /* nothing that it has no use for */
}

TEST(a_continuous_policy_has_an_action_of_floats)
{
    exported *own = prepare(NET_TANH, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_TANH_BOX);
    assert_int_equal(export_as(own, "p"), 0);
    assert_int_equal(count_words(own, "void p_act(const float *obs, float *action);"), 1);
    assert_int_equal(count_words(own, "{-0x1.333334p-2f, 0x1.666666p-1f, 0x1p+0f},"),
                     1); /* -0.3 to 0.7 */
}

TEST(a_policy_that_draws_carries_what_its_head_needs_and_no_more)
{
    static const struct {
        uint32_t head;
        const char *prototype;
        const char *has, *has_not[3];
    } rows[] = {
        {AQ_HEAD_CATEGORICAL,
         "uint32_t p_draw(const float *obs, float random, float *log_prob);",
         "p_exact_log(double",
         {"p_normal", "p_bounds", "p_exact_tanh"}},
        {AQ_HEAD_GAUSSIAN,
         "void p_draw(const float *obs, const float *noise, float *action, float *log_prob);",
         "p_array0[2]",
         {"p_exact_tanh", "softplus", "p_greatest"}},
        {AQ_HEAD_SQUASHED,
         "float p_normal(const uint32_t words[4]);",
         "p_exact_softplus(double",
         {"p_array", "p_exact_log_sum_exp", "p_greatest"}},
        {AQ_HEAD_GSDE,
         "noise[4] of standard normal numbers",
         "p_array2[4]",
         {"p_exact_tanh", "softplus", "p_greatest"}},
        {AQ_HEAD_ARGMAX,
         "uint32_t p_act(const float *obs);",
         "p_greatest",
         {"draw", "double", "exact"}},
    };
    EACH_ROW(i, rows) {
        exported *own = prepare(NET_RELU, AQ_FORMAT_INT8_CHANNEL, rows[i].head);
        assert_int_equal(export_as(own, "p"), 0);
        assert_true(count_words(own, rows[i].prototype) > 0);
        assert_true(count_words(own, rows[i].has) > 0);
        EACH_ROW(k, rows[i].has_not) {
            assert_int_equal(count_words(own, rows[i].has_not[k]), 0);
        }
        assert_int_equal(count_words(own, "@") + count_words(own, "$"), 0);
    }
}

TEST(the_figures_are_those_of_the_policy)
{
    exported *own = prepare(NET_RELU, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_ARGMAX);
    assert_int_equal(export_as(own, "p"), 0);
    const size_t weights = 4 * 64 + 64 * 64 + 64 * 2, others = 130 * 8 + 3 * 9 * 4;
    assert_int_equal(own->figures.weights_bytes, weights + others);
    assert_int_equal(own->figures.stack_bytes, 64 * 4 * 2 + 64 * 2 + 2 * 4);
    exported *narrow = prepare(NET_RELU, AQ_FORMAT_INT2, AQ_HEAD_ARGMAX);
    assert_int_equal(export_as(narrow, "p"), 0);
    assert_int_equal(narrow->figures.weights_bytes, weights / 4 + others);
    assert_int_equal(narrow->figures.stack_bytes, own->figures.stack_bytes);

    static const uint32_t floats[] = {AQ_FORMAT_F32, AQ_FORMAT_BF16, AQ_FORMAT_F16};
    EACH_ROW(i, floats) {
        const size_t bytes = floats[i] == AQ_FORMAT_F32 ? 4 : 2; /* of a weight */
        const size_t bounds = 2 * 3;
        exported *drawing = prepare(NET_RELU, floats[i], AQ_HEAD_GAUSSIAN);
        assert_int_equal(export_as(drawing, "p"), 0);
        assert_int_equal(drawing->figures.weights_bytes,
                         (4 * 64 + 64 * 64 + 64 * 2) * bytes + (130 + 2 + bounds) * 4);
        assert_int_equal(drawing->figures.stack_bytes, (4 + 64 * 2 + 2) * 4);
        assert_int_equal(count_words(drawing, "static const uint16_t p_weights"),
                         floats[i] == AQ_FORMAT_F32 ? 0 : 3);
    }
}

TEST(each_format_brings_its_own_product)
{
    static const struct {
        uint32_t format;
        const char *product;
    } rows[] = {{AQ_FORMAT_INT8_CHANNEL, "p_product_int8("},
                {AQ_FORMAT_INT8_TENSOR, "p_product_tensor("},
                {AQ_FORMAT_INT4, "p_product_int4("},
                {AQ_FORMAT_INT2, "p_product_int2("},
                {AQ_FORMAT_INT8_SPARSE, "p_product_sparse("}};
    EACH_ROW(i, rows) {
        exported *own = prepare(NET_CONV, rows[i].format, AQ_HEAD_ARGMAX);
        assert_int_equal(export_as(own, "p"), 0);
        assert_int_equal(count_words(own, "float p_product_"), 1);
        assert_int_equal(count_words(own, rows[i].product), 1);
        assert_int_equal(count_words(own, "static const uint32_t p_blocks"),
                         rows[i].format == AQ_FORMAT_INT8_SPARSE ? 3 : 0);
    }
}

/* What is quantized counts it as 0 by itself. */
TEST(observations_are_made_finite_for_a_first_layer_of_floats_alone)
{
    static const struct {
        uint32_t format;
        size_t calls;
    } rows[] = {{AQ_FORMAT_INT8_CHANNEL, 0}, {AQ_FORMAT_BF16, 1}, {AQ_FORMAT_F32, 1}};
    EACH_ROW(i, rows) {
        exported *own = prepare(NET_RELU, rows[i].format, AQ_HEAD_ARGMAX);
        assert_int_equal(export_as(own, "p"), 0);
        assert_int_equal(count_words(own, "p_finite_row(obs, 4, input);"), rows[i].calls);
    }
}

static void write_header(exported *own, const char *prefix)
{
    assert_int_equal(aq_export_c_header(own->snapshot, prefix, &own->text, &own->error), 0);
    assert_int_equal(count_words(own, "@"), 0);
}

TEST(a_header_has_the_functions_and_the_widths_of_their_arrays)
{
    exported *choice = prepare(NET_GRU, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_ARGMAX);
    write_header(choice, "pole_2");
    assert_int_equal(count_words(choice, "#ifndef POLE_2_H\n#define POLE_2_H\n"), 1);
    assert_int_equal(count_words(choice, "extern \"C\""), 1);
    assert_int_equal(count_words(choice, "#define POLE_2_STATE "), 1);
    assert_int_equal(count_words(choice, "#define POLE_2_CHOICES "), 1);
    assert_int_equal(count_words(choice, "_ACTION") + count_words(choice, "_NOISE"), 0);
    assert_int_equal(count_words(choice, "uint32_t pole_2_act(const float *obs, float *state);"),
                     1);

    exported *box = prepare(NET_TANH, AQ_FORMAT_BF16, AQ_HEAD_TANH_BOX);
    write_header(box, "p");
    assert_int_equal(count_words(box, "#define P_OBS 17 "), 1);
    assert_int_equal(count_words(box, "#define P_OUTPUTS 6 "), 1);
    assert_int_equal(count_words(box, "#define P_ACTION 6 "), 1);
    assert_int_equal(count_words(box, " *   [0] from -0.300000012 to 0.699999988\n"), 1);
    assert_int_equal(count_words(box, "STATE") + count_words(box, "CHOICES"), 0);

    exported *drawing = prepare(NET_RELU, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_GAUSSIAN);
    write_header(drawing, "p");
    assert_int_equal(count_words(drawing, "#define P_NOISE 2 "), 1);
}

TEST(a_header_is_refused_where_the_file_is)
{
    exported *own = prepare(NET_CONV, AQ_FORMAT_F32, AQ_HEAD_ARGMAX);
    assert_int_equal(aq_export_c_header(own->snapshot, "p", &own->text, &own->error),
                     AQ_E_UNSUPPORTED);
    assert_int_equal(own->text.size, 0);
}

TEST(the_same_policy_gives_the_same_text_at_the_end_of_a_buffer)
{
    exported *own = prepare(NET_HEADS, AQ_FORMAT_INT8_TENSOR, AQ_HEAD_ARGMAX);
    assert_int_equal(export_as(own, "p"), 0);
    const size_t size = own->text.size;
    assert_int_equal(export_as(own, "p"), 0);
    assert_int_equal(own->text.size, 2 * size);
    assert_memory_equal(own->text.data, own->text.data + size, size);
}

TEST(a_tasks_name_cannot_leave_its_comment)
{
    static const char name[] = "*/ int x; /* %s @ \"\\";
    exported *own = prepare(NET_RELU, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_ARGMAX);
    memcpy(own->snapshot->task, name, sizeof(name));
    assert_int_equal(export_as(own, "p"), 0);
    assert_int_equal(count_words(own, "A policy for __ int x; __ _s _ __, version 1"), 1);
}

TEST(names_that_c_does_not_have_are_refused)
{
    static const char *const names[] = {
        "", "2b", "_p", "a-b", "a b", "a;", "\xc3\xa4", "abcdefghijklmnopqrstuvwxyzabcdef"};
    exported *own = prepare(NET_RELU, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_ARGMAX);
    EACH_ROW(i, names) {
        refuse(own, names[i], AQ_E_INVALID, "a letter, then");
    }
    assert_int_equal(export_as(own, "abcdefghijklmnopqrstuvwxyzabcde"), 0);
}

TEST(floats_are_refused_of_what_is_not_linear)
{
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        exported *own = prepare(NET_CONV, format, AQ_HEAD_ARGMAX);
        if (aq_format_is_integer(format)) {
            assert_int_equal(export_as(own, "p"), 0);
        } else {
            refuse(own, "p", AQ_E_UNSUPPORTED, "--format int8");
            assert_non_null(strstr(own->error.text, aq_format_name(format)));
        }
    }
}

TEST(an_action_without_a_range_is_refused)
{
    static const float highs[] = {INFINITY, FLT_MAX};
    exported *own = prepare(NET_TANH, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_TANH_BOX);
    own->snapshot->schema.action.low[2] = -FLT_MAX;
    for (size_t i = 0; i < 2; i++) {
        own->snapshot->schema.action.high[2] = highs[i];
        refuse(own, "p", AQ_E_UNSUPPORTED, "no range");
    }
}

TEST(a_broken_policy_is_refused)
{
    aq_snapshot_layer_data data;
    exported *own = prepare(NET_RELU, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_ARGMAX);
    aq_snapshot_layer_edit(own->snapshot, 1, &data);
    data.sum[3]++;
    refuse(own, "p", AQ_E_CORRUPT, "layer 1");
}

TEST(a_buffer_that_is_too_small_is_left_as_it_was)
{
    exported *own = prepare(NET_RELU, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_ARGMAX);
    own->text.size_max = 10000;
    refuse(own, "p", AQ_E_TOO_BIG, "export");
}

TEST(a_failed_allocation_leaves_the_buffer_as_it_was)
{
    int rc;
    exported *own = prepare(NET_HEADS, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_ARGMAX);
    EACH_ALLOCATION_FAILS(rc) {
        assert_int_equal(own->text.size, 0);
        rc = export_as(own, "p");
    }
}
