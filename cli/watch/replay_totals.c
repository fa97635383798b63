/*
 * Replay totals: see replay_totals.h.
 */
#include "cli/watch/replay_totals.h"

void aq_spread_add(aq_spread *spread, const uint64_t *counts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t bucket = i < AQ_SPREAD_BUCKETS ? i : AQ_SPREAD_BUCKETS - 1;
        spread->counts[bucket] += counts[i];
        spread->total += counts[i];
    }
}

void aq_replay_totals_add(aq_replay_totals *totals, const Actorq__V1__ReplayStats *stats)
{
    totals->shards++;
    totals->inserted += stats->inserted;
    totals->sampled += stats->sampled;
    totals->stored += stats->stored;
    totals->bytes += stats->bytes;
    totals->duplicates += stats->duplicates;
    totals->gaps += stats->gaps;
    totals->rejected += stats->rejected;
    totals->restored += stats->restored;
    totals->damaged += stats->damaged;
    totals->durable_messages += stats->durable_messages;
    totals->backlog_bytes += stats->backlog_bytes;
    totals->disk_bytes += stats->disk_bytes;
    totals->mapped_bytes += stats->mapped_bytes;
    totals->snapshots += stats->snapshots;
    totals->sync_failures += stats->sync_failures;
    totals->insert_per_s += stats->insert_per_s;
    totals->sample_per_s += stats->sample_per_s;
    totals->inserting_s += stats->inserting_s;
    totals->sampling_s += stats->sampling_s;
    totals->actors_waited_s += stats->actors_waited_s;
    totals->learner_waited_s += stats->learner_waited_s;
    totals->running_s += stats->running_s;
    aq_spread_add(&totals->staleness, stats->staleness, stats->n_staleness);
    aq_spread_add(&totals->age_ms, stats->age_ms, stats->n_age_ms);
}

uint64_t aq_spread_under(const aq_spread *spread, double share)
{
    uint64_t below = 0;
    if (spread->total == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < AQ_SPREAD_BUCKETS - 1; i++) {
        below += spread->counts[i];
        if ((double)below >= share * (double)spread->total) {
            return UINT64_C(1) << i;
        }
    }
    return UINT64_MAX;
}

const char *aq_spread_bars(const aq_spread *spread, char *out)
{
    static const char shades[] = " .:-=+*#";
    const uint64_t darkest = sizeof(shades) - 2;
    uint64_t most = 1;
    size_t used = 0;
    for (size_t i = 0; i < AQ_SPREAD_BUCKETS; i++) {
        most = spread->counts[i] > most ? spread->counts[i] : most;
        used = spread->counts[i] > 0 ? i + 1 : used;
    }
    for (size_t i = 0; i < used; i++) {
        const double height = (double)spread->counts[i] / (double)most * (double)darkest;
        const uint64_t shade = (uint64_t)(height + 0.5);
        out[i] = shades[spread->counts[i] > 0 && shade == 0 ? 1 : shade];
    }
    out[used] = '\0';
    return out;
}
