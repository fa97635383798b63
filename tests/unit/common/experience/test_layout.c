/*
 * Layouts: which columns there are, what is checked in them, and how long chunks may be.
 */
#include "common/experience/column_catalog.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"

static void assert_column(const aq_column *column, const char *name, uint32_t dtype, uint32_t per,
                          uint32_t bytes)
{
    assert_string_equal(column->name, name);
    assert_int_equal(column->dtype, dtype);
    assert_int_equal(column->per, per);
    assert_int_equal(column->bytes, bytes);
}

TEST(a_layout_follows_the_schema)
{
    const aq_layout layout = chunk_layout(3, 2, 3, 32);
    assert_int_equal(layout.column_count, AQ_COLUMNS_STANDARD);
    assert_column(&layout.columns[0], "obs", AQ_DTYPE_F32, AQ_PER_BOUNDARY, 12);
    assert_column(&layout.columns[1], "action", AQ_DTYPE_I32, AQ_PER_STEP, 4);
    assert_column(&layout.columns[2], "reward", AQ_DTYPE_F32, AQ_PER_STEP, 4);
    assert_column(&layout.columns[3], "version", AQ_DTYPE_U32, AQ_PER_STEP, 4);
    assert_int_equal(layout.columns[AQ_COLUMN_ACTION].choices[0], 2);
    assert_int_equal(layout.step_bytes, 24);
    assert_int_equal(aq_layout_bytes(&layout, 5), 6 * 12 + 5 * 12);
}

TEST(boxes_of_bytes_and_choices_are_columns_of_their_types)
{
    aq_space choices;
    aq_space_init_discrete(&choices, 16);
    aq_layout layout = chunk_layout_of(chunk_box(AQ_DTYPE_U8, 5), chunk_box(AQ_DTYPE_F32, 3), 1, 1);
    assert_column(&layout.columns[AQ_COLUMN_OBS], "obs", AQ_DTYPE_U8, AQ_PER_BOUNDARY, 5);
    assert_column(&layout.columns[AQ_COLUMN_ACTION], "action", AQ_DTYPE_F32, AQ_PER_STEP, 12);
    assert_int_equal(layout.columns[AQ_COLUMN_ACTION].choices[0], 0);
    layout = chunk_layout_of(choices, choices, 1, 1);
    assert_column(&layout.columns[AQ_COLUMN_OBS], "obs", AQ_DTYPE_I32, AQ_PER_BOUNDARY, 4);
}

static void refuse(const aq_schema *schema, uint32_t n_step, uint32_t length_max, int code)
{
    aq_layout layout, before;
    memset(&before, 0x5a, sizeof(before));
    layout = before;
    assert_int_equal(aq_layout_init(schema, n_step, length_max, &layout, &refusal), code);
    assert_int_equal(refusal.code, code);
    assert_memory_equal(&layout, &before, sizeof(layout));
}

/* A peer's third choice of three is fine where there are as many, and refused beside it. */
TEST(each_of_several_choices_has_bounds_of_its_own)
{
    aq_space several;
    aq_space_init_choices(&several, 2, (uint32_t[]){3, 2});
    const aq_layout layout = chunk_layout_of(chunk_box(AQ_DTYPE_F32, 3), several, 1, 1);
    const aq_column *column = &layout.columns[AQ_COLUMN_ACTION];
    const int32_t fine[] = {2, 1, 0, 0}, beyond[] = {2, 1, 0, 2}, below[] = {-1, 0};
    assert_int_equal(column->bytes, 2 * sizeof(int32_t));
    assert_int_equal(aq_column_check(column, (const uint8_t *)fine, 2, NULL), 0);
    assert_refused(aq_column_check(column, (const uint8_t *)beyond, 2, &refusal), AQ_E_SCHEMA,
                   "action 3 is 2; 0 to 1 are possible");
    assert_refused(aq_column_check(column, (const uint8_t *)below, 1, &refusal), AQ_E_SCHEMA,
                   "action 0 is -1");
}

TEST(a_layout_that_cannot_work_is_refused)
{
    aq_schema schema = {.obs = chunk_box(AQ_DTYPE_F32, 3)};
    aq_space_init_discrete(&schema.action, 2);
    refuse(&schema, 0, 32, AQ_E_INVALID);
    refuse(&schema, 33, 32, AQ_E_INVALID);
    refuse(&schema, 1, 0, AQ_E_INVALID);
    refuse(&schema, 1, AQ_CHUNK_LENGTH_MAX + 1, AQ_E_INVALID);
    refuse(&schema, UINT32_MAX, UINT32_MAX, AQ_E_INVALID);
    schema.obs.shape[0] = AQ_SPACE_ELEMENTS_MAX;
    refuse(&schema, 1, 4, AQ_E_TOO_BIG); /* five values of 64 MiB */
    schema.action.choice_count = 0;
    refuse(&schema, 1, 32, AQ_E_SCHEMA);
}

static const aq_column noise = {"noise", AQ_DTYPE_F32, AQ_PER_STEP, 8, {0}, {0}};

TEST(recorded_columns_follow_the_standard_ones)
{
    const aq_column hidden = {"hidden", AQ_DTYPE_U8, AQ_PER_BOUNDARY, 3, {0}, {0}};
    const aq_column both[] = {noise, hidden};
    aq_layout layout = chunk_layout(3, 2, 3, 32);
    assert_int_equal(aq_layout_record(&layout, both, 2, NULL), 0);
    assert_int_equal(layout.column_count, AQ_COLUMNS_STANDARD + 2);
    assert_column(&layout.columns[4], "noise", AQ_DTYPE_F32, AQ_PER_STEP, 8);
    assert_column(&layout.columns[5], "hidden", AQ_DTYPE_U8, AQ_PER_BOUNDARY, 3);
    assert_int_equal(layout.step_bytes, 24 + 8 + 3);
    assert_int_equal(aq_layout_bytes(&layout, 5), 6 * 12 + 5 * 12 + 5 * 8 + 6 * 3);
}

