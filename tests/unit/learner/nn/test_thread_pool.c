/*
 * A thread pool: every part is done once, and is over when run returns.
 */
#include "learner/nn/thread_pool.h"
#include "tests/support/test.h"

typedef struct count_work {
    uint64_t done[AQ_THREAD_POOL_MAX];
} count_work;

static void count(void *user, uint32_t index)
{
    count_work *work = user;
    work->done[index]++;
}

TEST(every_part_is_done_once_a_run)
{
    for (uint32_t threads = 1; threads <= 4; threads++) {
        count_work work = {{0}};
        aq_thread_pool *pool;
        assert_int_equal(aq_thread_pool_create(threads, &pool), 0);
        assert_int_equal(aq_thread_pool_size(pool), threads);
        for (uint64_t run = 1; run <= 2000; run++) {
            aq_thread_pool_run(pool, count, &work);
            for (uint32_t i = 0; i < AQ_THREAD_POOL_MAX; i++) {
                assert_int_equal(work.done[i], i < threads ? run : 0);
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
        aq_thread_pool_run(pool, count, &work);
        assert_int_equal(work.done[0] + work.done[1] + work.done[2], 3 * run);
    }
    aq_thread_pool_destroy(pool);
}

static void wait_then_count(void *user, uint32_t index)
{
    aq_clock_wait_until(aq_clock_monotonic_ns() + (int64_t)index * 3 * AQ_NS_PER_MS);
    count(user, index);
}

TEST(run_waits_for_the_slowest)
{
    count_work work = {{0}};
    aq_thread_pool *pool;
    assert_int_equal(aq_thread_pool_create(3, &pool), 0);
    aq_thread_pool_run(pool, wait_then_count, &work);
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
