/*
 * Priority return: sends what training found out about a group's rows back to the shard that they
 * came from. A call takes a copy of what it sends, so the group is free at once. At most so many
 * calls are under way; what comes beyond that is dropped and counted, since an old priority does
 * little harm and a learner that waits for one does.
 *
 * Loop thread only.
 */
#ifndef AQ_LEARNER_SAMPLING_PRIORITY_RETURN_H
#define AQ_LEARNER_SAMPLING_PRIORITY_RETURN_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/batch.h"
#include "common/net/rpc/rpc.h"

/* A row that was not trained on. */
#define AQ_PRIORITY_NONE (-1.0f)

typedef struct aq_priority_return aq_priority_return;

typedef struct aq_priority_counts {
    uint64_t sent;    /* priorities of rows that were trained on; each is one of: */
    uint64_t applied; /* taken by the shard */
    uint64_t stale;   /* the item had left, or the shard was another start of it by then */
    uint64_t dropped; /* the shard was gone or did not answer, or too many calls were under way */
} aq_priority_counts;

/* `trouble` hears of calls that failed otherwise than by a shard's restart or going. `table` is
 * copied. AQ_E_NOMEM. */
int aq_priority_return_create(uint64_t run_id, const char *table, uint32_t calls_max,
                              void (*trouble)(void *user, const char *shard, const char *reason),
                              void *user, aq_priority_return **ret_return) AQ_MUST_USE;

/* No call may be under way. NULL is fine. */
void aq_priority_return_destroy(aq_priority_return *returns);

/* Marks every row of the group as not trained on. */
void aq_priority_return_clear(aq_batch *group);

/* Sends the priorities of the rows that have one, finite and not below 0, moving them to the
 * front: the group's content is good for nothing else afterwards. `stub` is the shard's, NULL for
 * one that is gone; `incarnation` is the start of it that numbered the items; `shard` is for
 * people. */
void aq_priority_return_send(aq_priority_return *returns, const aq_rpc_stub *stub,
                             const char *shard, uint64_t incarnation, aq_batch *group);

aq_priority_counts aq_priority_return_counts(const aq_priority_return *returns);

#endif
