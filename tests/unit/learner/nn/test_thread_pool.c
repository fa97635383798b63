/*
 * A thread pool: every part is done once, and is over when run returns.
 */
#include "learner/nn/thread_pool.h"

#include <stdatomic.h>

#include "tests/support/test.h"

enum { PARTS_MAX = 100 };

typedef struct count_work {
    uint64_t done[PARTS_MAX];
} count_work;

static void count(void *user, uint32_t part)
{
    count_work *work = user;
    work->done[part]++;
}

TEST(every_part_is_done_once_a_run)
{
    static const uint32_t parts[] = {0, 1, 2, 3, 4, PARTS_MAX};
    for (uint32_t threads = 1; threads <= 4; threads++) {
        aq_thread_pool *pool;
        assert_int_equal(aq_thread_pool_create(threads, &pool), 0);
        assert_int_equal(aq_thread_pool_size(pool), threads);
        for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
            count_work work = {{0}};
            for (uint64_t run = 1; run <= 2000; run++) {
                aq_thread_pool_run(pool, parts[p], count, &work);
                for (uint32_t i = 0; i < PARTS_MAX; i++) {
                    assert_int_equal(work.done[i], i < parts[p] ? run : 0);
                }
            }
        }
        aq_thread_pool_destroy(pool);
    }
}

/* Long enough for everybody to fall asleep in between. */
TEST(members_that_sleep_are_woken)
{
    count_work work = {{0}};
    aq_thread_pool *pool;
    assert_int_equal(aq_thread_pool_create(3, &pool), 0);
    for (uint64_t run = 1; run <= 5; run++) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + 5 * AQ_NS_PER_MS);
        aq_thread_pool_run(pool, 3, count, &work);
        assert_int_equal(work.done[0] + work.done[1] + work.done[2], 3 * run);
    }
    aq_thread_pool_destroy(pool);
}

typedef struct meeting {
    atomic_uint here;
} meeting;

/* Over when both parts have begun: one thread alone would wait for ever. */
static void meet(void *user, uint32_t part)
{
    meeting *of = user;
    (void)part;
    atomic_fetch_add(&of->here, 1);
    while (atomic_load(&of->here) < 2) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + AQ_NS_PER_MS);
    }
}

TEST(parts_are_done_side_by_side)
{
    meeting of = {0};
    aq_thread_pool *pool;
    assert_int_equal(aq_thread_pool_create(2, &pool), 0);
    aq_thread_pool_run(pool, 2, meet, &of);
    assert_int_equal(of.here, 2);
    aq_thread_pool_destroy(pool);
}

static void wait_then_count(void *user, uint32_t part)
{
    aq_clock_wait_until(aq_clock_monotonic_ns() + (int64_t)part * 3 * AQ_NS_PER_MS);
    count(user, part);
}

TEST(run_waits_for_the_slowest)
{
    count_work work = {{0}};
    aq_thread_pool *pool;
    assert_int_equal(aq_thread_pool_create(3, &pool), 0);
    aq_thread_pool_run(pool, 3, wait_then_count, &work);
    assert_int_equal(work.done[2], 1);
    aq_thread_pool_destroy(pool);
}

TEST(a_pool_without_memory_is_not_made)
{
    aq_thread_pool *pool = NULL;
    assert_fails_without_memory(aq_thread_pool_create(2, &pool));
    assert_null(pool);
    aq_thread_pool_destroy(NULL);
}
