/*
 * A crew: every part is done once, and is over when run returns.
 */

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "learner/nn/crew.h"
#include "tests/support/test.h"

typedef struct count_work {
    uint64_t done[AQ_CREW_MAX];
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
        aq_crew *crew;
        assert_int_equal(aq_crew_create(threads, &crew), 0);
        assert_int_equal(aq_crew_size(crew), threads);
        for (uint64_t run = 1; run <= 2000; run++) {
            aq_crew_run(crew, count, &work);
            for (uint32_t i = 0; i < AQ_CREW_MAX; i++) {
                assert_int_equal(work.done[i], i < threads ? run : 0);
            }
        }
        aq_crew_destroy(crew);
    }
}

/* Long enough for everybody to fall asleep in between. */
TEST(members_that_sleep_are_woken)
{
    count_work work = {{0}};
    aq_crew *crew;
    assert_int_equal(aq_crew_create(3, &crew), 0);
    for (uint64_t run = 1; run <= 5; run++) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + 5 * AQ_NS_PER_MS);
        aq_crew_run(crew, count, &work);
        assert_int_equal(work.done[0] + work.done[1] + work.done[2], 3 * run);
    }
    aq_crew_destroy(crew);
}

static void wait_then_count(void *user, uint32_t index)
{
    aq_clock_wait_until(aq_clock_monotonic_ns() + (int64_t)index * 3 * AQ_NS_PER_MS);
    count(user, index);
}

TEST(run_waits_for_the_slowest)
{
    count_work work = {{0}};
    aq_crew *crew;
    assert_int_equal(aq_crew_create(3, &crew), 0);
    aq_crew_run(crew, wait_then_count, &work);
    assert_int_equal(work.done[2], 1);
    aq_crew_destroy(crew);
}

TEST(a_crew_without_memory_is_not_made)
{
    aq_crew *crew = NULL;
    assert_fails_without_memory(aq_crew_create(2, &crew));
    assert_null(crew);
    aq_crew_destroy(NULL);
}
