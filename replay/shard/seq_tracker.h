/*
 * Sequence tracker: which message of one sender is the next. Go-back-N: a message is taken in its
 * turn or dropped, so what was taken is always 1 .. taken without holes, and one number says all
 * that the sender has to know. What was taken is acknowledged once it would survive the end of this
 * process, in the same order.
 *
 * Plain data, one per sender; no locking.
 */
#ifndef AQ_REPLAY_SHARD_SEQ_TRACKER_H
#define AQ_REPLAY_SHARD_SEQ_TRACKER_H

#include <stdint.h>

enum aq_replay_verdict {
    AQ_REPLAY_STORED,    /* in its turn: stored */
    AQ_REPLAY_DUPLICATE, /* had it before: dropped */
    AQ_REPLAY_GAP,       /* before its turn: dropped; the actor sends again from `expected` */
    AQ_REPLAY_DEFERRED,  /* in its turn, but there is no room to write it now: dropped; likewise */
    AQ_REPLAY_STRAY,     /* numbered for another store: dropped, no mark has changed */
};

typedef struct aq_seq_tracker {
    uint64_t taken;        /* every message up to this number was taken ... */
    uint64_t acknowledged; /* ... and up to this one it is kept for good; never above `taken` */
    uint64_t gaps;         /* messages dropped since they came before their turn */
    uint64_t duplicates;   /* messages dropped since they had been taken */
} aq_seq_tracker;

/* `acknowledged` is what the sender knows to be acknowledged: 0 at its start, more when an earlier
 * incarnation of this shard (or this one, which has since forgotten the sender) took its messages.
 */
void aq_seq_tracker_init(aq_seq_tracker *tracker, uint64_t acknowledged);

/* The sender says that it knows of this acknowledgement, by an earlier start of this shard. It has
 * dropped its copies up to there, so the tracker must not go on waiting for them. Once it has
 * called this start its word counts no more. Never lowers a mark. */
void aq_seq_tracker_lift(aq_seq_tracker *tracker, uint64_t acknowledged);

/* Whether message `seq` is the next; gaps and duplicates are counted. The mark moves with
 * aq_seq_tracker_taken only, so that a message which could not be stored is still the next. */
enum aq_replay_verdict aq_seq_tracker_judge(aq_seq_tracker *tracker, uint64_t seq);
void aq_seq_tracker_taken(aq_seq_tracker *tracker);

/* Message `seq`, which was taken, and all before it are kept for good. Never lowers the mark. */
void aq_seq_tracker_acknowledge(aq_seq_tracker *tracker, uint64_t seq);

uint64_t aq_seq_tracker_expected(const aq_seq_tracker *tracker);

#endif
