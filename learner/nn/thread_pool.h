/*
 * Thread pool: a few threads that do one thing together, in parts, for work that is over in
 * milliseconds and comes again at once. The caller is one of them. Who is free takes the next part:
 * where others use the processors, too, many small parts are done sooner than one for each thread.
 *
 * Between two pieces of work they look for the next one for a moment before they sleep: a training
 * step has several, some microseconds apart. run() is for one thread at a time.
 */
#ifndef AQ_LEARNER_NN_THREAD_POOL_H
#define AQ_LEARNER_NN_THREAD_POOL_H

#include <stdint.h>

#include "common/base/error.h"

typedef struct aq_thread_pool aq_thread_pool;

enum { AQ_THREAD_POOL_MAX = 64, AQ_THREAD_POOL_PARTS_MAX = (1 << 24) - 1 };

/* One part of the work. */
typedef void (*aq_thread_pool_fn)(void *user, uint32_t part);

/* `threads` is 1 to AQ_THREAD_POOL_MAX; one has no threads but the caller's. AQ_E_NOMEM, or a code
 * of pthread_create's errno. */
int aq_thread_pool_create(uint32_t threads, aq_thread_pool **ret_pool) AQ_MUST_USE;
void aq_thread_pool_destroy(aq_thread_pool *pool); /* NULL is fine; no work may be going on */

uint32_t aq_thread_pool_size(const aq_thread_pool *pool);

/* Parts 0 to parts - 1, each once, in any order. Returns when all are done; what they wrote is seen
 * by the caller, who does them alone where the pool is NULL. */
void aq_thread_pool_run(aq_thread_pool *pool, uint32_t parts, aq_thread_pool_fn fn, void *user);

#endif
