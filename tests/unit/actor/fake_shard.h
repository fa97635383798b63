/*
 * Replay shards as far as an actor can tell: messages are taken in their turn, credit is what the
 * test says, and a Credit call is held until there is something new. What is meant for another
 * store is dropped.
 */
#ifndef AQ_TESTS_UNIT_ACTOR_FAKE_SHARD_H
#define AQ_TESTS_UNIT_ACTOR_FAKE_SHARD_H

#include <stdbool.h>

#include "common/experience/chunk.h"
#include "common/net/rpc/rpc.h"
#include "proto/experience.pb-c.h"

enum { FAKE_HELD_MAX = 16 };

typedef struct fake_shard {
    Actorq__V1__Flow_Service methods; /* first */
    aq_rpc_dispatcher *dispatcher;
    uint64_t run_id;
    aq_layout layout;

    uint64_t store; /* 0: it does not say */
    bool durable;   /* a restart forgets nothing */
    bool is_stuck;  /* it takes messages and acknowledges none */
    uint64_t incarnation;
    uint64_t granted;
    uint64_t mark;
    uint64_t gaps, duplicates, messages;
    uint64_t foreign;           /* messages and calls that were meant for another store */
    uint64_t fresh;             /* transitions stored */
    uint64_t actor;             /* that sent the last message */
    uint64_t actor_incarnation; /* that was heard last; another one starts at message 1 */
    bool has_answered;          /* a call, in this incarnation: the first is not held */
    bool refuse;                /* Credit fails with UNAVAILABLE */
    uint32_t calls;
    uint64_t known_granted; /* of the last call */

    struct {
        Actorq__V1__CreditReply_Closure closure;
        void *call;
        uint64_t known_acknowledged, known_granted;
    } held[FAKE_HELD_MAX];
    size_t held_count;
} fake_shard;

void fake_shard_init(fake_shard *shard);
void fake_shard_fini(fake_shard *shard);

/* One EXPERIENCE frame arrives. */
void fake_shard_take(fake_shard *shard, const uint8_t *frame, size_t size);

/* Answers the held calls that have something new to hear, or all. */
void fake_shard_answer(fake_shard *shard, bool all);

/* Another process at the same place, which knows nothing and names another store, unless it is
 * durable. Held calls are lost with the old one, so close their wires first. */
void fake_shard_restart(fake_shard *shard);

#endif
