/*
 * Spread: an actor's experience over the replay shards of its run. For each shard there is an
 * outbox and what it has granted; here is decided which of them the next closed chunk goes to, and
 * whether there is credit for another step. No sockets, no clock.
 *
 * A shard's credit is what it has granted less what was put into its outbox. Shards that `take` are
 * in the learner's list and connected. Each chunk goes to the next of them in turn that has credit
 * for all of it; where none has, to the one with the most. Shards so get equal shares, and what one
 * of them does not take, because it is away, full or out of credit, goes to the others. What was
 * put stays where it is.
 *
 * Why nothing stands still for ever. Let `open` be the fresh transitions in open chunks, `lanes`
 * the environments, and `credit` the sum, over the shards that take and have room, of what each has
 * left (those that are overdrawn count as 0).
 *   - The core steps when credit >= open + lanes, so afterwards credit >= open. Putting a chunk of
 *     f transitions takes f from `open` and at most f from `credit`, so that stays true, and while
 *     something is open some shard has credit left: each chunk that closes finds one that does. The
 *     shard may have less left than the chunk has; then it is overdrawn, by less than one chunk,
 *     and gets no other before it has granted more than that.
 *   - When the core may not step, chunks that can be closed are, after flush_ms, for as long as a
 *     shard has credit left. Then either no shard that takes has any; or what is open is at most
 *     lanes * (n - 1), which is too little for items, and credit < open + lanes. In both cases each
 *     shard by itself sees that of what it granted at most lanes * n - 1 did not come: the
 *     `rest_steps` of replay_credit.h, which an actor with one shard may be left with. By
 *     what is said there such an actor is granted more, by every shard that has headroom, and by
 *     every shard at which the learner waits, in the end so much that it alone allows a step, or
 *     the closing of a chunk. So the actor waits only while no shard that it can reach wants more,
 *     and that is what credit is for.
 *   - A shard that goes away takes its credit with it, and `open` may exceed what is left. Then
 *     chunks are closed as far as the others have credit, and the second case holds for them.
 *   - One at which the learner waits may have granted less than a chunk needs, and get nothing
 *     until the others have no more left than it. They get down to that: while nobody samples from
 *     them, they grant no more.
 *
 * Bounded: each outbox by its own limits and by an equal share of AQ_SPREAD_BYTES_MAX, among shards
 * that take or owe something, so that those that are away do not take the room of others. (An
 * outbox that was full when others came may have more than its share until it is acknowledged: in
 * all at most 4 times the limit.)
 *
 * One thread at a time. Nothing but aq_shard_spread_open, and packing a frame, allocates.
 */
#ifndef AQ_ACTOR_CORE_SHARD_SPREAD_H
#define AQ_ACTOR_CORE_SHARD_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actor/core/outbox.h"
#include "common/base/error.h"

enum { AQ_SPREAD_SHARDS_MAX = 64, AQ_SPREAD_BYTES_MAX = 32 << 20 };

typedef struct aq_shard_spread aq_shard_spread;

/* Without shards. `config` is that of every outbox; its `store` does not count. Fails as
 * aq_outbox_check does; AQ_E_NOMEM. */
int aq_shard_spread_create(const aq_outbox_config *config, aq_shard_spread **ret_spread,
                           aq_error *error) AQ_MUST_USE;
void aq_shard_spread_destroy(aq_shard_spread *spread); /* NULL is fine */

/* ---- shards --------------------------------------------------------------------------------- */

/* Another shard, numbered 0, 1, 2, ..., which takes nothing yet and stays for good. AQ_E_FULL,
 * AQ_E_NOMEM. */
int aq_shard_spread_open(aq_shard_spread *spread, uint64_t store, uint32_t *ret_shard) AQ_MUST_USE;
uint32_t aq_shard_spread_count(const aq_shard_spread *spread);

/* Whether chunks may be put for it from here on. */
void aq_shard_spread_set_taking(aq_shard_spread *spread, uint32_t shard, bool takes);

/* What it has answered. The grant is a running total that only grows, also over restarts of the
 * shard, which is told what it had granted (aq_shard_spread_known). */
void aq_shard_spread_answered(aq_shard_spread *spread, uint32_t shard, int64_t now_ns,
                              const aq_shard_mark *mark, uint64_t granted);

/* It wants no step of an older policy; 0: it wants any. */
void aq_shard_spread_expect(aq_shard_spread *spread, uint32_t shard, uint64_t version_min);

/* The latest that one wants which takes and has credit left. */
uint64_t aq_shard_spread_version_min(const aq_shard_spread *spread);

/* What is unacknowledged goes again, or (move) goes to another store in the place of one that is
 * gone for good. */
void aq_shard_spread_resend(aq_shard_spread *spread, uint32_t shard, int64_t now_ns);
void aq_shard_spread_move(aq_shard_spread *spread, uint32_t shard, int64_t now_ns, uint64_t store);

/* For its next Credit call. */
void aq_shard_spread_known(const aq_shard_spread *spread, uint32_t shard,
                           uint64_t *ret_acknowledged, uint64_t *ret_granted);

/* ---- chunks --------------------------------------------------------------------------------- */

/* Transitions that the shards which take have granted and not got, whether they have room or not:
 * with less than a step needs, it is credit that is waited for. */
uint64_t aq_shard_spread_credit(const aq_shard_spread *spread);

/* The same, of those that have room now: `credit` in the proof above. Until the next call of this,
 * up to the config's burst_chunks may be put, each only while some of it is left. */
uint64_t aq_shard_spread_begin(aq_shard_spread *spread);

/* Whether aq_shard_spread_begin would return more than 0. */
bool aq_shard_spread_may_put(const aq_shard_spread *spread);

/* Takes the reference; `since_ns` as for aq_outbox_put. */
void aq_shard_spread_put(aq_shard_spread *spread, aq_chunk *chunk, int64_t since_ns);

/* The same for the last chunks there are, one an environment, credit or not: to a shard that takes
 * if there is one, else to one that may be back in time. There must be a shard. */
void aq_shard_spread_put_last(aq_shard_spread *spread, aq_chunk *chunk, int64_t since_ns);

/* ---- messages ------------------------------------------------------------------------------- */

/* As aq_outbox_next, _sent and _due_ns, for one shard; `urgent` when nothing more will be put for
 * anybody, and otherwise when nothing will be put for this one. */
bool aq_shard_spread_next(aq_shard_spread *spread, uint32_t shard, int64_t now_ns, bool urgent,
                          const uint8_t **ret_frame, size_t *ret_size);
void aq_shard_spread_sent(aq_shard_spread *spread, uint32_t shard, int64_t now_ns);
int64_t aq_shard_spread_due_ns(const aq_shard_spread *spread, uint32_t shard, bool urgent);

/* Whether everything that was put, for anybody or for this one, is acknowledged. */
bool aq_shard_spread_is_empty(const aq_shard_spread *spread);
bool aq_shard_spread_is_empty_of(const aq_shard_spread *spread, uint32_t shard);

/* Of one, and the sums over all (the highest number acknowledged has none: 0). */
aq_outbox_counters aq_shard_spread_count_of(const aq_shard_spread *spread, uint32_t shard);
aq_outbox_counters aq_shard_spread_count_all(const aq_shard_spread *spread);

#endif
