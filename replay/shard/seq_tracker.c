/*
 * In-order only: an actor resends in order anyway, so keeping messages that came early would buy
 * nothing and would need a buffer with a limit of its own.
 */
#include "replay/shard/seq_tracker.h"

#include "common/base/assert.h"

void aq_seq_tracker_init(aq_seq_tracker *tracker, uint64_t acknowledged)
{
    AQ_ASSERT(acknowledged < UINT64_MAX);
    *tracker = (aq_seq_tracker){.taken = acknowledged, .acknowledged = acknowledged};
}

void aq_seq_tracker_lift(aq_seq_tracker *tracker, uint64_t acknowledged)
{
    AQ_ASSERT(acknowledged < UINT64_MAX);
    if (acknowledged > tracker->taken) {
        tracker->taken = acknowledged;
    }
    if (acknowledged > tracker->acknowledged) {
        tracker->acknowledged = acknowledged;
    }
}

enum aq_replay_verdict aq_seq_tracker_judge(aq_seq_tracker *tracker, uint64_t seq)
{
    if (seq <= tracker->taken) {
        tracker->duplicates++;
        return AQ_REPLAY_DUPLICATE;
    }
    if (seq > tracker->taken + 1) {
        tracker->gaps++;
        return AQ_REPLAY_GAP;
    }
    return AQ_REPLAY_STORED;
}

void aq_seq_tracker_taken(aq_seq_tracker *tracker)
{
    AQ_ASSERT(tracker->taken < UINT64_MAX - 1);
    tracker->taken++;
}

void aq_seq_tracker_acknowledge(aq_seq_tracker *tracker, uint64_t seq)
{
    AQ_ASSERT(seq <= tracker->taken);
    if (seq > tracker->acknowledged) {
        tracker->acknowledged = seq;
    }
}

uint64_t aq_seq_tracker_expected(const aq_seq_tracker *tracker)
{
    return tracker->taken + 1;
}
