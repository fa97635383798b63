/*
 * Policy chain: the newest version of a run's policy, made of full snapshots and of deltas in
 * whatever order they come. A delta whose base is not there yet waits for it, so that a full
 * snapshot which was fetched meanwhile catches up at once, however fast versions follow each other.
 *
 * One thread.
 */
#ifndef AQ_ACTOR_CORE_POLICY_CHAIN_H
#define AQ_ACTOR_CORE_POLICY_CHAIN_H

#include <stddef.h>

#include "common/base/error.h"
#include "common/policy/snapshot.h"
#include "common/wire/wire_delta.h"

/* At most so many wait, and so many bytes of them; then the oldest goes. */
enum { AQ_POLICY_CHAIN_WAITING = 64 };
#define AQ_POLICY_CHAIN_BYTES ((size_t)64 << 20)

/* Zeroed: empty. */
typedef struct aq_policy_chain {
    aq_snapshot *newest; /* NULL: none yet */
    aq_wire_delta *waiting[AQ_POLICY_CHAIN_WAITING];
    size_t waiting_count;
    size_t waiting_bytes;
} aq_policy_chain;

void aq_policy_chain_fini(aq_policy_chain *chain);

/* Takes the reference. 0: it, or what waited for it, is the newest now. AQ_E_EXISTS: nothing newer
 * than what is there. AQ_E_CORRUPT, AQ_E_NOMEM: a delta that had waited was no good; what came
 * before it is the newest. */
int aq_policy_chain_add(aq_policy_chain *chain, aq_snapshot *snapshot, aq_error *error) AQ_MUST_USE;

/* Takes the delta. The same; and AQ_E_AGAIN: it waits for its base, or is of no use without another
 * full snapshot. */
int aq_policy_chain_add_delta(aq_policy_chain *chain, aq_wire_delta *delta,
                              aq_error *error) AQ_MUST_USE;

/* Nobody could use the newest: the next full snapshot counts, whatever its version. */
void aq_policy_chain_forget(aq_policy_chain *chain);

#endif
