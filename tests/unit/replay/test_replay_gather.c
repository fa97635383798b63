/*
 * Gathering: every column against the steps that the chunks were made of, and the n-step returns at
 * the ends of chunks and episodes. Discount 0.5 makes all sums exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "replay/replay_gather.h"
#include "tests/unit/replay/replay_kit.h"

typedef struct gathered {
    float obs, obs_second, next_obs, reward, bootstrap;
    int32_t action;
    uint32_t version;
} gathered;

/* The item of a table that holds just this chunk. */
static gathered gather_one(const aq_chunk_layout *layout, aq_chunk *chunk, uint64_t item)
{
    aq_replay_table *table = NULL;
    aq_batch *batch = NULL;
    assert_int_equal(aq_replay_table_create(layout, 100, &table), 0);
    assert_int_equal(aq_replay_table_reserve(table, 1), 0);
    aq_replay_table_insert(table, chunk);
    assert_int_equal(aq_batch_create(layout, 1, &batch), 0);
    batch->rows = 1;
    batch->item[0] = item;
    aq_replay_gather(table, layout, 0.5f, batch);
    gathered row = {
        .reward = batch->reward[0], .bootstrap = batch->bootstrap[0], .version = batch->version[0]};
    memcpy(&row.obs, batch->obs, sizeof(float));
    memcpy(&row.obs_second, batch->obs + sizeof(float), sizeof(float));
    memcpy(&row.next_obs, batch->next_obs, sizeof(float));
    memcpy(&row.action, batch->action, sizeof(int32_t));
    aq_batch_destroy(batch);
    aq_replay_table_destroy(table);
    return row;
}

static void test_an_item_inside_a_chunk_folds_n_steps(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    gathered row = gather_one(&layout, kit_chunk(&layout, 100, 8, 0, KIT_GOES_ON), 2);
    assert_true(row.obs == 102.0f && row.obs_second == 102.25f);
    assert_true(row.next_obs == 105.0f);
    assert_true(row.reward == 102.0f + 0.5f * 103.0f + 0.25f * 104.0f);
    assert_true(row.bootstrap == 0.125f);
    assert_int_equal(row.action, 0);
    assert_int_equal(row.version, 102);
}

static void test_the_last_item_of_a_chunk_that_goes_on_folds_n_steps(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    gathered row = gather_one(&layout, kit_chunk(&layout, 100, 8, 0, KIT_GOES_ON), 5);
    assert_true(row.obs == 105.0f);
    assert_true(row.next_obs == 108.0f);
    assert_true(row.reward == 105.0f + 0.5f * 106.0f + 0.25f * 107.0f);
    assert_true(row.bootstrap == 0.125f);
}

static void test_a_termination_shortens_the_fold_and_cuts_the_bootstrap(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    gathered row = gather_one(&layout, kit_chunk(&layout, 100, 8, 0, KIT_TERMINATED), 6);
    assert_true(row.obs == 106.0f);
    assert_true(row.next_obs == 108.0f);
    assert_true(row.reward == 106.0f + 0.5f * 107.0f);
    assert_true(row.bootstrap == 0.0f);
}

static void test_an_item_that_ends_just_at_the_termination_has_no_bootstrap(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    gathered row = gather_one(&layout, kit_chunk(&layout, 100, 8, 0, KIT_TERMINATED), 5);
    assert_true(row.bootstrap == 0.0f);
    row = gather_one(&layout, kit_chunk(&layout, 100, 8, 0, KIT_TERMINATED), 4);
    assert_true(row.bootstrap == 0.125f);
}

static void test_a_truncation_shortens_the_fold_and_keeps_the_bootstrap(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    gathered row = gather_one(&layout, kit_chunk(&layout, 100, 8, 0, KIT_TRUNCATED), 7);
    assert_true(row.obs == 107.0f);
    assert_true(row.next_obs == 108.0f);
    assert_true(row.reward == 107.0f);
    assert_true(row.bootstrap == 0.5f);
}

static void test_the_first_item_of_a_chunk_that_repeats_rows_is_new(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    /* Steps 6 and 7 were in the chunk before, but no item could start there. */
    gathered row = gather_one(&layout, kit_chunk(&layout, 6, 8, 2, KIT_GOES_ON), 0);
    assert_true(row.obs == 6.0f);
    assert_true(row.reward == 6.0f + 0.5f * 7.0f + 0.25f * 8.0f);
}

static void test_many_rows_across_blocks_and_chunks_all_agree(void **state)
{
    (void)state;
    enum { CHUNKS = 50, ROWS = CHUNKS * KIT_CHUNK_LENGTH };
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = NULL;
    aq_batch *batch = NULL;
    assert_int_equal(aq_replay_table_create(&layout, ROWS, &table), 0);
    assert_int_equal(aq_replay_table_reserve(table, CHUNKS), 0);
    for (uint64_t i = 0; i < CHUNKS; i++) {
        aq_replay_table_insert(table, kit_chunk(&layout, 8 * i, 8, 0, KIT_TERMINATED));
    }
    assert_int_equal(aq_batch_create(&layout, ROWS, &batch), 0);
    batch->rows = ROWS;
    for (uint32_t row = 0; row < ROWS; row++) {
        batch->item[row] = ROWS - 1 - row;
    }
    aq_replay_gather(table, &layout, 1.0f, batch);
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t step = ROWS - 1 - row;
        uint32_t left = 8 - step % 8;
        uint32_t folded = left < KIT_N_STEP ? left : KIT_N_STEP;
        float obs, next_obs;
        memcpy(&obs, batch->obs + (size_t)row * 8, sizeof(obs));
        memcpy(&next_obs, batch->next_obs + (size_t)row * 8, sizeof(next_obs));
        float sum = 0.0f;
        for (uint32_t i = 0; i < folded; i++) {
            sum += (float)(step + i);
        }
        assert_true(obs == (float)step);
        assert_true(next_obs == (float)(step + folded));
        assert_true(batch->reward[row] == sum);
        assert_true(batch->bootstrap[row] == (left <= KIT_N_STEP ? 0.0f : 1.0f));
        assert_int_equal(batch->version[row], step);
    }
    aq_batch_destroy(batch);
    aq_replay_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_item_inside_a_chunk_folds_n_steps),
        cmocka_unit_test(test_the_last_item_of_a_chunk_that_goes_on_folds_n_steps),
        cmocka_unit_test(test_a_termination_shortens_the_fold_and_cuts_the_bootstrap),
        cmocka_unit_test(test_an_item_that_ends_just_at_the_termination_has_no_bootstrap),
        cmocka_unit_test(test_a_truncation_shortens_the_fold_and_keeps_the_bootstrap),
        cmocka_unit_test(test_the_first_item_of_a_chunk_that_repeats_rows_is_new),
        cmocka_unit_test(test_many_rows_across_blocks_and_chunks_all_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
