/*
 * Replay core: one shard without sockets and without a clock. Messages and a time go in, answers
 * come out; the daemon and the simulated cluster of the tests drive the same code.
 *
 * In memory only: an acknowledgement means "stored in this process". What a crash of the shard
 * costs is said in docs/protocol.md.
 */
#ifndef AQ_REPLAY_REPLAY_CORE_H
#define AQ_REPLAY_REPLAY_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/rng.h"
#include "common/rl/batch.h"
#include "common/rl/experience.h"
#include "common/rl/run_settings.h"

typedef struct aq_replay_core aq_replay_core;

typedef struct aq_replay_counters {
    uint64_t inserted; /* fresh transitions taken in */
    uint64_t sampled;  /* items given out */
    uint64_t stored;   /* transitions held */
    uint64_t bytes;    /* held */
    uint64_t messages, duplicates, gaps, rejected;
} aq_replay_counters;

/* `incarnation` names this start of the shard; `rng` seeds the selector. */
int aq_replay_core_create(const aq_run_settings *settings, uint64_t run_id, uint64_t incarnation,
                          uint64_t seed, aq_replay_core **ret_core, aq_error *error) AQ_MUST_USE;
void aq_replay_core_destroy(aq_replay_core *core); /* NULL is fine */

const aq_chunk_layout *aq_replay_core_layout(const aq_replay_core *core);
uint64_t aq_replay_core_run_id(const aq_replay_core *core);
uint64_t aq_replay_core_schema_hash(const aq_replay_core *core);

enum aq_replay_verdict {
    AQ_REPLAY_STORED,    /* in its turn: stored */
    AQ_REPLAY_DUPLICATE, /* had it before: dropped */
    AQ_REPLAY_GAP,       /* before its turn: dropped; the actor sends again from `expected` */
};

/* Takes one checked message (references are moved out of it or dropped; it is empty afterwards).
 * AQ_E_FULL when there are more actors than can be tracked. */
int aq_replay_core_insert(aq_replay_core *core, int64_t now_ns, aq_experience *experience,
                          enum aq_replay_verdict *ret_verdict) AQ_MUST_USE;

/* A message that never got that far (corrupt, foreign, another schema). */
void aq_replay_core_reject(aq_replay_core *core);

typedef struct aq_credit {
    uint64_t acknowledged, granted, expected, gaps;
} aq_credit;

/* Where one incarnation of an actor stands; the call also shows that it lives. `granted` only
 * grows: it is how many fresh transitions that incarnation may send in all. */
int aq_replay_core_credit(aq_replay_core *core, int64_t now_ns, uint64_t actor,
                          uint64_t incarnation, aq_credit *ret_credit) AQ_MUST_USE;

/* Draws `rows` items. AQ_E_AGAIN while the limiter (minimum size, samples per insert) or an empty
 * store forbids it. */
int aq_replay_core_sample(aq_replay_core *core, uint32_t rows, float discount,
                          aq_batch *batch) AQ_MUST_USE;

aq_replay_counters aq_replay_core_counters(const aq_replay_core *core);

/* "" or who waits for whom: "learner waits: 412 of 1000 steps", "actors wait: ...". Static buffer
 * of the core. */
const char *aq_replay_core_waiting(aq_replay_core *core, int64_t now_ns);

uint64_t aq_replay_core_incarnation(const aq_replay_core *core);

#endif
