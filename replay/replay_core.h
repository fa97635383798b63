/*
 * Replay core: one shard without sockets and without a clock. Messages and a time go in, answers
 * come out; the daemon and the simulated cluster of the tests drive the same code.
 *
 * In memory only: an acknowledgement means "stored in this process". What a crash of the shard
 * costs is said in docs/protocol.md.
 *
 * One owner, no locking. Times are of one monotonic clock.
 */
#ifndef AQ_REPLAY_REPLAY_CORE_H
#define AQ_REPLAY_REPLAY_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/rl/batch.h"
#include "common/rl/experience.h"
#include "common/rl/run_settings.h"
#include "replay/seq_tracker.h"

typedef struct aq_replay_core aq_replay_core;

typedef struct aq_replay_counters {
    uint64_t inserted; /* fresh transitions taken in */
    uint64_t sampled;  /* items given out */
    uint64_t stored;   /* transitions held */
    uint64_t bytes;    /* held */
    uint64_t messages; /* stored; the others were dropped */
    uint64_t duplicates, gaps, rejected;
} aq_replay_counters;

/* `incarnation` names this start of the shard; `seed` feeds the selector. AQ_E_INVALID in words for
 * settings under which actors and learner could wait for each other (replay_limiter.h). */
int aq_replay_core_create(const aq_run_settings *settings, uint64_t run_id, uint64_t incarnation,
                          uint64_t seed, aq_replay_core **ret_core, aq_error *error) AQ_MUST_USE;
void aq_replay_core_destroy(aq_replay_core *core); /* NULL is fine */

const aq_run_settings *aq_replay_core_settings(const aq_replay_core *core);
const aq_chunk_layout *aq_replay_core_layout(const aq_replay_core *core);
uint64_t aq_replay_core_run_id(const aq_replay_core *core);
uint64_t aq_replay_core_incarnation(const aq_replay_core *core);

/* ---- experience ---------------------------------------------------------------------------- */

/* Takes one message whose chunks were validated (references are moved out of it or dropped; it is
 * empty afterwards, also on failure). AQ_E_FULL when there are more actors than can be tracked,
 * AQ_E_INVALID for numbers that cannot be, AQ_E_NOMEM; `error` says so. A message that failed is
 * counted as rejected and is still the next of its actor. */
int aq_replay_core_insert(aq_replay_core *core, int64_t now_ns, aq_experience *experience,
                          enum aq_replay_verdict *ret_verdict, aq_error *error) AQ_MUST_USE;

/* A message that never got that far (corrupt, foreign, another schema). */
void aq_replay_core_reject(aq_replay_core *core);

/* ---- flow ---------------------------------------------------------------------------------- */

/* What a Credit call says of its actor. */
typedef struct aq_credit_call {
    uint64_t actor, incarnation;
    uint64_t known_acknowledged, known_granted;
    uint64_t acknowledged_steps; /* in the messages up to known_acknowledged; of known_granted */
} aq_credit_call;

/* Where one incarnation of an actor stands. `granted` only grows: it is how many fresh transitions
 * that incarnation may send in all. */
typedef struct aq_credit {
    uint64_t acknowledged, granted, expected, gaps;
} aq_credit;

/* A call came: shows that its actor lives, and restores what another incarnation of the shard has
 * told it. AQ_E_FULL, AQ_E_INVALID, in words. */
int aq_replay_core_called(aq_replay_core *core, int64_t now_ns, const aq_credit_call *call,
                          aq_error *error) AQ_MUST_USE;

/* Shares the limiter's headroom among the actors that live. To be called every few milliseconds;
 * returns at once when nothing happened since the last time. */
void aq_replay_core_share(aq_replay_core *core, int64_t now_ns);

/* Whether the call, held since it came, is worth an answer now; `now_or_never` makes it so. When it
 * is, the answer is in *ret_credit and noted as given. */
bool aq_replay_core_answer(aq_replay_core *core, int64_t now_ns, const aq_credit_call *call,
                           bool now_or_never, aq_credit *ret_credit);

/* The actors that were heard from, for people. */
typedef struct aq_replay_actor_view {
    uint64_t actor, incarnation;
    uint64_t received; /* fresh transitions */
    int64_t heard_ns;
    int64_t met_ns;
} aq_replay_actor_view;

size_t aq_replay_core_actors(const aq_replay_core *core);
aq_replay_actor_view aq_replay_core_actor(const aq_replay_core *core, size_t index);

/* ---- sampling ------------------------------------------------------------------------------ */

/* Draws `rows` items, 1 to the settings' sample_rows, into a batch with room for them.
 * AQ_E_AGAIN while the limiter (minimum size, samples per insert) forbids it. */
int aq_replay_core_sample(aq_replay_core *core, uint32_t rows, float discount,
                          aq_batch *batch) AQ_MUST_USE;

/* ---- statistics ---------------------------------------------------------------------------- */

aq_replay_counters aq_replay_core_counters(const aq_replay_core *core);

/* "" or who waits for whom: "learner waits: 412 of 1000 steps". Valid until the next call. */
const char *aq_replay_core_waiting(aq_replay_core *core);

#endif
