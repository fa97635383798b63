/*
 * Copies; nothing here takes longer when more is stored.
 */
#include "replay/service/replay_stats.h"

#include <math.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/sys/machine.h"
#include "common/wire/wire_frame.h"

static void fill_table(const aq_replay_shelf *shelf, char *name, Actorq__V1__TableStats *table)
{
    aq_replay_holdings holdings = aq_replay_table_holdings(shelf->table);
    memcpy(name, aq_replay_table_spec(shelf->table)->name, AQ_TABLE_NAME_MAX);
    actorq__v1__table_stats__init(table);
    table->name = name;
    table->items = holdings.items;
    table->mass = holdings.mass;
    table->transitions = holdings.transitions;
    table->bytes = holdings.bytes;
    table->sampled = shelf->sampled;
    table->times_sampled = holdings.items_left > 0
                               ? (double)holdings.times_sampled / (double)holdings.items_left
                               : NAN;
    table->prioritized = shelf->prioritized;
    table->stale = shelf->stale;
}

static void fill_tables(const aq_replay_core *core, aq_replay_stats *stats)
{
    const aq_replay_tables *tables = aq_replay_core_tables(core);
    for (size_t i = 0; i < tables->count; i++) {
        fill_table(&tables->shelves[i], stats->names[i], &stats->tables[i]);
        stats->table_pointers[i] = &stats->tables[i];
    }
    stats->message.n_tables = tables->count;
    stats->message.tables = stats->table_pointers;
}

static void fill_histogram(const aq_histogram *histogram, uint64_t *copy, size_t *ret_count,
                           uint64_t **ret_counts)
{
    memcpy(copy, histogram->counts, sizeof(histogram->counts));
    *ret_count = aq_histogram_length(histogram);
    *ret_counts = copy;
}

static void fill_accounting(const aq_replay_host *host, aq_replay_stats *stats)
{
    const aq_shard_accounting *accounting = aq_replay_core_accounting(host->core);
    Actorq__V1__ReplayStats *message = &stats->message;
    message->inserting_s = aq_ns_to_s(accounting->inserting_ns);
    message->sampling_s = aq_ns_to_s(accounting->sampling_ns);
    message->actors_waited_s = aq_ns_to_s(accounting->actors_waited_ns);
    message->learner_waited_s = aq_ns_to_s(accounting->learner_waited_ns);
    message->running_s = aq_ns_to_s(accounting->ticked_ns - accounting->started_ns);
    fill_histogram(&accounting->staleness, stats->staleness, &message->n_staleness,
                   &message->staleness);
    fill_histogram(&accounting->age_ms, stats->age_ms, &message->n_age_ms, &message->age_ms);
}

static void fill_log(const aq_replay_core *core, Actorq__V1__ReplayStats *message)
{
    const aq_log_progress *progress = aq_replay_core_log_progress(core);
    const aq_replay_restored *restored = aq_replay_core_restored(core);
    if (progress == NULL) {
        return;
    }
    message->durable_messages = progress->durable;
    message->backlog_bytes = progress->backlog_bytes;
    message->disk_bytes = progress->disk_bytes;
    message->snapshots = progress->snapshots;
    message->sync_failures = progress->sync_failures;
    message->stuck = aq_wire_text(progress->stuck ? progress->reason : "");
    message->restored = restored->transitions;
    message->damaged = restored->damaged;
}

void aq_replay_stats_fill(const aq_replay_host *host, aq_replay_stats *ret_stats)
{
    Actorq__V1__ReplayStats *message = &ret_stats->message;
    actorq__v1__replay_stats__init(message);
    message->resident_bytes = aq_machine_resident_bytes();
    if (host->core == NULL) {
        return;
    }
    aq_replay_counters counters = aq_replay_core_counters(host->core);
    aq_message_store_counts stored = aq_replay_core_stored(host->core);
    message->inserted = counters.inserted;
    message->sampled = counters.sampled;
    message->stored = counters.stored;
    message->bytes = counters.bytes;
    message->duplicates = counters.duplicates;
    message->gaps = counters.gaps;
    message->rejected = counters.rejected;
    message->uncalled = counters.uncalled;
    message->outdated = counters.outdated;
    message->insert_per_s = host->insert_per_s;
    message->sample_per_s = host->sample_per_s;
    message->waiting = aq_wire_text(aq_replay_core_waiting(host->core));
    message->waiting_s = message->waiting[0] != '\0'
                             ? aq_ns_to_s(host->now_ns - aq_replay_core_waiting_since(host->core))
                             : 0.0;
    message->store = aq_replay_core_store(host->core);
    message->mapped_bytes = stored.mapped_bytes;
    message->bytes_per_step = counters.stored > 0
                                  ? (double)stored.resident_bytes / (double)counters.stored
                                  : counters.bytes_per_step; /* a queue may be empty at any look */
    fill_tables(host->core, ret_stats);
    fill_accounting(host, ret_stats);
    fill_log(host->core, message);
}
