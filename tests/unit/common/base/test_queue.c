/*
 * The queue alone, and between threads: order, limits, timeouts, closing, and no item lost.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "common/base/queue.h"
#include "tests/support/test.h"

TEST_ENDING(destroy, aq_queue_destroy);

static aq_queue *queue_of(size_t capacity)
{
    aq_queue *queue = NULL;
    assert_int_equal(aq_queue_create(capacity, &queue), 0);
    at_end(destroy, queue);
    return queue;
}

TEST(items_leave_in_the_order_they_came)
{
    int numbers[3] = {0, 1, 2};
    aq_queue *queue = queue_of(3);
    void *item = NULL;
    for (int round = 0; round < 10; round++) { /* past the end of the ring and round again */
        for (int i = 0; i < 2; i++) {
            assert_int_equal(aq_queue_push(queue, &numbers[i]), 0);
        }
        for (int i = 0; i < 2; i++) {
            assert_int_equal(aq_queue_pop(queue, 0, &item), 0);
            assert_ptr_equal(item, &numbers[i]);
        }
    }
}

TEST(push_to_a_full_queue_is_refused)
{
    int item = 0;
    aq_queue *queue = queue_of(2);
    assert_int_equal(aq_queue_push(queue, &item), 0);
    assert_int_equal(aq_queue_push(queue, &item), 0);
    assert_int_equal(aq_queue_push(queue, &item), AQ_E_FULL);
    assert_int_equal(aq_queue_count(queue), 2);
}

TEST(pop_of_an_empty_queue_does_not_wait_at_zero)
{
    int untouched = 0;
    void *item = &untouched;
    aq_queue *queue = queue_of(1);
    assert_int_equal(aq_queue_pop(queue, 0, &item), AQ_E_TIMEOUT);
    assert_ptr_equal(item, &untouched);
}

TEST(pop_of_an_empty_queue_waits_its_time)
{
    aq_queue *queue = queue_of(1);
    int64_t start_ns = aq_clock_monotonic_ns();
    void *item = NULL;
    assert_int_equal(aq_queue_pop(queue, 20, &item), AQ_E_TIMEOUT);
    assert_true(aq_clock_monotonic_ns() - start_ns >= 20 * AQ_NS_PER_MS);
}

TEST(a_closed_queue_refuses_pushes_and_drains)
{
    int first = 0;
    void *item = NULL;
    aq_queue *queue = queue_of(2);
    assert_int_equal(aq_queue_push(queue, &first), 0);
    aq_queue_close(queue);
    aq_queue_close(queue); /* twice is fine */
    assert_int_equal(aq_queue_push(queue, &first), AQ_E_CLOSED);
    assert_int_equal(aq_queue_pop(queue, -1, &item), 0);
    assert_ptr_equal(item, &first);
    assert_int_equal(aq_queue_pop(queue, -1, &item), AQ_E_CLOSED);
}

TEST(create_survives_every_failed_allocation_and_destroy_takes_null)
{
    aq_queue *queue = NULL;
    aq_queue_destroy(NULL);
    assert_made_despite_failures(queue, aq_queue_create(4, &queue));
    aq_queue_destroy(queue);
}

TEST(a_capacity_nobody_has_is_refused)
{
    aq_queue *queue = NULL;
    assert_int_equal(aq_queue_create(SIZE_MAX, &queue), AQ_E_NOMEM);
    assert_null(queue);
}

static void *pop_without_limit(void *argument)
{
    aq_queue *queue = argument;
    void *item = NULL;
    int rc = aq_queue_pop(queue, -1, &item);
    return rc == AQ_E_CLOSED ? queue : NULL;
}

TEST(closing_wakes_everybody)
{
    aq_queue *queue = queue_of(1);
    pthread_t threads[3];
    void *result = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, pop_without_limit, queue), 0);
    }
    aq_queue_close(queue);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, queue);
    }
}

#define PRODUCERS          3
#define CONSUMERS          3
#define ITEMS_PER_PRODUCER 2000

typedef struct traffic {
    aq_queue *queue;
    aq_queue *go; /* consumers hand a token back for each item, so that producers never poll */
    atomic_uint_fast64_t sum;
    atomic_size_t received;
    size_t numbers[PRODUCERS][ITEMS_PER_PRODUCER];
    atomic_int next_producer;
} traffic;

static void *produce(void *argument)
{
    traffic *all = argument;
    size_t *numbers = all->numbers[atomic_fetch_add(&all->next_producer, 1)];
    for (size_t i = 0; i < ITEMS_PER_PRODUCER; i++) {
        void *token = NULL;
        if (aq_queue_pop(all->go, -1, &token) != 0 || aq_queue_push(all->queue, &numbers[i]) != 0) {
            return argument;
        }
    }
    return NULL;
}

static void *consume(void *argument)
{
    traffic *all = argument;
    void *item = NULL;
    while (aq_queue_pop(all->queue, -1, &item) == 0) {
        atomic_fetch_add(&all->sum, *(size_t *)item);
        atomic_fetch_add(&all->received, 1);
        if (aq_queue_push(all->go, all) != 0) {
            return argument;
        }
    }
    return NULL;
}

TEST(no_item_is_lost_or_doubled_between_threads)
{
    const size_t total = (size_t)PRODUCERS * ITEMS_PER_PRODUCER;
    static traffic all;
    pthread_t producers[PRODUCERS];
    pthread_t consumers[CONSUMERS];
    void *result = NULL;
    all.queue = queue_of(8);
    all.go = queue_of(8);
    for (size_t i = 0; i < total; i++) {
        all.numbers[i / ITEMS_PER_PRODUCER][i % ITEMS_PER_PRODUCER] = i + 1;
    }
    for (int i = 0; i < 8; i++) {
        assert_int_equal(aq_queue_push(all.go, &all), 0);
    }
    for (int i = 0; i < PRODUCERS; i++) {
        assert_int_equal(pthread_create(&producers[i], NULL, produce, &all), 0);
    }
    for (int i = 0; i < CONSUMERS; i++) {
        assert_int_equal(pthread_create(&consumers[i], NULL, consume, &all), 0);
    }
    for (int i = 0; i < PRODUCERS; i++) {
        assert_int_equal(pthread_join(producers[i], &result), 0);
        assert_null(result);
    }
    aq_queue_close(all.queue);
    for (int i = 0; i < CONSUMERS; i++) {
        assert_int_equal(pthread_join(consumers[i], &result), 0);
        assert_null(result);
    }
    assert_int_equal(atomic_load(&all.received), total);
    assert_int_equal(atomic_load(&all.sum), total * (total + 1) / 2);
}
