/*
 * A replay shard as far as an outbox can tell: takes messages in their turn, drops the others, and
 * remembers what it took. For the tests of the outbox.
 */
#ifndef AQ_TESTS_UNIT_ACTOR_OUTBOX_SHARD_H
#define AQ_TESTS_UNIT_ACTOR_OUTBOX_SHARD_H

#include <stdint.h>

#include "actor/core/outbox.h"

enum { SHARD_MESSAGES_MAX = 4096, SHARD_RUN = 11, SHARD_ACTOR = 3 };
#define SHARD_ACTOR_INCARNATION UINT64_C(0xabcdef)

typedef struct outbox_shard {
    aq_layout layout;
    uint64_t incarnation;
    uint64_t mark;
    uint64_t gaps;
    uint64_t duplicates;
    /* Of message seq: how often it was stored in all incarnations, and in which one last. */
    uint32_t stored[SHARD_MESSAGES_MAX];
    uint64_t stored_by[SHARD_MESSAGES_MAX];
    double first_reward[SHARD_MESSAGES_MAX]; /* what is in it never changes */
    uint32_t chunk_count[SHARD_MESSAGES_MAX];
    uint64_t last_seq; /* of the last message that came, and what it said */
    uint64_t last_acknowledged;
} outbox_shard;

/* Transitions of one float and a choice, chunks of up to length_max. */
aq_layout outbox_shard_layout(uint32_t length_max);
void outbox_shard_init(outbox_shard *shard, const aq_layout *layout);

/* The process dies and another one starts: it has seen nothing. */
void outbox_shard_restart(outbox_shard *shard);

/* A frame arrives; asserts that it is a valid one. */
void outbox_shard_take(outbox_shard *shard, const uint8_t *frame, size_t size);

/* What it would answer to a Credit call now. */
aq_shard_mark outbox_shard_mark(const outbox_shard *shard);

/* A chunk of one transition that ends its episode, with that reward. */
aq_chunk *outbox_shard_chunk(const aq_layout *layout, double reward);

/* The configuration of an outbox that talks to such a shard. */
aq_outbox_config outbox_shard_config(const aq_layout *layout, uint32_t message_bytes);

#endif
