/*
 * The ring finds the chunk of any number, however it grew and whatever has left.
 */
#include "replay/table/chunk_ring.h"
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

static const aq_chunk_view any_view; /* the ring looks into none */

static void aq_chunk_ring_setup(aq_chunk_ring *ring)
{
    assert_int_equal(aq_chunk_ring_init(ring), 0);
}
#define aq_chunk_ring_teardown aq_chunk_ring_fini

static void leave(aq_chunk_ring *ring, uint64_t ordinal)
{
    aq_chunk_ring_slot(ring, ordinal)->view = NULL;
    aq_chunk_ring_trim(ring);
}

static void append(aq_chunk_ring *ring, uint32_t items)
{
    assert_int_equal(aq_chunk_ring_reserve(ring, 1, items), 0);
    aq_chunk_ring_append(ring, NULL, &any_view, items);
}

static void assert_all_found(const aq_chunk_ring *ring)
{
    for (uint64_t ordinal = ring->head; ordinal < ring->end; ordinal++) {
        uint64_t first = aq_chunk_ring_slot(ring, ordinal)->first_item;
        uint32_t items = aq_chunk_ring_items(ring, ordinal);
        for (uint32_t i = 0; i < items; i++) {
            assert_int_equal(aq_chunk_ring_find(ring, first + i), ordinal);
        }
    }
}

TEST_IN(aq_chunk_ring, ring, an_empty_ring_has_no_numbers)
{
    assert_int_equal(aq_chunk_ring_first_item(ring), 0);
    assert_int_equal(aq_chunk_ring_end_item(ring), 0);
}

TEST_IN(aq_chunk_ring, ring, numbers_go_on_when_all_have_left)
{
    append(ring, 5);
    leave(ring, 0);
    assert_int_equal(aq_chunk_ring_first_item(ring), 5);
    assert_int_equal(aq_chunk_ring_end_item(ring), 5);
    append(ring, 3);
    assert_int_equal(aq_chunk_ring_find(ring, 7), 1);
}

TEST_IN(aq_chunk_ring, ring, a_chunk_in_the_middle_keeps_its_place_until_the_older_ones_left)
{
    append(ring, 4);
    append(ring, 4);
    append(ring, 4);
    leave(ring, 1);
    assert_int_equal(aq_chunk_ring_first_item(ring), 0);
    assert_int_equal(aq_chunk_ring_find(ring, 6), 1);
    leave(ring, 0);
    assert_int_equal(aq_chunk_ring_first_item(ring), 8);
}

TEST(every_number_is_found_whatever_the_sizes)
{
    aq_rng rng = rng_of(test_seed(), 1);
    for (int round = 0; round < 20; round++) {
        aq_chunk_ring ring;
        assert_int_equal(aq_chunk_ring_init(&ring), 0);
        uint64_t size_max = UINT64_C(1) << aq_rng_below(&rng, 8);
        for (int i = 0; i < 2000; i++) {
            append(&ring, 1 + (uint32_t)aq_rng_below(&rng, size_max));
            uint64_t held = ring.end - ring.head;
            if (held > 300 || aq_rng_below(&rng, 3) == 0) {
                leave(&ring, ring.head + (aq_rng_below(&rng, 2) == 0
                                              ? 0
                                              : aq_rng_below(&rng, ring.end - ring.head)));
            }
            if (i % 250 == 0) {
                assert_all_found(&ring);
            }
        }
        assert_all_found(&ring);
        aq_chunk_ring_fini(&ring);
    }
}

TEST_IN(aq_chunk_ring, ring, ordinals_beyond_32_bits_are_found)
{
    ring->head = ring->end = (UINT64_C(1) << 32) - 50; /* as if so many had come and left */
    *aq_chunk_ring_slot(ring, ring->end) = (aq_chunk_slot){.first_item = (UINT64_C(1) << 37) + 3};
    *aq_item_column_u32(&ring->blocks, (UINT64_C(1) << 37) / AQ_CHUNK_RING_BLOCK_ITEMS) =
        (uint32_t)(ring->end - 1); /* the last that left had the three numbers before */
    for (int i = 0; i < 1000; i++) {
        append(ring, 1 + (uint32_t)i % 40);
    }
    assert_all_found(ring);
}

TEST(room_that_cannot_be_had_changes_nothing)
{
    aq_chunk_ring ring;
    for (uint64_t nth = 1; nth <= 2; nth++) {
        aq_memory_fail_at(nth, 0);
        assert_int_equal(aq_chunk_ring_init(&ring), AQ_E_NOMEM);
        aq_memory_fail_at(0, 0);
    }
    assert_int_equal(aq_chunk_ring_init(&ring), 0);
    append(&ring, 100);
    for (uint64_t nth = 1; nth <= 2; nth++) {
        aq_memory_fail_at(nth, 0);
        assert_int_equal(aq_chunk_ring_reserve(&ring, 1000 * nth, 100000), AQ_E_NOMEM);
        aq_memory_fail_at(0, 0);
        assert_all_found(&ring);
    }
    aq_chunk_ring_fini(&ring);
}
