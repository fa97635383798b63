/*
 * Crew: a few threads that do one thing together, each its own part, for work that is over in
 * milliseconds and comes again at once. The caller is one of them.
 *
 * Between two pieces of work they look for the next one for a moment before they sleep: a training
 * step has several, some microseconds apart. run() is for one thread at a time.
 */
#ifndef AQ_LEARNER_NN_CREW_H
#define AQ_LEARNER_NN_CREW_H

#include <stdint.h>

#include "common/base/error.h"

typedef struct aq_crew aq_crew;

enum { AQ_CREW_MAX = 64 };

/* Part `index` of the work, 0 to threads - 1. */
typedef void (*aq_crew_fn)(void *user, uint32_t index);

/* `threads` is 1 to AQ_CREW_MAX; one has no threads but the caller's. AQ_E_NOMEM, or a code of
 * pthread_create's errno. */
int aq_crew_create(uint32_t threads, aq_crew **ret_crew) AQ_MUST_USE;
void aq_crew_destroy(aq_crew *crew); /* NULL is fine; no work may be going on */

uint32_t aq_crew_size(const aq_crew *crew);

/* Returns when all parts are done; what they wrote is seen by the caller. */
void aq_crew_run(aq_crew *crew, aq_crew_fn fn, void *user);

#endif
