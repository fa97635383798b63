/*
 * The table: numbers of items, what leaves when, memory per step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/base/rng.h"
#include "replay/replay_table.h"
#include "tests/unit/replay/replay_kit.h"

static aq_replay_table *table_of(const aq_chunk_layout *layout, uint64_t capacity)
{
    aq_replay_table *table = NULL;
    assert_int_equal(aq_replay_table_create(layout, capacity, &table), 0);
    return table;
}

static void insert(aq_replay_table *table, aq_chunk *chunk)
{
    assert_int_equal(aq_replay_table_reserve(table, 1), 0);
    aq_replay_table_insert(table, chunk);
}

static void test_a_new_table_holds_nothing(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = table_of(&layout, 100);
    aq_replay_holdings holdings = aq_replay_table_holdings(table);
    assert_int_equal(holdings.chunks, 0);
    assert_int_equal(holdings.transitions, 0);
    assert_int_equal(holdings.first_item, holdings.end_item);
    aq_replay_table_destroy(table);
}

static void test_destroy_takes_null(void **state)
{
    (void)state;
    aq_replay_table_destroy(NULL);
}

static void test_repeated_transitions_are_counted_once(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = table_of(&layout, 100);
    insert(table, kit_chunk(&layout, 0, 8, 0, KIT_GOES_ON));
    insert(table, kit_chunk(&layout, 6, 5, 2, KIT_TERMINATED));
    aq_replay_holdings holdings = aq_replay_table_holdings(table);
    assert_int_equal(holdings.transitions, 11);
    assert_int_equal(holdings.end_item, 11); /* one item for each step of the episode */
    aq_replay_table_destroy(table);
}

static void test_each_item_is_found_at_its_row(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = table_of(&layout, 100);
    insert(table, kit_chunk(&layout, 0, 8, 0, KIT_GOES_ON)); /* items at rows 0 to 5 */
    insert(table, kit_chunk(&layout, 6, 5, 2, KIT_TERMINATED));
    insert(table, kit_chunk(&layout, 11, 1, 0, KIT_TRUNCATED));
    for (uint64_t item = 0; item < 12; item++) {
        uint32_t row;
        const aq_chunk *chunk = aq_replay_table_find(table, item, &row);
        assert_int_equal((uint64_t)chunk->reward[row], item);
    }
    aq_replay_table_destroy(table);
}

static void test_the_oldest_leave_when_the_capacity_is_passed(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = table_of(&layout, 20);
    for (uint64_t i = 0; i < 5; i++) {
        insert(table, kit_chunk(&layout, 8 * i, 8, 0, KIT_TERMINATED));
    }
    aq_replay_holdings holdings = aq_replay_table_holdings(table);
    assert_int_equal(holdings.chunks, 2);
    assert_int_equal(holdings.transitions, 16);
    assert_int_equal(holdings.first_item, 24);
    assert_int_equal(holdings.end_item, 40);
    aq_replay_table_destroy(table);
}

static void test_the_newest_stays_even_when_it_is_too_big(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = table_of(&layout, 3);
    insert(table, kit_chunk(&layout, 0, 2, 0, KIT_TERMINATED));
    insert(table, kit_chunk(&layout, 2, 8, 0, KIT_TERMINATED));
    aq_replay_holdings holdings = aq_replay_table_holdings(table);
    assert_int_equal(holdings.chunks, 1);
    assert_int_equal(holdings.transitions, 8);
    aq_replay_table_destroy(table);
}

static void test_a_chunk_that_left_is_released(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = table_of(&layout, 8);
    aq_chunk *chunk = aq_chunk_ref(kit_chunk(&layout, 0, 8, 0, KIT_TERMINATED));
    insert(table, chunk);
    assert_int_equal(chunk->references, 2);
    insert(table, kit_chunk(&layout, 8, 8, 0, KIT_TERMINATED));
    assert_int_equal(chunk->references, 1);
    aq_chunk_unref(chunk);
    aq_replay_table_destroy(table);
}

static void test_bytes_come_and_go_with_chunks(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = table_of(&layout, 8);
    uint64_t empty = aq_replay_table_holdings(table).bytes;
    aq_chunk *chunk = kit_chunk(&layout, 0, 8, 0, KIT_TERMINATED);
    uint64_t bytes = chunk->bytes;
    insert(table, chunk);
    assert_int_equal(aq_replay_table_holdings(table).bytes, empty + bytes);
    insert(table, kit_chunk(&layout, 8, 8, 0, KIT_TERMINATED));
    assert_int_equal(aq_replay_table_holdings(table).bytes, empty + bytes);
    aq_replay_table_destroy(table);
}

