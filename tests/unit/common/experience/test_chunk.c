/*
 * Chunks: one block of aligned columns, references, and items.
 */
#include <pthread.h>

#include "common/experience/chunk.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"

static aq_layout layout_of(uint32_t n_step, uint32_t length_max)
{
    return chunk_layout(3, 2, n_step, length_max);
}

static aq_chunk *chunk_of(const aq_layout *layout, uint32_t length)
{
    aq_chunk *chunk = NULL;
    assert_int_equal(aq_chunk_create(layout, length, &chunk), 0);
    assert_int_equal(chunk->view.length, 0);
    chunk->view.length = length;
    for (uint32_t i = 0; i < length; i++) {
        reward_of(chunk)[i] = (float)(i + 1);
    }
    return chunk;
}

TEST(columns_are_aligned_apart_and_zeroed)
{
    aq_layout layout = layout_of(2, 100);
    for (uint32_t room = 1; room <= 100; room++) {
        aq_chunk *chunk = NULL;
        assert_int_equal(aq_chunk_create(&layout, room, &chunk), 0);
        const uint8_t *block = (const uint8_t *)chunk;
        const uint8_t *end = block + sizeof(*chunk);
        for (uint32_t i = 0; i < layout.column_count; i++) {
            const uint8_t *column = aq_chunk_column(chunk, i);
            assert_int_equal((uintptr_t)column % AQ_ALIGNMENT_BYTES, 0);
            assert_true(column >= end);
            end = column + aq_column_bytes(&layout.columns[i], room);
            for (; column < end; column++) {
                assert_int_equal(*column, 0);
            }
        }
        assert_int_equal(end - block, chunk->bytes);
        aq_chunk_unref(chunk);
    }
}

TEST(room_is_bounded_by_the_layout)
{
    aq_layout layout = layout_of(2, 10);
    aq_chunk *chunk = NULL;
    assert_int_equal(aq_chunk_create(&layout, 0, &chunk), AQ_E_INVALID);
    assert_int_equal(aq_chunk_create(&layout, 11, &chunk), AQ_E_TOO_BIG);
    assert_int_equal(aq_chunk_create(&layout, UINT32_MAX, &chunk), AQ_E_TOO_BIG);
    assert_null(chunk);
}

TEST(a_chunk_is_one_allocation_and_may_fail)
{
    aq_layout layout = layout_of(2, 10);
    aq_chunk *chunk = NULL;
    uint64_t before = aq_memory_allocation_count();
    assert_fails_without_memory(aq_chunk_create(&layout, 10, &chunk));
    assert_null(chunk);
    assert_int_equal(aq_chunk_create(&layout, 10, &chunk), 0);
    assert_true(aq_memory_allocation_count() == before + 2);
    aq_chunk_unref(chunk);
    aq_chunk_unref(NULL);
}

enum { THREADS = 4, ROUNDS = 2000 };

static void *hold_and_release(void *argument)
{
    aq_chunk *chunk = argument;
    float sum = 0.0f;
    for (int i = 0; i < ROUNDS; i++) {
        aq_chunk_ref(chunk);
        sum += reward_of(chunk)[0];
        aq_chunk_unref(chunk);
    }
    assert_true(sum == (float)ROUNDS);
    aq_chunk_unref(chunk);
    return NULL;
}

/* The last of them frees it, whoever that is: a leak checker and a race detector judge. */
TEST(references_are_counted_between_threads)
{
    aq_layout layout = layout_of(2, 10);
    aq_chunk *chunk = chunk_of(&layout, 5);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        aq_chunk *held = aq_chunk_ref(chunk);
        assert_int_equal(pthread_create(&threads[i], NULL, hold_and_release, held), 0);
    }
    aq_chunk_unref(chunk);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

TEST(items_of_an_episode_that_goes_on_need_n_steps)
{
    aq_layout layout = layout_of(3, 10);
    aq_chunk *chunk = chunk_of(&layout, 10);
    const uint32_t items[] = {0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (uint32_t length = 0; length <= 10; length++) {
        chunk->view.length = length;
        assert_int_equal(aq_chunk_view_items(&chunk->view, &layout), items[length]);
    }
    aq_chunk_unref(chunk);
}

TEST(items_of_an_ended_episode_are_all_rows)
{
    aq_layout layout = layout_of(3, 10);
    aq_chunk *chunk = chunk_of(&layout, 2);
    chunk->view.truncated = 1;
    assert_int_equal(aq_chunk_view_items(&chunk->view, &layout), 2);
    chunk->view.truncated = 0;
    chunk->view.terminated = 1;
    assert_int_equal(aq_chunk_view_items(&chunk->view, &layout), 2);
    aq_chunk_unref(chunk);
}

TEST(fresh_transitions_are_those_not_repeated)
{
    aq_layout layout = layout_of(3, 10);
    aq_chunk *chunk = chunk_of(&layout, 10);
    assert_int_equal(aq_chunk_view_fresh(&chunk->view), 10);
    chunk->view.overlap = 2;
    assert_int_equal(aq_chunk_view_fresh(&chunk->view), 8);
    aq_chunk_unref(chunk);
}
