/*
 * A lease's memory goes back once, by the last who lets go, whichever thread that is.
 */
#include <pthread.h>

#include "common/base/lease.h"
#include "tests/support/test.h"

typedef struct counted_lease {
    aq_lease lease;
    uint8_t bytes[8];
    int freed;
} counted_lease;

static void count_free(aq_lease *lease)
{
    ((counted_lease *)(void *)lease)->freed++;
}

TEST(the_last_reference_frees)
{
    counted_lease counted = {.freed = 0};
    aq_lease_init(&counted.lease, counted.bytes, sizeof(counted.bytes), count_free);
    assert_ptr_equal(aq_lease_ref(&counted.lease), &counted.lease);
    aq_lease_unref(&counted.lease);
    assert_int_equal(counted.freed, 0);
    aq_lease_unref(&counted.lease);
    assert_int_equal(counted.freed, 1);
    aq_lease_unref(NULL);
}

TEST(a_heap_lease_is_written_before_it_is_shown)
{
    uint8_t *bytes;
    aq_lease *lease;
    for (size_t size = 0; size < 300; size += 37) {
        assert_int_equal(aq_lease_create(size, &bytes, &lease), 0);
        memset(bytes, 0x5a, size);
        assert_int_equal(lease->size, size);
        assert_ptr_equal(lease->bytes, bytes);
        assert_int_equal((uintptr_t)bytes % AQ_ALIGNMENT_BYTES, 0);
        aq_lease_unref(lease);
    }
}

TEST(a_copy_outlives_what_it_is_of)
{
    uint8_t bytes[] = {1, 2, 3};
    aq_lease *lease;
    assert_int_equal(aq_lease_copy(bytes, sizeof(bytes), &lease), 0);
    memset(bytes, 0, sizeof(bytes));
    assert_int_equal(lease->size, 3);
    assert_memory_equal(lease->bytes, ((const uint8_t[]){1, 2, 3}), 3);
    aq_lease_unref(lease);
    assert_int_equal(aq_lease_copy(NULL, 0, &lease), 0);
    assert_int_equal(lease->size, 0);
    aq_lease_unref(lease);
}

TEST(a_lease_without_memory_is_none)
{
    uint8_t *bytes = NULL;
    aq_lease *lease = NULL;
    assert_fails_without_memory(aq_lease_create(10, &bytes, &lease));
    assert_fails_without_memory(aq_lease_copy((const uint8_t *)"ten bytes", 10, &lease));
    assert_int_equal(aq_lease_create(SIZE_MAX, &bytes, &lease), AQ_E_NOMEM);
    assert_null(bytes);
    assert_null(lease);
}

enum { THREADS = 4, ROUNDS = 20000 };

static void *take_and_drop(void *user)
{
    for (int i = 0; i < ROUNDS; i++) {
        aq_lease_unref(aq_lease_ref(user));
    }
    aq_lease_unref(user);
    return NULL;
}

TEST(threads_may_share_a_lease)
{
    counted_lease counted = {.freed = 0};
    pthread_t threads[THREADS];
    aq_lease_init(&counted.lease, counted.bytes, sizeof(counted.bytes), count_free);
    for (int i = 0; i < THREADS; i++) {
        aq_lease_ref(&counted.lease);
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_drop, &counted.lease), 0);
    }
    aq_lease_unref(&counted.lease);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(counted.freed, 1);
}
