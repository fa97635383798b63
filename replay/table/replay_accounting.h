/*
 * Accounting: where a shard's time goes and what the sampled rows were like. Counts only; everybody
 * who wants to know reads them (Status, heartbeats, metrics).
 *
 * Time is counted by ticks: the time since the last tick was an inserting one if steps came in it,
 * a sampling one if a batch was given in it, and one in which a side waited if nothing but the
 * limiter (or the log) held that side back. One stretch of time may be several of these.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_TABLE_REPLAY_ACCOUNTING_H
#define AQ_REPLAY_TABLE_REPLAY_ACCOUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/experience/batch.h"

/* Counts of [0, 1), [1, 2), [2, 4), [4, 8), ...; the last takes the rest. */
enum { AQ_HISTOGRAM_BUCKETS = 40 };

/* Every so many rows one is looked at for its age, as that takes a search. */
enum { AQ_AGE_ROWS_STRIDE = 8 };

typedef struct aq_histogram {
    uint64_t counts[AQ_HISTOGRAM_BUCKETS];
} aq_histogram;

void aq_histogram_add(aq_histogram *histogram, uint64_t value);

/* Buckets up to the last that is not 0. */
size_t aq_histogram_length(const aq_histogram *histogram);

/* When items came: a table numbers them upwards, so a number's time lies between two notes. Notes
 * are thinned out as they become many: an age is right to about a 256th of the oldest item's. */
enum { AQ_ITEM_CLOCK_NOTES = 512 };

typedef struct aq_item_clock {
    struct {
        uint64_t first_item;
        int64_t came_ns;
    } notes[AQ_ITEM_CLOCK_NOTES]; /* the oldest first */
    size_t count;
    int64_t interval_ns; /* between notes, at least */
} aq_item_clock;

/* Items from `first_item` on come at `now_ns` or later; of the others, those before `oldest_item`
 * have left. No number and no time is ever below the last. */
void aq_item_clock_note(aq_item_clock *clock, uint64_t first_item, uint64_t oldest_item,
                        int64_t now_ns);

/* When the item came; false for one that is older than all notes. */
bool aq_item_clock_when(const aq_item_clock *clock, uint64_t item, int64_t *ret_came_ns);

typedef struct aq_shard_accounting {
    int64_t started_ns, ticked_ns;
    int64_t inserting_ns, sampling_ns, actors_waited_ns, learner_waited_ns;
    aq_histogram staleness; /* newest policy version seen, less the row's */
    aq_histogram age_ms;
    uint32_t newest_version;
    bool inserted, sampled; /* since the last tick */
} aq_shard_accounting;

void aq_shard_accounting_init(aq_shard_accounting *accounting, int64_t now_ns);

/* Steps came, the last of them chosen by this policy version. */
void aq_shard_accounting_inserted(aq_shard_accounting *accounting, uint32_t version);

/* A batch was given; `clock` is of its table. */
void aq_shard_accounting_sampled(aq_shard_accounting *accounting, const aq_batch *batch,
                                 const aq_item_clock *clock, int64_t now_ns);

/* Ends a stretch of time; which sides were held back in it. */
void aq_shard_accounting_tick(aq_shard_accounting *accounting, int64_t now_ns, bool actors_wait,
                              bool learner_waits);

#endif