static void test_random_chunks_agree_with_a_list_of_items(void **state)
{
    (void)state;
    enum { CHUNKS = 3000, CAPACITY = 700 };
    aq_rng rng;
    aq_rng_init(&rng, kit_seed(), 0);
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = table_of(&layout, CAPACITY);
    static uint64_t steps[CHUNKS * KIT_CHUNK_LENGTH]; /* the step at which each item starts */
    uint64_t items = 0;
    uint64_t step = 0;
    for (int i = 0; i < CHUNKS; i++) {
        bool ends = aq_rng_below(&rng, 2) == 0;
        uint32_t least = ends ? 1 : KIT_N_STEP;
        uint32_t length = least + (uint32_t)aq_rng_below(&rng, KIT_CHUNK_LENGTH - least + 1);
        insert(table, kit_chunk(&layout, step, length, 0, ends ? KIT_TERMINATED : KIT_GOES_ON));
        for (uint32_t row = 0; row < (ends ? length : length - KIT_N_STEP + 1); row++) {
            steps[items++] = step + row;
        }
        step += length;
        aq_replay_holdings holdings = aq_replay_table_holdings(table);
        assert_int_equal(holdings.end_item, items);
        assert_in_range(holdings.transitions, 1, CAPACITY);
        for (int draw = 0; draw < 8; draw++) {
            uint64_t live = holdings.end_item - holdings.first_item;
            uint64_t item = holdings.first_item + aq_rng_below(&rng, live);
            uint32_t row;
            const aq_chunk *chunk = aq_replay_table_find(table, item, &row);
            assert_int_equal((uint64_t)chunk->reward[row], steps[item]);
        }
    }
    aq_replay_table_destroy(table);
}

static void test_memory_per_step_is_close_to_its_columns(void **state)
{
    (void)state;
    const uint32_t obs_sizes[] = {4, 17, 84};
    for (size_t i = 0; i < sizeof(obs_sizes) / sizeof(obs_sizes[0]); i++) {
        aq_chunk_layout layout = {.obs_bytes = 4 * obs_sizes[i],
                                  .action_bytes = 4,
                                  .n_step = KIT_N_STEP,
                                  .length_max = 64};
        aq_replay_table *table = table_of(&layout, 20000);
        for (int n = 0; n < 1000; n++) {
            aq_chunk *chunk;
            assert_int_equal(aq_chunk_create(&layout, 64, &chunk), 0);
            chunk->length = 64;
            chunk->overlap = KIT_N_STEP - 1;
            chunk->first = 64;
            insert(table, chunk);
        }
        aq_replay_holdings holdings = aq_replay_table_holdings(table);
        double step = (double)holdings.bytes / (double)holdings.transitions;
        assert_true(step <= 1.15 * (layout.obs_bytes + layout.action_bytes + 16));
        aq_replay_table_destroy(table);
    }
}

static void test_create_without_memory_fails_clean(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = NULL;
    uint64_t nth = 1;
    for (;; nth++) {
        aq_memory_fail_at(nth, 0);
        int rc = aq_replay_table_create(&layout, 10, &table);
        aq_memory_fail_at(0, 0);
        if (rc == 0) {
            break;
        }
        assert_int_equal(rc, AQ_E_NOMEM);
        assert_null(table);
    }
    assert_int_equal(nth, 3);
    aq_replay_table_destroy(table);
}

static void test_room_that_cannot_be_had_changes_nothing(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = table_of(&layout, 1000);
    insert(table, kit_chunk(&layout, 0, 8, 0, KIT_TERMINATED));
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_replay_table_reserve(table, 500), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    uint32_t row;
    assert_int_equal((int)aq_replay_table_find(table, 7, &row)->reward[7], 7);
    assert_int_equal(aq_replay_table_reserve(table, 500), 0);
    assert_int_equal((int)aq_replay_table_find(table, 7, &row)->reward[7], 7);
    aq_replay_table_destroy(table);
}

static void test_room_is_never_made_for_more_chunks_than_there_can_be(void **state)
{
    (void)state;
    aq_chunk_layout layout = kit_layout();
    aq_replay_table *table = table_of(&layout, 100);
    assert_int_equal(aq_replay_table_reserve(table, 1000000), 0);
    assert_in_range(aq_replay_table_holdings(table).bytes, 1, 128 * 16);
    for (uint64_t i = 0; i < 1000; i++) {
        insert(table, kit_chunk(&layout, i, 1, 0, KIT_TERMINATED));
    }
    assert_int_equal(aq_replay_table_holdings(table).chunks, 100);
    aq_replay_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_table_holds_nothing),
        cmocka_unit_test(test_destroy_takes_null),
        cmocka_unit_test(test_repeated_transitions_are_counted_once),
        cmocka_unit_test(test_each_item_is_found_at_its_row),
        cmocka_unit_test(test_the_oldest_leave_when_the_capacity_is_passed),
        cmocka_unit_test(test_the_newest_stays_even_when_it_is_too_big),
        cmocka_unit_test(test_a_chunk_that_left_is_released),
        cmocka_unit_test(test_bytes_come_and_go_with_chunks),
        cmocka_unit_test(test_random_chunks_agree_with_a_list_of_items),
        cmocka_unit_test(test_memory_per_step_is_close_to_its_columns),
        cmocka_unit_test(test_create_without_memory_fails_clean),
        cmocka_unit_test(test_room_that_cannot_be_had_changes_nothing),
        cmocka_unit_test(test_room_is_never_made_for_more_chunks_than_there_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
