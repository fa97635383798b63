/*
 * Outbox: closed chunks on their way to one replay shard, until the shard has acknowledged them.
 *
 * Chunks are gathered into numbered messages; what is in a message never changes. A sent message
 * proves nothing (docs/protocol.md), so each is kept until its number is acknowledged, and goes
 * again, in order, after a new connection, a restart of the shard, a gap, or a mark that stands
 * still.
 *
 * Chunks are kept rather than frames: a frame says what was acknowledged when it was made, and a
 * restarted shard takes that as its starting point. An old frame would start it too low and make a
 * gap where there is none, so a frame is packed when it is sent. The price is packing again on a
 * resend.
 *
 * Messages are numbered for one store, by whose name they are stamped. They are handed to another
 * store only when the first is gone for good (aq_outbox_move; shard_spread.h says when).
 *
 * Bounded by messages, chunks and bytes; the owner asks aq_outbox_room before it makes more. One
 * thread at a time.
 */
#ifndef AQ_ACTOR_CORE_OUTBOX_H
#define AQ_ACTOR_CORE_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/chunk.h"

/* A message of AQ_OUTBOX_GOOD_BYTES is large enough not to wait for more. AQ_OUTBOX_BYTES_MAX is
 * exceeded by no more than what one step of all environments closes. */
enum {
    AQ_OUTBOX_MESSAGES_MAX = 64,
    AQ_OUTBOX_BYTES_MAX = 8 << 20,
    AQ_OUTBOX_GOOD_BYTES = 16 << 10,
};

typedef struct aq_outbox aq_outbox;

typedef struct aq_outbox_config {
    uint64_t run_id;
    uint64_t actor; /* member number */
    uint64_t incarnation;
    uint64_t store; /* that it is numbered for; 0: not known */
    aq_layout layout;
    uint32_t message_bytes; /* the largest frame */
    uint32_t burst_chunks;  /* chunks that may be put between two calls of aq_outbox_room */
    int64_t hold_ns;        /* how long a transition may wait for a fuller message */
    int64_t resend_ns;      /* how long the mark may stand still */
    bool is_sealed;         /* whoever sends a message seals it */
} aq_outbox_config;

/* AQ_E_TOO_BIG, in words, when the longest chunk does not fit in a message. */
int aq_outbox_check(const aq_outbox_config *config, aq_error *error) AQ_MUST_USE;

/* Of what was checked. AQ_E_NOMEM. */
int aq_outbox_create(const aq_outbox_config *config, aq_outbox **ret_outbox) AQ_MUST_USE;
void aq_outbox_destroy(aq_outbox *outbox); /* NULL is fine */

/* Whether burst_chunks more may be put, of which all that are there take up to `bytes_max`, at most
 * AQ_OUTBOX_BYTES_MAX. */
bool aq_outbox_room(const aq_outbox *outbox, size_t bytes_max);

/* Takes the reference. `since_ns` is when the oldest new transition in the chunk happened. Up to
 * burst_chunks may be put after aq_outbox_room said yes. */
void aq_outbox_put(aq_outbox *outbox, aq_chunk *chunk, int64_t since_ns);

/* The frame to be sent next; valid until the next call but aq_outbox_sent. Chunks that no message
 * holds yet wait for a good size or for hold_ns, unless it is `urgent`: nothing more will come for
 * now. False when there is nothing to send, or no memory to pack it. */
bool aq_outbox_next(aq_outbox *outbox, int64_t now_ns, bool urgent, const uint8_t **ret_frame,
                    size_t *ret_size);

/* The frame of aq_outbox_next was sent. */
void aq_outbox_sent(aq_outbox *outbox, int64_t now_ns);

typedef struct aq_shard_mark {
    uint64_t shard_incarnation;
    uint64_t acknowledged; /* every message up to this number is stored */
    uint64_t expected;     /* the number that the shard takes next */
    uint64_t gaps;         /* messages it dropped since they came before their turn */
} aq_shard_mark;

/* What the shard says. Numbers that cannot be are ignored. */
void aq_outbox_acknowledge(aq_outbox *outbox, int64_t now_ns, const aq_shard_mark *mark);

/* All that is not acknowledged goes again, from the first. */
void aq_outbox_resend(aq_outbox *outbox, int64_t now_ns);

/* The same, to another store: the one before is gone for good, with what it had acknowledged. */
void aq_outbox_move(aq_outbox *outbox, int64_t now_ns, uint64_t store);

/* When aq_outbox_next has something: INT64_MIN when it has it now, INT64_MAX when only another call
 * can change that. */
int64_t aq_outbox_due_ns(const aq_outbox *outbox, bool urgent);

typedef struct aq_outbox_counters {
    uint64_t acknowledged;       /* highest number */
    uint32_t unacknowledged;     /* messages */
    uint32_t unarrived;          /* of them, those that the shard has not said to have */
    uint32_t waiting_chunks;     /* in no message yet */
    size_t bytes;                /* of memory that the chunks take */
    uint64_t sent;               /* messages, each once */
    uint64_t resent;             /* messages sent again, in all */
    uint64_t put_steps;          /* fresh transitions in all chunks ever put */
    uint64_t acknowledged_steps; /* of them, those in acknowledged messages */
    uint64_t shard_steps;        /* of those, acknowledged by the present store; where its name is
                                    not known, by the present shard incarnation */
} aq_outbox_counters;

aq_outbox_counters aq_outbox_count(const aq_outbox *outbox);

#endif
