/*
 * Queues of sequences that end with their chunk: what a step is in, how many rows make so many
 * steps, and what is too old to be drawn. Step k is of version k.
 */
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

enum { LENGTH = 4 };

static table_kit *queue_of_sequences(void)
{
    aq_table_spec spec = table_kit_spec();
    spec.selector = AQ_SELECTOR_QUEUE;
    spec.sequence_length = LENGTH;
    spec.sequence_period = LENGTH;
    return table_kit_of(&spec, 1);
}

TEST(each_step_is_in_one_sequence_whatever_the_chunk_repeats)
{
    table_kit *kit = queue_of_sequences();
    table_kit_piece pieces[] = {
        {.length = 7}, {.first = 5, .length = 8, .overlap = 2}, {.length = 1, .terminated = true}};
    const struct {
        uint32_t first, length;
        float last_bootstrap;
    } wanted[] = {{0, 4, 0.5f}, {4, 3, 0.5f}, {9, 4, 0.5f}, {13, 2, 0.5f}, {15, 1, 0.0f}};
    enum { ROWS = sizeof(wanted) / sizeof(wanted[0]) };
    aq_batch *batch = table_kit_batch(kit, ROWS);
    (void)table_kit_insert_pieces(kit, pieces, 3);
    assert_int_equal(aq_replay_table_sample(kit->table, ROWS, 0.5f, batch), 0);
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint32_t last = row * LENGTH + wanted[row].length - 1;
        assert_int_equal(table_kit_step(batch, row), wanted[row].first);
        assert_int_equal(batch->length[row], wanted[row].length);
        assert_true(batch->bootstrap[last] == wanted[row].last_bootstrap);
    }
    assert_int_equal(aq_replay_table_holdings(kit->table).chunks, 0);
}

TEST(rows_are_counted_by_the_steps_that_they_make)
{
    table_kit *kit = queue_of_sequences();
    aq_batch *batch = table_kit_batch(kit, 2);
    (void)table_kit_insert(kit, 6); /* 4 and 2 */
    (void)table_kit_insert(kit, 3);
    (void)table_kit_insert(kit, 8); /* 4 and 4 */
    static const uint64_t rows[][2] = {{1, 1}, {4, 1},  {5, 2},  {6, 2},  {7, 3},
                                       {9, 3}, {10, 4}, {13, 4}, {14, 5}, {17, 5}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const aq_queue_view seen = aq_replay_table_look(kit->table, rows[i][0]);
        assert_int_equal(seen.steps, rows[i][0]);
        assert_int_equal(seen.rows, rows[i][1]);
    }
    assert_int_equal(aq_replay_table_look(kit->table, 18).steps, 17);
    assert_int_equal(aq_replay_table_sample(kit->table, 2, 0.5f, batch), 0);
    assert_int_equal(aq_replay_table_look(kit->table, 100).steps, 11);
}

TEST(what_is_older_than_expected_leaves_does_not_come_in_and_is_counted)
{
    table_kit *kit = queue_of_sequences();
    aq_batch *batch = table_kit_batch(kit, 1);
    (void)table_kit_insert(kit, 5); /* versions 0 to 4 */
    (void)table_kit_insert(kit, 5); /* 5 to 9 */
    (void)table_kit_insert(kit, 5); /* 10 to 14 */
    assert_int_equal(aq_replay_table_sample(kit->table, 1, 0.5f, batch), 0);
    aq_replay_table_expect(kit->table, 6); /* 5 is too old, whatever follows it */
    assert_int_equal(aq_replay_table_holdings(kit->table).outdated, 1 + 5);
    assert_int_equal(aq_replay_table_look(kit->table, 100).steps, 5);
    aq_replay_table_expect(kit->table, 16);
    (void)table_kit_insert(kit, 5); /* from 15 on */
    assert_int_equal(aq_replay_table_holdings(kit->table).outdated, 1 + 5 + 5 + 5);
    assert_int_equal(aq_replay_table_holdings(kit->table).items, 0);
    (void)table_kit_insert(kit, 3);
    assert_int_equal(aq_replay_table_look(kit->table, 100).steps, 3);
}
