/*
 * The table: numbers of items, what leaves when, how often an item is drawn, memory per step.
 */
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

static table_kit *kit_of(const aq_table_spec *spec)
{
    return table_kit_of(spec, test_seed());
}

static table_kit *kit_by(uint32_t selector, uint64_t capacity, uint32_t times_sampled_max)
{
    aq_table_spec spec = table_kit_spec();
    spec.selector = selector;
    spec.capacity = capacity;
    spec.times_sampled_max = times_sampled_max;
    return kit_of(&spec);
}

static aq_replay_holdings holdings_of(const table_kit *kit)
{
    return aq_replay_table_holdings(kit->table);
}

/* Draws `rows` items and asserts that they are these. */
static void assert_sample(table_kit *kit, const uint64_t *items, uint32_t rows)
{
    aq_batch *batch = table_kit_batch(kit, rows);
    assert_int_equal(aq_replay_table_sample(kit->table, rows, 0.5f, batch), 0);
    assert_int_equal(batch->rows, rows);
    for (uint32_t row = 0; row < rows; row++) {
        assert_int_equal(batch->item[row], items[row]);
    }
}

static int try_sample(table_kit *kit, uint32_t rows)
{
    aq_batch *batch = table_kit_batch(kit, rows);
    int rc = aq_replay_table_sample(kit->table, rows, 0.5f, batch);
    return rc;
}

/* ---- what it holds ------------------------------------------------------------------------- */

TEST(a_new_table_holds_nothing)
{
    table_kit *kit = kit_by(AQ_SELECTOR_UNIFORM, 100, 0);
    assert_int_equal(holdings_of(kit).chunks, 0);
    assert_int_equal(holdings_of(kit).items, 0);
    assert_int_equal(holdings_of(kit).next_item, 0);
    assert_int_equal(try_sample(kit, 1), AQ_E_AGAIN);
    aq_replay_table_destroy(NULL);
}

TEST(repeated_transitions_are_counted_once)
{
    table_kit *kit = kit_by(AQ_SELECTOR_UNIFORM, 100, 0);
    table_kit_piece pieces[] = {{.length = 8},
                                {.first = 6, .length = 5, .overlap = 2, .terminated = true}};
    table_kit_insert_pieces(kit, pieces, 2);
    assert_int_equal(holdings_of(kit).transitions, 11);
    assert_int_equal(holdings_of(kit).items, 11); /* one for each step of the episode */
}

TEST(a_message_is_held_once_for_each_chunk)
{
    table_kit *kit = kit_by(AQ_SELECTOR_UNIFORM, 16, 0);
    table_kit_piece pieces[] = {{.length = 8, .terminated = true},
                                {.length = 8, .terminated = true}};
    table_kit_insert_pieces(kit, pieces, 2);
    assert_int_equal(aq_message_store_oldest(kit->store)->holds, 2);
    table_kit_insert(kit, 8);
    assert_int_equal(aq_message_store_oldest(kit->store)->holds, 1);
    table_kit_insert(kit, 8);
    assert_int_equal(aq_message_store_oldest(kit->store)->number, 2);
}

TEST(the_oldest_leave_when_the_capacity_is_passed)
{
    table_kit *kit = kit_by(AQ_SELECTOR_FIFO, 20, 0);
    for (int i = 0; i < 5; i++) {
        table_kit_insert(kit, 8);
    }
    assert_int_equal(holdings_of(kit).chunks, 2);
    assert_int_equal(holdings_of(kit).transitions, 16);
    assert_int_equal(holdings_of(kit).items_left, 24);
    assert_sample(kit, (const uint64_t[]){24, 25}, 2);
}

TEST(the_newest_stays_even_when_it_is_too_big)
{
    for (uint32_t remover = 0; remover < 2; remover++) {
        aq_table_spec spec = table_kit_spec();
        spec.remover = remover;
        spec.capacity = 3;
        table_kit *kit = kit_of(&spec);
        table_kit_insert(kit, 2);
        table_kit_insert(kit, 8);
        assert_int_equal(holdings_of(kit).chunks, 1);
        assert_int_equal(holdings_of(kit).transitions, 8);
    }
}