TEST(the_hash_is_of_all_columns)
{
    const aq_layout plain = chunk_layout(3, 2, 3, 32);
    const aq_column others[] = {noise,
                                {"nose", AQ_DTYPE_F32, AQ_PER_STEP, 8, {0}, {0}},
                                {"noise", AQ_DTYPE_U32, AQ_PER_STEP, 8, {0}, {0}},
                                {"noise", AQ_DTYPE_F32, AQ_PER_BOUNDARY, 8, {0}, {0}},
                                {"noise", AQ_DTYPE_F32, AQ_PER_STEP, 12, {0}, {0}}};
    enum { OTHERS = sizeof(others) / sizeof(others[0]) };
    uint64_t hashes[OTHERS];
    for (size_t i = 0; i < OTHERS; i++) {
        aq_layout layout = plain;
        assert_int_equal(aq_layout_record(&layout, &others[i], 1, NULL), 0);
        hashes[i] = layout.hash;
        assert_true(hashes[i] != plain.hash);
        for (size_t j = 0; j < i; j++) {
            assert_true(hashes[i] != hashes[j]);
        }
    }
}

/* As who opens a store has it, which knows the schema and no network. */
TEST(columns_are_found_by_their_hash_a_state_whatever_its_width)
{
    static const struct {
        const char *names[3];
        uint32_t width; /* of the state */
    } rows[] = {{{NULL}, 0},
                {{"log_prob"}, 0},
                {{"log_prob", "drawn"}, 0},
                {{AQ_STATE_COLUMN}, 1},
                {{"log_prob", "drawn", AQ_STATE_COLUMN}, 67},
                {{"log_prob", AQ_STATE_COLUMN}, 16384}};
    aq_schema schema = {.obs = chunk_box(AQ_DTYPE_F32, 3), .action = chunk_box(AQ_DTYPE_F32, 2)};
    EACH_ROW(i, rows) {
        aq_layout layout = chunk_layout_of(schema.obs, schema.action, 3, 32);
        aq_column found[AQ_COLUMNS_RECORDED_MAX];
        uint32_t count = 4711;
        for (uint32_t k = 0; k < 3 && rows[i].names[k] != NULL; k++) {
            aq_column column;
            assert_succeeds(aq_column_find(rows[i].names[k], &schema, &column));
            column.bytes = column.bytes == 0 ? 4 * rows[i].width : column.bytes;
            assert_succeeds(aq_layout_record(&layout, &column, 1, &refusal));
        }
        assert_int_equal(aq_columns_of_hash(&schema, layout.hash, found, &count), 0);
        assert_int_equal(count, layout.column_count - AQ_COLUMNS_STANDARD);
        for (uint32_t k = 0; k < count; k++) {
            assert_memory_equal(&found[k], &layout.columns[AQ_COLUMNS_STANDARD + k],
                                sizeof(found[k]));
        }
        assert_int_equal(aq_columns_of_hash(&schema, layout.hash + 1, found, &count),
                         AQ_E_NOT_FOUND);
    }
}

TEST(a_column_that_cannot_be_recorded_is_refused_in_words)
{
    static const struct {
        aq_column column;
        const char *words;
    } rows[] = {
        {{"", AQ_DTYPE_F32, AQ_PER_STEP, 8, {0}, {0}}, "the name of a column is 1 to 18"},
        {{"Noise", AQ_DTYPE_F32, AQ_PER_STEP, 8, {0}, {0}}, "not 'Noise'"},
        {{"a_name_that_is_long", AQ_DTYPE_F32, AQ_PER_STEP, 8, {0}, {0}}, "1 to 18 of a to z"},
        {{"reward", AQ_DTYPE_F32, AQ_PER_STEP, 8, {0}, {0}}, "two columns of the name reward"},
        {{"noise", 0, AQ_PER_STEP, 8, {0}, {0}}, "column noise: values of 8 bytes of type 0"},
        {{"noise", AQ_DTYPE_U32 + 1, AQ_PER_STEP, 8, {0}, {0}}, "cannot be"},
        {{"noise", AQ_DTYPE_F32, 2, 8, {0}, {0}}, "cannot be"},
        {{"noise", AQ_DTYPE_F32, AQ_PER_STEP, 0, {0}, {0}}, "cannot be"},
        {{"noise", AQ_DTYPE_F32, AQ_PER_STEP, 6, {0}, {0}}, "cannot be"},
        {{"noise", AQ_DTYPE_F32, AQ_PER_STEP, AQ_COLUMN_BYTES_MAX + 4, {0}, {0}}, "cannot be"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        aq_layout layout = chunk_layout(3, 2, 3, 32);
        assert_refused(aq_layout_record(&layout, &rows[i].column, 1, &refusal), AQ_E_INVALID,
                       rows[i].words);
        assert_int_equal(layout.column_count, AQ_COLUMNS_STANDARD);
    }
}

TEST(more_columns_than_there_is_room_for_are_refused)
{
    const aq_column columns[AQ_COLUMNS_RECORDED_MAX + 1] = {noise};
    aq_layout layout = chunk_layout(3, 2, 3, 32);
    assert_refused(aq_layout_record(&layout, columns, AQ_COLUMNS_RECORDED_MAX + 1, &refusal),
                   AQ_E_INVALID, "5 recorded columns; up to 4 are possible");
}
