/*
 * What replay shards said of themselves: see wire_replay_said.h.
 */
#include "common/wire/wire_replay_said.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void point_at_own(aq_replay_said *said)
{
    Actorq__V1__ReplayStats *stats = &said->stats;
    for (size_t i = 0; i < AQ_TABLES_MAX; i++) {
        said->tables[i].name = said->names[i];
        said->table_pointers[i] = &said->tables[i];
    }
    stats->tables = said->table_pointers;
    stats->staleness = said->staleness;
    stats->age_ms = said->age_ms;
    stats->waiting = said->waiting;
    stats->stuck = said->stuck;
}

static void forget_unknown(ProtobufCMessage *message)
{
    message->n_unknown_fields = 0;
    message->unknown_fields = NULL;
}

static void set_text(char out[AQ_SAID_TEXT_MAX], const char *text)
{
    (void)snprintf(out, AQ_SAID_TEXT_MAX, "%s", text);
}

static void copy_table(aq_replay_said *said, size_t place, const Actorq__V1__TableStats *table)
{
    said->tables[place] = *table;
    forget_unknown(&said->tables[place].base);
    (void)snprintf(said->names[place], sizeof(said->names[place]), "%s", table->name);
    said->tables[place].name = said->names[place];
}

void aq_replay_said_copy(aq_replay_said *said, const Actorq__V1__ReplayStats *stats)
{
    said->stats = *stats;
    forget_unknown(&said->stats.base);
    said->stats.n_tables = least_of(stats->n_tables, AQ_TABLES_MAX);
    for (size_t i = 0; i < said->stats.n_tables; i++) {
        copy_table(said, i, stats->tables[i]);
    }
    said->stats.n_staleness = least_of(stats->n_staleness, AQ_SAID_BINS_MAX);
    said->stats.n_age_ms = least_of(stats->n_age_ms, AQ_SAID_BINS_MAX);
    for (size_t i = 0; i < said->stats.n_staleness; i++) {
        said->staleness[i] = stats->staleness[i];
    }
    for (size_t i = 0; i < said->stats.n_age_ms; i++) {
        said->age_ms[i] = stats->age_ms[i];
    }
    set_text(said->waiting, stats->waiting);
    set_text(said->stuck, stats->stuck);
    point_at_own(said);
}

void aq_replay_said_clear(aq_replay_said *said)
{
    memset(said, 0, sizeof(*said));
    actorq__v1__replay_stats__init(&said->stats);
    point_at_own(said);
}

/* ---- sums ----------------------------------------------------------------------------------- */

static double finite(double value)
{
    return isfinite(value) ? value : 0;
}

/* The mean of two means over `a_weight` and `b_weight` things; where one is unknown, the other. */
static double mean_of(double a, double a_weight, double b, double b_weight)
{
    if (!isfinite(a) || a_weight <= 0) {
        return b;
    }
    if (!isfinite(b) || b_weight <= 0) {
        return a;
    }
    return (a * a_weight + b * b_weight) / (a_weight + b_weight);
}

static void add_bins(uint64_t bins[AQ_SAID_BINS_MAX], size_t *count, const uint64_t *from,
                     size_t from_count)
{
    from_count = least_of(from_count, AQ_SAID_BINS_MAX);
    for (size_t i = 0; i < from_count; i++) {
        bins[i] += from[i];
    }
    *count = from_count > *count ? from_count : *count;
}

static Actorq__V1__TableStats *table_named(aq_replay_said *sum, const char *name)
{
    for (size_t i = 0; i < sum->stats.n_tables; i++) {
        if (strncmp(sum->names[i], name, AQ_TABLE_NAME_MAX - 1) == 0) {
            return &sum->tables[i];
        }
    }
    return NULL;
}

static void add_table(aq_replay_said *sum, const Actorq__V1__TableStats *table)
{
    Actorq__V1__TableStats *known = table_named(sum, table->name);
    if (!known) {
        if (sum->stats.n_tables < AQ_TABLES_MAX) {
            copy_table(sum, sum->stats.n_tables, table);
            sum->tables[sum->stats.n_tables++].mass = finite(table->mass);
        }
        return;
    }
    known->times_sampled = mean_of(known->times_sampled, (double)known->sampled,
                                   table->times_sampled, (double)table->sampled);
    known->items += table->items;
    known->mass = finite(known->mass) + finite(table->mass);
    known->transitions += table->transitions;
    known->bytes += table->bytes;
    known->sampled += table->sampled;
    known->prioritized += table->prioritized;
    known->stale += table->stale;
}

static void add_counts(Actorq__V1__ReplayStats *sum, const Actorq__V1__ReplayStats *stats)
{
    sum->bytes_per_step = mean_of(sum->bytes_per_step, (double)sum->stored, stats->bytes_per_step,
                                  (double)stats->stored);
    sum->inserted += stats->inserted;
    sum->sampled += stats->sampled;
    sum->stored += stats->stored;
    sum->bytes += stats->bytes;
    sum->duplicates += stats->duplicates;
    sum->gaps += stats->gaps;
    sum->rejected += stats->rejected;
    sum->uncalled += stats->uncalled;
    sum->outdated += stats->outdated;
    sum->insert_per_s += finite(stats->insert_per_s);
    sum->sample_per_s += finite(stats->sample_per_s);
    sum->resident_bytes += stats->resident_bytes;
    sum->inserting_s += finite(stats->inserting_s);
    sum->sampling_s += finite(stats->sampling_s);
    sum->actors_waited_s += finite(stats->actors_waited_s);
    sum->learner_waited_s += finite(stats->learner_waited_s);
    sum->running_s += finite(stats->running_s);
    sum->durable_messages += stats->durable_messages;
    sum->backlog_bytes += stats->backlog_bytes;
    sum->disk_bytes += stats->disk_bytes;
    sum->mapped_bytes += stats->mapped_bytes;
    sum->snapshots += stats->snapshots;
    sum->sync_failures += stats->sync_failures;
    sum->restored += stats->restored;
    sum->damaged += stats->damaged;
}

void aq_replay_said_add(aq_replay_said *sum, const Actorq__V1__ReplayStats *stats)
{
    add_counts(&sum->stats, stats);
    for (size_t i = 0; i < least_of(stats->n_tables, AQ_TABLES_MAX); i++) {
        add_table(sum, stats->tables[i]);
    }
    add_bins(sum->staleness, &sum->stats.n_staleness, stats->staleness, stats->n_staleness);
    add_bins(sum->age_ms, &sum->stats.n_age_ms, stats->age_ms, stats->n_age_ms);
    if (stats->waiting[0] != '\0' &&
        (sum->waiting[0] == '\0' || stats->waiting_s > sum->stats.waiting_s)) {
        set_text(sum->waiting, stats->waiting);
        sum->stats.waiting_s = finite(stats->waiting_s);
    }
    if (sum->stuck[0] == '\0') {
        set_text(sum->stuck, stats->stuck);
    }
}