TEST(the_oldest_leave_when_the_bytes_are_passed)
{
    aq_table_spec spec = table_kit_spec();
    const uint64_t chunk_bytes = 9 * 8 + 8 * (4 + 4 + 4);
    spec.capacity_bytes = 3 * chunk_bytes;
    table_kit *kit = kit_of(&spec);
    uint64_t empty = holdings_of(kit).bytes;
    for (int i = 0; i < 3; i++) {
        table_kit_insert(kit, 8);
    }
    assert_int_equal(holdings_of(kit).bytes, empty + 3 * chunk_bytes);
    for (int i = 0; i < 10; i++) {
        table_kit_insert(kit, 8);
        assert_int_equal(holdings_of(kit).chunks, 3);
    }
    assert_int_equal(holdings_of(kit).bytes, empty + 3 * chunk_bytes);
}

TEST(a_chunk_without_a_sequence_is_not_taken)
{
    aq_table_spec spec = table_kit_spec();
    spec.sequence_length = 4;
    spec.sequence_period = 20;
    table_kit *kit = kit_of(&spec);
    table_kit_piece pieces[] = {{.first = 3, .length = 8}, {.length = 8}};
    table_kit_insert_pieces(kit, pieces, 2);
    assert_int_equal(holdings_of(kit).chunks, 1);
    assert_int_equal(holdings_of(kit).items, 1);
    assert_int_equal(aq_message_store_oldest(kit->store)->holds, 1);
    aq_batch *batch = table_kit_batch(kit, 1);
    assert_int_equal(aq_replay_table_sample(kit->table, 1, 0.5f, batch), 0);
    assert_int_equal(table_kit_step(batch, 0), 8);
}

/* Of an episode that comes step by step, a sequence starts in each twentieth chunk. */
TEST(steps_of_chunks_without_a_sequence_take_capacity)
{
    aq_table_spec spec = table_kit_spec();
    spec.sequence_length = 4;
    spec.sequence_period = 20;
    spec.capacity = 40;
    table_kit *kit = kit_of(&spec);
    for (uint32_t first = 0; first <= 200; first++) {
        table_kit_piece piece = {.first = first, .length = 4, .overlap = first > 0 ? 3 : 0};
        table_kit_insert_pieces(kit, &piece, 1);
        assert_true(holdings_of(kit).transitions <= 40 + 19); /* until the next one is taken */
    }
    assert_int_equal(holdings_of(kit).transitions, 40);
    assert_int_equal(holdings_of(kit).chunks, 2);
    assert_int_equal(holdings_of(kit).items_left, 9);
}

TEST(forgotten_messages_take_older_ones_with_them_under_fifo)
{
    table_kit *kit = kit_by(AQ_SELECTOR_UNIFORM, 100, 0);
    for (int i = 0; i < 4; i++) {
        table_kit_insert(kit, 8);
    }
    const aq_stored_message *second = aq_message_store_oldest(kit->store)->newer;
    aq_replay_table_forget(kit->table, second);
    assert_int_equal(holdings_of(kit).chunks, 2);
    assert_int_equal(aq_message_store_oldest(kit->store)->number, 3);
    assert_int_equal(holdings_of(kit).items, 16);
}

TEST(what_many_uniform_draws_give_is_what_is_held)
{
    table_kit *kit = kit_by(AQ_SELECTOR_UNIFORM, 300, 0);
    aq_batch *batch = table_kit_batch(kit, 256);
    for (int i = 0; i < 200; i++) {
        table_kit_insert(kit, 1 + (uint32_t)i % 8);
        if (i < 40) {
            continue;
        }
        assert_int_equal(aq_replay_table_sample(kit->table, 256, 1.0f, batch), 0);
        aq_replay_holdings holdings = holdings_of(kit);
        for (uint32_t row = 0; row < 256; row++) {
            /* Each step of whole episodes is one item. */
            assert_int_equal(table_kit_step(batch, row), batch->item[row]);
            assert_in_range(batch->item[row], holdings.next_item - holdings.items,
                            holdings.next_item - 1);
            assert_true(batch->weight[row] == (float)(1.0 / (double)holdings.items));
        }
    }
}

