/*
 * Blocks are aligned, zeroed and at least one byte; a test can fail any one of them.
 */
#include <pthread.h>

#include "tests/support/test.h"

static int turn_failing_off(void **state)
{
    (void)state;
    aq_memory_fail_at(0, 0);
    return 0;
}

TEST(sizes_are_rounded_up_to_whole_units)
{
    assert_int_equal(aq_round_up(0, 12), 0);
    assert_int_equal(aq_round_up(1, 12), 12);
    assert_int_equal(aq_round_up(12, 12), 12);
    assert_int_equal(aq_round_up(13, 12), 24);
}

TEST(blocks_are_aligned_and_zeroed)
{
    for (size_t size = 1; size < 300; size += 7) {
        uint8_t *block = aq_alloc(size, 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % AQ_ALIGNMENT_BYTES, 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(block[i], 0);
        }
        memset(block, 0xa5, size); /* dirt for the next block of this size */
        aq_free(block);
    }
}

TEST(a_block_without_zeros_is_aligned_and_refused_like_any_other)
{
    uint8_t *block = aq_alloc_unset(3, 1000);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % AQ_ALIGNMENT_BYTES, 0);
    memset(block, 1, 3000);
    aq_free(block);
    assert_null(aq_alloc_unset(SIZE_MAX, 2));
    aq_memory_fail_at(1, 0);
    assert_null(aq_alloc_unset(1, 1));
    aq_memory_fail_at(0, 0);
}

TEST(nothing_is_a_block_too_and_null_can_be_freed)
{
    void *none_of_some = aq_alloc(0, 8);
    void *some_of_none = aq_alloc(8, 0);
    assert_non_null(none_of_some);
    assert_non_null(some_of_none);
    assert_ptr_not_equal(none_of_some, some_of_none);
    aq_free(none_of_some);
    aq_free(some_of_none);
    aq_free(NULL);
}

TEST(more_than_an_object_can_be_is_refused)
{
    assert_null(aq_alloc(SIZE_MAX, 2));
    assert_null(aq_alloc(SIZE_MAX / 2 + 1, 2));
    assert_null(aq_alloc((size_t)1 << 32, (size_t)1 << 32));
    assert_null(aq_alloc(SIZE_MAX, 1));
    assert_null(aq_alloc((size_t)PTRDIFF_MAX + 1, 1));
}

TEST(a_copied_text_is_equal_and_its_own)
{
    char text[] = "cartpole";
    char *copy = aq_text_copy(text);
    assert_non_null(copy);
    text[0] = 'C';
    assert_string_equal(copy, "cartpole");
    aq_free(copy);
}

TEST(trimming_leaves_blocks_in_use_as_they_are)
{
    enum { BLOCKS = 64, BLOCK_BYTES = 100000 };
    uint8_t *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = aq_alloc(BLOCK_BYTES, 1);
        assert_non_null(blocks[i]);
        memset(blocks[i], i, BLOCK_BYTES);
    }
    for (int i = 0; i < BLOCKS; i += 2) {
        aq_free(blocks[i]);
    }
    aq_memory_trim();
    for (int i = 1; i < BLOCKS; i += 2) {
        for (size_t byte = 0; byte < BLOCK_BYTES; byte++) {
            assert_int_equal(blocks[i][byte], i);
        }
        aq_free(blocks[i]);
    }
}

TEST_WITH(only_the_nth_allocation_fails, NULL, turn_failing_off)
{
    aq_memory_fail_at(2, 0);
    void *first = aq_alloc(1, 1);
    assert_null(aq_alloc(1, 1));
    void *third = aq_alloc(1, 1);
    assert_non_null(first);
    assert_non_null(third);
    aq_free(first);
    aq_free(third);
}

TEST_WITH(forever_fails_all_that_follow, NULL, turn_failing_off)
{
    aq_memory_fail_at(2, 1);
    void *first = aq_alloc(1, 1);
    assert_non_null(first);
    for (int i = 0; i < 5; i++) {
        assert_null(aq_alloc(1, 1));
        assert_null(aq_text_copy("x"));
    }
    aq_memory_fail_at(0, 0);
    aq_free(first);
    first = aq_alloc(1, 1);
    assert_non_null(first);
    aq_free(first);
}

TEST_WITH(refused_allocations_are_counted, NULL, turn_failing_off)
{
    uint64_t before = aq_memory_allocation_count();
    assert_null(aq_alloc(SIZE_MAX, 2));
    aq_memory_fail_at(1, 0);
    assert_null(aq_alloc(1, 1));
    assert_int_equal(aq_memory_allocation_count() - before, 2);
}

#define THREADS           4
#define BLOCKS_PER_THREAD 500

static void *allocate_many(void *argument)
{
    size_t *failures = argument;
    for (int i = 0; i < BLOCKS_PER_THREAD; i++) {
        void *block = aq_alloc(1, 16);
        *failures += block == NULL;
        aq_free(block);
    }
    return NULL;
}

TEST_WITH(exactly_one_of_many_threads_sees_the_failure, NULL, turn_failing_off)
{
    pthread_t threads[THREADS];
    size_t failures[THREADS] = {0};
    size_t total = 0;
    aq_memory_fail_at(THREADS * BLOCKS_PER_THREAD / 2, 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_many, &failures[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        total += failures[i];
    }
    assert_int_equal(total, 1);
}
