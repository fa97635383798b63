/*
 * Layouts: which columns there are, what is checked in them, and how long chunks may be.
 */
#include <string.h>

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
    assert_int_equal(layout.columns[AQ_COLUMN_ACTION].choice_count, 2);
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
    assert_int_equal(layout.columns[AQ_COLUMN_ACTION].choice_count, 0);
    layout = chunk_layout_of(choices, choices, 1, 1);
    assert_column(&layout.columns[AQ_COLUMN_OBS], "obs", AQ_DTYPE_I32, AQ_PER_BOUNDARY, 4);
}

static void refuse(const aq_schema *schema, uint32_t n_step, uint32_t length_max, int code)
{
    aq_layout layout, before;
    aq_error error = {0};
    memset(&before, 0x5a, sizeof(before));
    layout = before;
    assert_int_equal(aq_layout_init(schema, n_step, length_max, &layout, &error), code);
    assert_int_equal(error.code, code);
    assert_memory_equal(&layout, &before, sizeof(layout));
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
