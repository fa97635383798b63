/*
 * The heap against a plain array.
 */
#include "replay/table/chunk_heap.h"
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

TEST(the_lowest_key_is_on_top_and_of_equal_ones_the_oldest)
{
    enum { CHUNKS = 500 };
    static float keys[CHUNKS];
    static bool inside[CHUNKS];
    const uint32_t base = UINT32_MAX - 100; /* ordinals wrap in the middle */
    aq_chunk_heap heap;
    aq_rng rng = rng_of(test_seed(), 1);
    aq_chunk_heap_init(&heap);
    for (int step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)aq_rng_below(&rng, CHUNKS);
        float key = (float)aq_rng_below(&rng, 20);
        if (!inside[i]) {
            assert_int_equal(aq_chunk_heap_reserve(&heap, CHUNKS), 0);
            aq_chunk_heap_insert(&heap, base + i, key);
            inside[i] = true;
            keys[i] = key;
        } else if (aq_rng_below(&rng, 2) == 0) {
            aq_chunk_heap_change(&heap, base + i, key);
            keys[i] = key;
        } else {
            aq_chunk_heap_remove(&heap, base + i);
            inside[i] = false;
        }
        int lowest = -1;
        for (int n = 0; n < CHUNKS; n++) {
            if (inside[n] && (lowest < 0 || keys[n] < keys[lowest])) {
                lowest = n;
            }
        }
        if (lowest >= 0) {
            assert_int_equal(aq_chunk_heap_lowest(&heap), base + (uint32_t)lowest);
        }
    }
    aq_chunk_heap_fini(&heap);
}

TEST(growth_keeps_what_is_inside)
{
    aq_chunk_heap heap;
    aq_chunk_heap_init(&heap);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(aq_chunk_heap_reserve(&heap, i + 1), 0);
        aq_chunk_heap_insert(&heap, i, (float)(i * 7 % 1000));
    }
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t lowest = aq_chunk_heap_lowest(&heap);
        assert_int_equal(lowest * 7 % 1000, i);
        aq_chunk_heap_remove(&heap, lowest);
    }
    aq_chunk_heap_fini(&heap);
}

TEST(room_that_cannot_be_had_changes_nothing)
{
    aq_chunk_heap heap;
    aq_chunk_heap_init(&heap);
    assert_int_equal(aq_chunk_heap_reserve(&heap, 1), 0);
    aq_chunk_heap_insert(&heap, 3, 1.0f);
    for (uint64_t nth = 1; nth <= 2; nth++) {
        aq_memory_fail_at(nth, 0);
        assert_int_equal(aq_chunk_heap_reserve(&heap, 5000), AQ_E_NOMEM);
        aq_memory_fail_at(0, 0);
        assert_int_equal(aq_chunk_heap_lowest(&heap), 3);
    }
    aq_chunk_heap_fini(&heap);
}