/* ---- in order, and how often --------------------------------------------------------------- */

TEST(fifo_and_lifo_give_the_same_items_again)
{
    table_kit *kit = kit_by(AQ_SELECTOR_FIFO, 100, 0);
    table_kit_insert(kit, 8);
    assert_sample(kit, (const uint64_t[]){0, 1, 2}, 3);
    assert_sample(kit, (const uint64_t[]){0, 1, 2}, 3);
    assert_int_equal(try_sample(kit, 9), AQ_E_AGAIN);
    kit = kit_by(AQ_SELECTOR_LIFO, 100, 0);
    table_kit_insert(kit, 8);
    table_kit_insert(kit, 2);
    assert_sample(kit, (const uint64_t[]){9, 8, 7}, 3);
    assert_sample(kit, (const uint64_t[]){9, 8, 7}, 3);
}

TEST(a_stack_gives_each_item_as_often_as_it_may)
{
    table_kit *kit = kit_by(AQ_SELECTOR_LIFO, 100, 2);
    table_kit_insert(kit, 4);
    assert_sample(kit, (const uint64_t[]){3, 2}, 2);
    assert_sample(kit, (const uint64_t[]){3, 2}, 2);
    assert_sample(kit, (const uint64_t[]){1, 0}, 2);
    table_kit_insert(kit, 2);
    assert_sample(kit, (const uint64_t[]){5, 4}, 2);
    assert_sample(kit, (const uint64_t[]){5, 4, 1, 0}, 4);
    assert_int_equal(holdings_of(kit).items, 0);
    assert_int_equal(holdings_of(kit).chunks, 0);
    assert_int_equal(try_sample(kit, 1), AQ_E_AGAIN);
    assert_int_equal(holdings_of(kit).times_sampled, 12);
    assert_int_equal(holdings_of(kit).items_left, 6);
}

TEST(a_full_queue_lets_nothing_go)
{
    table_kit *kit = kit_by(AQ_SELECTOR_QUEUE, 16, 0);
    for (int i = 0; i < 5; i++) {
        table_kit_insert(kit, 8);
    }
    assert_int_equal(holdings_of(kit).items, 40);
    assert_sample(kit, (const uint64_t[]){0, 1, 2}, 3);
    assert_int_equal(holdings_of(kit).chunks, 5);
}

TEST(a_queue_far_beyond_its_capacity_has_no_room)
{
    table_kit *kit = kit_by(AQ_SELECTOR_QUEUE, 16, 0);
    const table_kit_piece piece = {.length = 8, .terminated = true};
    aq_arrival *arrival = table_kit_arrival(&kit->layout, &piece, 1);
    while (holdings_of(kit).items < 96) {
        table_kit_insert(kit, 8);
    }
    assert_int_equal(aq_replay_table_reserve(kit->table, arrival), AQ_E_FULL);
    assert_int_equal(try_sample(kit, 16), 0);
    assert_int_equal(aq_replay_table_reserve(kit->table, arrival), 0);
    aq_arrival_unref(arrival);
}

TEST(fewer_draws_than_rows_are_no_sample)
{
    table_kit *kit = kit_by(AQ_SELECTOR_UNIFORM, 1000, 2);
    table_kit_insert(kit, 8);
    assert_int_equal(try_sample(kit, 17), AQ_E_AGAIN);
    assert_int_equal(try_sample(kit, 10), 0);
    assert_int_equal(try_sample(kit, 7), AQ_E_AGAIN);
    assert_int_equal(try_sample(kit, 6), 0);
}

/* ---- memory -------------------------------------------------------------------------------- */

