/*
 * A batch is one block of aligned columns of the sizes that the layout asks for.
 */
#include "common/experience/batch.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"

static aq_layout layout;

static int make_layout(void **state)
{
    (void)state;
    layout = chunk_layout(3, 2, 1, 8);
    return 0;
}

TEST_GROUP(make_layout, NULL);

TEST(a_row_or_a_row_of_sequences_takes_all_columns)
{
    assert_int_equal(aq_batch_row_bytes(&layout, 0), 12 + 12 + 4 + 4 + 4 + 4 + 8 + 4);
    assert_int_equal(aq_batch_row_bytes(&layout, 3), 4 * 12 + 3 * (4 + 4 + 4 + 4) + 4 + 4 + 8);
}

/* Each is aligned, and nobody writes over anybody else. */
static void check_columns(void *const columns[8], const size_t bytes[8], size_t rows)
{
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal((uintptr_t)columns[i] % AQ_ALIGNMENT_BYTES, 0);
        memset(columns[i], (int)i + 1, bytes[i] * rows);
    }
    for (size_t i = 0; i < 8; i++) {
        for (size_t k = 0; k < bytes[i] * rows; k++) {
            assert_int_equal(((const uint8_t *)columns[i])[k], i + 1);
        }
    }
}

TEST(columns_are_aligned_and_hold_rows_max_rows)
{
    aq_batch *batch = NULL;
    for (uint32_t rows = 1; rows < 70; rows++) {
        assert_int_equal(aq_batch_create(&layout, 0, rows, &batch), 0);
        assert_int_equal(batch->rows, 0);
        assert_int_equal(batch->rows_max, rows);
        assert_int_equal(batch->steps, 1);
        assert_false(aq_batch_has_sequences(batch));
        assert_int_equal(batch->obs_bytes, 12);
        assert_int_equal(batch->action_bytes, 4);
        void *columns[] = {batch->obs,       batch->next_obs, batch->action, batch->reward,
                           batch->bootstrap, batch->weight,   batch->item,   batch->version};
        const size_t bytes[] = {12, 12, 4, 4, 4, 4, 8, 4};
        check_columns(columns, bytes, rows);
        assert_int_equal(batch->rows_max, rows);
        aq_batch_destroy(batch);
    }
}

TEST(sequences_have_columns_of_their_own_lengths)
{
    aq_batch *batch = NULL;
    for (uint32_t steps = 1; steps < 20; steps++) {
        const size_t rows = 7;
        assert_int_equal(aq_batch_create(&layout, steps, rows, &batch), 0);
        assert_int_equal(batch->steps, steps);
        assert_null(batch->next_obs);
        assert_true(aq_batch_has_sequences(batch));
        void *columns[] = {batch->obs,    batch->action, batch->reward,  batch->bootstrap,
                           batch->weight, batch->length, batch->version, batch->item};
        const size_t bytes[] = {12 * (steps + 1), 4 * steps, 4 * steps, 4 * steps, 4, 4,
                                4 * steps,        8};
        check_columns(columns, bytes, rows);
        aq_batch_destroy(batch);
    }
}

TEST(a_batch_of_sequences_can_be_narrower_than_it_was_made)
{
    aq_batch *batch = NULL, *narrow = NULL;
    assert_int_equal(aq_batch_create(&layout, 9, 5, &batch), 0);
    assert_int_equal(aq_batch_create(&layout, 4, 5, &narrow), 0);
    for (int i = 0; i < 2; i++) {
        aq_batch_fit(batch, 4);
        assert_int_equal(batch->steps, 4);
        for (uint32_t c = 0; c < batch->column_count; c++) {
            assert_int_equal(aq_batch_column_bytes(&batch->columns[c]),
                             aq_batch_column_bytes(&narrow->columns[c]));
        }
        aq_batch_fit(batch, 9);
        assert_int_equal(batch->columns[AQ_BATCH_OBS].values, 10);
        assert_int_equal(batch->columns[AQ_BATCH_BOOTSTRAP].values, 9);
    }
    aq_batch_destroy(narrow);
    aq_batch_destroy(batch);
}

TEST(no_rows_and_too_many_of_them_or_of_steps_are_refused)
{
    aq_batch *batch = NULL;
    assert_int_equal(aq_batch_create(&layout, AQ_BATCH_STEPS_MAX + 1, 1, &batch), AQ_E_INVALID);
    assert_int_equal(aq_batch_create(&layout, 1, 0, &batch), AQ_E_INVALID);
    assert_int_equal(aq_batch_create(&layout, 0, 0, &batch), AQ_E_INVALID);
    assert_int_equal(aq_batch_create(&layout, 0, AQ_BATCH_ROWS_MAX + 1, &batch), AQ_E_INVALID);
    assert_null(batch);
    assert_int_equal(aq_batch_create(&layout, 0, AQ_BATCH_ROWS_MAX, &batch), 0);
    aq_batch_destroy(batch);
}

TEST(a_batch_is_one_allocation_and_may_fail)
{
    aq_batch *batch = NULL;
    uint64_t before = aq_memory_allocation_count();
    assert_fails_without_memory(aq_batch_create(&layout, 0, 64, &batch));
    assert_null(batch);
    assert_true(aq_memory_allocation_count() == before + 1);
    aq_batch_destroy(NULL);
}
