/*
 * Thread pool: a number that grows with each piece of work, and a count of parts that are not done.
 *
 * Whoever waits looks at the number for SPINS rounds and then sleeps on a condition; the lock is
 * taken where the number changes, so that nobody falls asleep on a change that has happened.
 */
#include "learner/nn/thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

/* Some tens of microseconds: the longest pause within a step. */
enum { SPINS = 2000 };

typedef struct pool_member {
    aq_thread_pool *pool;
    uint32_t index;
    pthread_t thread;
} pool_member;

struct aq_thread_pool {
    uint32_t size;
    uint32_t started; /* threads besides the caller */
    aq_thread_pool_fn fn;
    void *user;
    atomic_uint_fast64_t piece;
    atomic_uint parts_left;
    bool is_over; /* under the lock */
    pthread_mutex_t lock;
    pthread_cond_t has_piece, is_done;
    pool_member members[AQ_THREAD_POOL_MAX];
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The number after `last`; false when there is no more work. */
static bool next_piece(aq_thread_pool *pool, uint64_t last, uint64_t *ret_piece)
{
    for (int i = 0; i < SPINS; i++) {
        uint64_t piece = atomic_load_explicit(&pool->piece, memory_order_acquire);
        if (piece != last) {
            *ret_piece = piece;
            return true;
        }
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->piece) == last && !pool->is_over) {
        pthread_cond_wait(&pool->has_piece, &pool->lock);
    }
    *ret_piece = atomic_load(&pool->piece);
    pthread_mutex_unlock(&pool->lock);
    return *ret_piece != last;
}

static void *member_main(void *user)
{
    pool_member *member = user;
    aq_thread_pool *pool = member->pool;
    uint64_t piece = 0;
    while (next_piece(pool, piece, &piece)) {
        pool->fn(pool->user, member->index);
        if (atomic_fetch_sub_explicit(&pool->parts_left, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->is_done);
            pthread_mutex_unlock(&pool->lock);
        }
    }
    return NULL;
}

int aq_thread_pool_create(uint32_t threads, aq_thread_pool **ret_pool)
{
    AQ_ASSERT(threads >= 1 && threads <= AQ_THREAD_POOL_MAX);
    aq_thread_pool *pool = aq_alloc(1, sizeof(*pool));
    if (pool == NULL) {
        return AQ_E_NOMEM;
    }
    pool->size = threads;
    atomic_init(&pool->piece, 0);
    atomic_init(&pool->parts_left, 0);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->has_piece, NULL);
    pthread_cond_init(&pool->is_done, NULL);
    for (uint32_t i = 1; i < threads; i++) {
        pool_member *member = &pool->members[i];
        *member = (pool_member){.pool = pool, .index = i};
        int problem = pthread_create(&member->thread, NULL, member_main, member);
        if (problem != 0) {
            aq_thread_pool_destroy(pool);
            return aq_error_from_errno(problem);
        }
        pool->started++;
    }
    *ret_pool = pool;
    return 0;
}

void aq_thread_pool_destroy(aq_thread_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->is_over = true;
    pthread_cond_broadcast(&pool->has_piece);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 1; i <= pool->started; i++) {
        pthread_join(pool->members[i].thread, NULL);
    }
    pthread_cond_destroy(&pool->is_done);
    pthread_cond_destroy(&pool->has_piece);
    pthread_mutex_destroy(&pool->lock);
    aq_free(pool);
}

uint32_t aq_thread_pool_size(const aq_thread_pool *pool)
{
    return pool->size;
}

static void wait_for_parts(aq_thread_pool *pool)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&pool->parts_left, memory_order_acquire) == 0) {
            return;
        }
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->parts_left) != 0) {
        pthread_cond_wait(&pool->is_done, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

void aq_thread_pool_run(aq_thread_pool *pool, aq_thread_pool_fn fn, void *user)
{
    if (pool->started > 0) {
        pool->fn = fn;
        pool->user = user;
        atomic_store(&pool->parts_left, pool->started);
        pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&pool->piece, 1);
        pthread_cond_broadcast(&pool->has_piece);
        pthread_mutex_unlock(&pool->lock);
    }
    fn(user, 0);
    if (pool->started > 0) {
        wait_for_parts(pool);
    }
}