TEST(memory_per_step_is_close_to_its_columns)
{
    const uint32_t obs_sizes[] = {4, 17, 84};
    EACH_ROW(i, obs_sizes) {
        const aq_layout layout = chunk_layout(obs_sizes[i], AQ_SPACE_ELEMENTS_MAX, 3, 64);
        aq_table_spec spec = table_kit_spec();
        aq_message_store *store;
        aq_replay_table *table;
        spec.capacity = 20000;
        assert_int_equal(aq_message_store_create(0, &store), 0);
        assert_int_equal(aq_replay_table_create(&spec, &layout, store, 1, &table), 0);
        for (uint64_t number = 1; number <= 400; number++) {
            table_kit_piece pieces[4];
            for (int n = 0; n < 4; n++) {
                pieces[n] = (table_kit_piece){.first = 64, .length = 64, .overlap = 2};
            }
            aq_arrival *arrival = table_kit_arrival(&layout, pieces, 4);
            assert_int_equal(aq_replay_table_reserve(table, arrival), 0);
            assert_int_equal(aq_message_store_reserve(store), 0);
            aq_stored_message *message = aq_message_store_add(store, arrival, number, 0, false);
            for (uint32_t n = 0; n < 4; n++) {
                aq_replay_table_insert(table, message, n);
            }
        }
        aq_replay_holdings holdings = aq_replay_table_holdings(table);
        double bytes = (double)holdings.bytes / (double)holdings.transitions;
        double stored =
            (double)aq_message_store_counts_of(store).resident_bytes / (double)holdings.transitions;
        print_message("%u floats: %.1f bytes a step in the table, %.1f in the store\n",
                      obs_sizes[i], bytes, stored);
        assert_true(bytes <= 1.15 * (layout.columns[AQ_COLUMN_OBS].bytes +
                                     layout.columns[AQ_COLUMN_ACTION].bytes + 16));
        assert_true(stored <= 1.15 * (layout.columns[AQ_COLUMN_OBS].bytes +
                                      layout.columns[AQ_COLUMN_ACTION].bytes + 16));
        aq_replay_table_destroy(table);
        aq_message_store_destroy(store);
    }
}

TEST(a_table_that_has_grown_allocates_nothing)
{
    for (uint32_t selector = 0; selector <= AQ_SELECTOR_LIFO; selector++) {
        aq_table_spec spec = table_kit_spec();
        spec.selector = selector;
        spec.remover = AQ_REMOVER_LOWEST_PRIORITY;
        spec.capacity = 200;
        table_kit *kit = kit_of(&spec);
        for (int i = 0; i < 1000; i++) {
            table_kit_insert(kit, 8);
        }
        uint64_t bytes = holdings_of(kit).bytes;
        for (int i = 0; i < 1000; i++) {
            table_kit_insert(kit, 8);
            assert_int_equal(holdings_of(kit).bytes, bytes);
        }
    }
}

TEST(create_without_memory_fails_clean)
{
    for (uint32_t selector = 0; selector <= AQ_SELECTOR_QUEUE; selector++) {
        const aq_layout layout = table_kit_layout();
        aq_table_spec spec = table_kit_spec();
        aq_replay_table *table;
        spec.selector = selector;
        assert_made_despite_failures(table,
                                     aq_replay_table_create(&spec, &layout, NULL, 1, &table));
        aq_replay_table_destroy(table);
    }
}

TEST(room_that_cannot_be_had_changes_nothing)
{
    for (uint32_t selector = 0; selector <= AQ_SELECTOR_QUEUE; selector++) {
        aq_table_spec spec = table_kit_spec();
        spec.selector = selector;
        spec.capacity = 100000;
        spec.remover = selector == AQ_SELECTOR_QUEUE ? AQ_REMOVER_FIFO : AQ_REMOVER_LOWEST_PRIORITY;
        spec.times_sampled_max = selector == AQ_SELECTOR_QUEUE ? 0 : 1000;
        table_kit *kit = kit_of(&spec);
        enum { PIECES = 500 };
        static table_kit_piece pieces[PIECES];
        for (int i = 0; i < PIECES; i++) {
            pieces[i] = (table_kit_piece){.length = 8, .terminated = true};
        }
        table_kit_insert(kit, 8);
        aq_arrival *arrival = table_kit_arrival(&kit->layout, pieces, PIECES);
        int rc;
        EACH_ALLOCATION_FAILS(rc) {
            rc = aq_replay_table_reserve(kit->table, arrival);
            aq_memory_fail_at(0, 0);
            assert_int_equal(holdings_of(kit).items, 8);
            assert_true(selector == AQ_SELECTOR_QUEUE || try_sample(kit, 1) == 0);
        }
        aq_arrival_unref(arrival);
    }
}
