/*
 * Additions, and one binary search for each row whose age is asked for.
 */
#include "replay/table/replay_accounting.h"

#include "common/base/assert.h"
#include "common/base/clock.h"

#define NOTE_INTERVAL_MIN_NS (10 * AQ_NS_PER_MS)

void aq_histogram_add(aq_histogram *histogram, uint64_t value)
{
    unsigned bucket = value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
    if (bucket >= AQ_HISTOGRAM_BUCKETS) {
        bucket = AQ_HISTOGRAM_BUCKETS - 1;
    }
    histogram->counts[bucket]++;
}

size_t aq_histogram_length(const aq_histogram *histogram)
{
    size_t length = AQ_HISTOGRAM_BUCKETS;
    while (length > 0 && histogram->counts[length - 1] == 0) {
        length--;
    }
    return length;
}

/* The notes that no item needs go, else every second one; from here on notes are taken so often
 * that half the room lasts for as long as the items do. */
static void make_room(aq_item_clock *clock, uint64_t oldest_item, int64_t now_ns)
{
    size_t gone = 0;
    while (gone + 1 < clock->count && clock->notes[gone + 1].first_item <= oldest_item) {
        gone++;
    }
    size_t stride = clock->count - gone > AQ_ITEM_CLOCK_NOTES / 2 ? 2 : 1;
    size_t kept = 0;
    for (size_t i = gone; i < clock->count; i += stride) {
        clock->notes[kept++] = clock->notes[i];
    }
    clock->count = kept;
    clock->interval_ns = (now_ns - clock->notes[0].came_ns) / (AQ_ITEM_CLOCK_NOTES / 2);
}

void aq_item_clock_note(aq_item_clock *clock, uint64_t first_item, uint64_t oldest_item,
                        int64_t now_ns)
{
    if (clock->interval_ns < NOTE_INTERVAL_MIN_NS) {
        clock->interval_ns = NOTE_INTERVAL_MIN_NS;
    }
    if (clock->count > 0 && now_ns - clock->notes[clock->count - 1].came_ns < clock->interval_ns) {
        return;
    }
    if (clock->count == AQ_ITEM_CLOCK_NOTES) {
        make_room(clock, oldest_item, now_ns);
    }
    clock->notes[clock->count].first_item = first_item;
    clock->notes[clock->count].came_ns = now_ns;
    clock->count++;
}

bool aq_item_clock_when(const aq_item_clock *clock, uint64_t item, int64_t *ret_came_ns)
{
    if (clock->count == 0 || item < clock->notes[0].first_item) {
        return false;
    }
    /* The last note whose first item is not above `item`: it is in [low, low + left). */
    size_t low = 0;
    for (size_t left = clock->count; left > 1;) {
        size_t half = left / 2;
        if (clock->notes[low + half].first_item <= item) {
            low += half;
        }
        left -= half;
    }
    *ret_came_ns = clock->notes[low].came_ns;
    return true;
}

void aq_shard_accounting_init(aq_shard_accounting *accounting, int64_t now_ns)
{
    *accounting = (aq_shard_accounting){.started_ns = now_ns, .ticked_ns = now_ns};
}

void aq_shard_accounting_inserted(aq_shard_accounting *accounting, uint32_t version)
{
    accounting->inserted = true;
    if (version > accounting->newest_version) {
        accounting->newest_version = version;
    }
}

void aq_shard_accounting_sampled(aq_shard_accounting *accounting, const aq_batch *batch,
                                 const aq_item_clock *clock, int64_t now_ns)
{
    uint32_t newest = accounting->newest_version;
    accounting->sampled = true;
    for (uint32_t row = 0; row < batch->rows; row++) {
        uint32_t version = batch->version[(size_t)row * batch->steps];
        aq_histogram_add(&accounting->staleness, version < newest ? newest - version : 0);
    }
    for (uint32_t row = 0; row < batch->rows; row += AQ_AGE_ROWS_STRIDE) {
        int64_t came_ns;
        if (aq_item_clock_when(clock, batch->item[row], &came_ns)) {
            AQ_ASSERT(came_ns <= now_ns);
            aq_histogram_add(&accounting->age_ms, (uint64_t)((now_ns - came_ns) / AQ_NS_PER_MS));
        }
    }
}

void aq_shard_accounting_tick(aq_shard_accounting *accounting, int64_t now_ns, bool actors_wait,
                              bool learner_waits)
{
    int64_t elapsed_ns = now_ns - accounting->ticked_ns;
    accounting->ticked_ns = now_ns;
    accounting->inserting_ns += accounting->inserted ? elapsed_ns : 0;
    accounting->sampling_ns += accounting->sampled ? elapsed_ns : 0;
    accounting->actors_waited_ns += actors_wait && !accounting->inserted ? elapsed_ns : 0;
    accounting->learner_waited_ns += learner_waits && !accounting->sampled ? elapsed_ns : 0;
    accounting->inserted = false;
    accounting->sampled = false;
}
