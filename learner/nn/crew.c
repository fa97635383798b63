/*
 * Crew: a number that grows with each piece of work, and a count of parts that are not done.
 *
 * Whoever waits looks at the number for SPINS rounds and then sleeps on a condition; the lock is
 * taken where the number changes, so that nobody falls asleep on a change that has happened.
 */
#include "learner/nn/crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

/* Some tens of microseconds: the longest pause within a step. */
enum { SPINS = 2000 };

typedef struct crew_member {
    aq_crew *crew;
    uint32_t index;
    pthread_t thread;
} crew_member;

struct aq_crew {
    uint32_t size;
    uint32_t started; /* threads besides the caller */
    aq_crew_fn fn;
    void *user;
    atomic_uint_fast64_t piece;
    atomic_uint parts_left;
    bool is_over; /* under the lock */
    pthread_mutex_t lock;
    pthread_cond_t has_piece, is_done;
    crew_member members[AQ_CREW_MAX];
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
static bool next_piece(aq_crew *crew, uint64_t last, uint64_t *ret_piece)
{
    for (int i = 0; i < SPINS; i++) {
        uint64_t piece = atomic_load_explicit(&crew->piece, memory_order_acquire);
        if (piece != last) {
            *ret_piece = piece;
            return true;
        }
        relax();
    }
    pthread_mutex_lock(&crew->lock);
    while (atomic_load(&crew->piece) == last && !crew->is_over) {
        pthread_cond_wait(&crew->has_piece, &crew->lock);
    }
    *ret_piece = atomic_load(&crew->piece);
    pthread_mutex_unlock(&crew->lock);
    return *ret_piece != last;
}

static void *member_main(void *user)
{
    crew_member *member = user;
    aq_crew *crew = member->crew;
    uint64_t piece = 0;
    while (next_piece(crew, piece, &piece)) {
        crew->fn(crew->user, member->index);
        if (atomic_fetch_sub_explicit(&crew->parts_left, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&crew->lock);
            pthread_cond_signal(&crew->is_done);
            pthread_mutex_unlock(&crew->lock);
        }
    }
    return NULL;
}

int aq_crew_create(uint32_t threads, aq_crew **ret_crew)
{
    AQ_ASSERT(threads >= 1 && threads <= AQ_CREW_MAX);
    aq_crew *crew = aq_alloc(1, sizeof(*crew));
    if (crew == NULL) {
        return AQ_E_NOMEM;
    }
    crew->size = threads;
    atomic_init(&crew->piece, 0);
    atomic_init(&crew->parts_left, 0);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->has_piece, NULL);
    pthread_cond_init(&crew->is_done, NULL);
    for (uint32_t i = 1; i < threads; i++) {
        crew_member *member = &crew->members[i];
        *member = (crew_member){.crew = crew, .index = i};
        int problem = pthread_create(&member->thread, NULL, member_main, member);
        if (problem != 0) {
            aq_crew_destroy(crew);
            return aq_error_from_errno(problem);
        }
        crew->started++;
    }
    *ret_crew = crew;
    return 0;
}

void aq_crew_destroy(aq_crew *crew)
{
    if (crew == NULL) {
        return;
    }
    pthread_mutex_lock(&crew->lock);
    crew->is_over = true;
    pthread_cond_broadcast(&crew->has_piece);
    pthread_mutex_unlock(&crew->lock);
    for (uint32_t i = 1; i <= crew->started; i++) {
        pthread_join(crew->members[i].thread, NULL);
    }
    pthread_cond_destroy(&crew->is_done);
    pthread_cond_destroy(&crew->has_piece);
    pthread_mutex_destroy(&crew->lock);
    aq_free(crew);
}

uint32_t aq_crew_size(const aq_crew *crew)
{
    return crew->size;
}

static void wait_for_parts(aq_crew *crew)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&crew->parts_left, memory_order_acquire) == 0) {
            return;
        }
        relax();
    }
    pthread_mutex_lock(&crew->lock);
    while (atomic_load(&crew->parts_left) != 0) {
        pthread_cond_wait(&crew->is_done, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
}

void aq_crew_run(aq_crew *crew, aq_crew_fn fn, void *user)
{
    if (crew->started > 0) {
        crew->fn = fn;
        crew->user = user;
        atomic_store(&crew->parts_left, crew->started);
        pthread_mutex_lock(&crew->lock);
        atomic_fetch_add(&crew->piece, 1);
        pthread_cond_broadcast(&crew->has_piece);
        pthread_mutex_unlock(&crew->lock);
    }
    fn(user, 0);
    if (crew->started > 0) {
        wait_for_parts(crew);
    }
}
