/*
 * Rank crew: ranks of one process, a thread each, whose links go through its memory.
 */
#ifndef AQ_TESTS_SUPPORT_RANK_CREW_H
#define AQ_TESTS_SUPPORT_RANK_CREW_H

#include "learner/gradients/rank_link.h"

enum { CREW_MAX = 4 };

/* What a rank does. Assertions are for afterwards, on the test's own thread. */
typedef void (*crew_act)(void *user, aq_rank_link *link);

/* Until all ranks are done. From call number `lost_at` on, counted from 1, calls fail; 0: never. */
void crew_run(uint32_t ranks, unsigned lost_at, crew_act act, void *user);

#endif
