/*
 * Checkpointer: what goes into a checkpoint, and when.
 *
 * The loop knows the run (steps, totals, the best policy), the trainer knows the arrays. A request
 * copies the first under a lock; the trainer adds the second when it next has a moment; the stage's
 * thread writes the file, so that neither the loop nor a train step waits for the disk.
 */
#ifndef AQ_LEARNER_DAEMON_CHECKPOINTER_H
#define AQ_LEARNER_DAEMON_CHECKPOINTER_H

#include <limits.h>
#include <stdbool.h>

#include "common/base/error.h"
#include "common/nn/named_arrays.h"

struct aq_learner_parts;
typedef struct aq_checkpointer aq_checkpointer;

/* What became of one. */
typedef struct aq_checkpoint_outcome {
    uint64_t step;
    char path[PATH_MAX];   /* "" when it failed */
    bool wrote_checkpoint; /* also where only the policy beside it failed */
    bool wrote_policy;
    uint64_t policy_version; /* of what was written */
    aq_error error;          /* why it failed */
    bool is_last;            /* it is not tried again */
} aq_checkpoint_outcome;

/* Of these parts, which are lent, once there is `service`. `step` is that of the newest checkpoint
 * there is. The first one is due a period from now. */
int aq_checkpointer_create(const struct aq_learner_parts *parts, uint64_t step,
                           aq_checkpointer **ret_checkpointer) AQ_MUST_USE;
void aq_checkpointer_destroy(aq_checkpointer *checkpointer); /* NULL is fine */

/* ---- on the loop ---- */

/* The period has passed, none is under way, and `step` is not on the disk yet. */
bool aq_checkpointer_is_due(aq_checkpointer *checkpointer, int64_t now_ns, uint64_t step);

/* The period is another one: the next is due no later than that from now. */
void aq_checkpointer_hurry(aq_checkpointer *checkpointer, int64_t now_ns);

bool aq_checkpointer_is_busy(const aq_checkpointer *checkpointer);
uint64_t aq_checkpointer_step(const aq_checkpointer *checkpointer); /* of the newest on disk */

/* One is wanted, and will be written: copies what the loop knows, and is busy until then. */
void aq_checkpointer_begin(aq_checkpointer *checkpointer);

/* What a write came to: takes note of it, and says it in the log. */
void aq_checkpointer_settle(aq_checkpointer *checkpointer, const aq_checkpoint_outcome *outcome);

/* ---- on the stage's thread, or on the loop once that has ended ---- */

/* The checkpoint, the best policy if it is new, and energy.json. */
void aq_checkpointer_write(aq_checkpointer *checkpointer, const aq_named_arrays *arrays,
                           uint64_t step, aq_checkpoint_outcome *ret_outcome);

#endif
