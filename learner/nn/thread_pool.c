/*
 * Thread pool: a ticket, which is the number of the piece of work and how many of its parts nobody
 * has taken, and a count of parts that are not done. A part is taken by one exchange of the ticket,
 * so that who comes late, and has an older piece in mind, takes none.
 *
 * Whoever waits looks at the numbers for SPINS rounds and then sleeps on a condition; the lock is
 * taken where they change, so that nobody falls asleep on a change that has happened.
 */
#include "learner/nn/thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"

/* Some tens of microseconds: the longest pause within a step. */
enum { SPINS = 2000 };

/* Of a ticket; the piece is above them. */
enum { PART_BITS = 24 };

_Static_assert(AQ_THREAD_POOL_PARTS_MAX == (1 << PART_BITS) - 1, "parts that a ticket can count");

struct aq_thread_pool {
    uint32_t size;
    uint32_t started; /* threads besides the caller */
    aq_thread_pool_fn fn;
    void *user;
    atomic_uint_fast64_t ticket;
    atomic_uint parts_left; /* that are not done */
    bool is_over;           /* under the lock */
    pthread_mutex_t lock;
    pthread_cond_t has_piece, is_done;
    pthread_t threads[AQ_THREAD_POOL_MAX];
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint64_t piece_now(aq_thread_pool *pool)
{
    return atomic_load_explicit(&pool->ticket, memory_order_acquire) >> PART_BITS;
}

/* The number after `last`; false when there is no more work. */
static bool next_piece(aq_thread_pool *pool, uint64_t last, uint64_t *ret_piece)
{
    for (int i = 0; i < SPINS; i++) {
        *ret_piece = piece_now(pool);
        if (*ret_piece != last) {
            return true;
        }
        relax();
    }
    aq_mutex_lock(&pool->lock);
    while (piece_now(pool) == last && !pool->is_over) {
        pthread_cond_wait(&pool->has_piece, &pool->lock);
    }
    *ret_piece = piece_now(pool);
    aq_mutex_unlock(&pool->lock);
    return *ret_piece != last;
}

/* False when the piece has no part that nobody has taken, or is over. */
static bool take_part(aq_thread_pool *pool, uint64_t piece, uint32_t *ret_part)
{
    uint64_t ticket = atomic_load_explicit(&pool->ticket, memory_order_acquire);
    while (ticket >> PART_BITS == piece && (ticket & AQ_THREAD_POOL_PARTS_MAX) != 0) {
        if (atomic_compare_exchange_weak_explicit(&pool->ticket, &ticket, ticket - 1,
                                                  memory_order_acq_rel, memory_order_acquire)) {
            *ret_part = (uint32_t)(ticket & AQ_THREAD_POOL_PARTS_MAX) - 1;
            return true;
        }
    }
    return false;
}

/* Takes parts as long as there are some. Whether the last one to be done was among them. */
static bool take_parts(aq_thread_pool *pool, uint64_t piece)
{
    uint32_t part;
    bool was_last = false;
    while (take_part(pool, piece, &part)) {
        pool->fn(pool->user, part);
        was_last = atomic_fetch_sub_explicit(&pool->parts_left, 1, memory_order_acq_rel) == 1;
    }
    return was_last;
}

static void *member_main(void *user)
{
    aq_thread_pool *pool = user;
    uint64_t piece = 0;
    while (next_piece(pool, piece, &piece)) {
        if (take_parts(pool, piece)) {
            aq_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->is_done);
            aq_mutex_unlock(&pool->lock);
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
    atomic_init(&pool->ticket, 0);
    atomic_init(&pool->parts_left, 0);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->has_piece, NULL);
    pthread_cond_init(&pool->is_done, NULL);
    for (uint32_t i = 1; i < threads; i++) {
        int problem = pthread_create(&pool->threads[i], NULL, member_main, pool);
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
    aq_mutex_lock(&pool->lock);
    pool->is_over = true;
    pthread_cond_broadcast(&pool->has_piece);
    aq_mutex_unlock(&pool->lock);
    for (uint32_t i = 1; i <= pool->started; i++) {
        pthread_join(pool->threads[i], NULL);
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
    aq_mutex_lock(&pool->lock);
    while (atomic_load(&pool->parts_left) != 0) {
        pthread_cond_wait(&pool->is_done, &pool->lock);
    }
    aq_mutex_unlock(&pool->lock);
}

void aq_thread_pool_run(aq_thread_pool *pool, uint32_t parts, aq_thread_pool_fn fn, void *user)
{
    AQ_ASSERT(parts <= AQ_THREAD_POOL_PARTS_MAX);
    if (pool == NULL || pool->started == 0 || parts <= 1) {
        for (uint32_t part = 0; part < parts; part++) {
            fn(user, part);
        }
        return;
    }
    const uint64_t piece = piece_now(pool) + 1;
    pool->fn = fn;
    pool->user = user;
    atomic_store(&pool->parts_left, parts);
    aq_mutex_lock(&pool->lock);
    atomic_store(&pool->ticket, piece << PART_BITS | parts);
    pthread_cond_broadcast(&pool->has_piece);
    aq_mutex_unlock(&pool->lock);
    if (!take_parts(pool, piece)) {
        wait_for_parts(pool);
    }
}
