/*
 * The replay daemon: see replay_http.h. docs/metrics.md lists the families of its page.
 */
#include "replay/daemon/replay_http.h"

#define S_PER_MS 0.001

enum { BINS = 24 };

/* The message leaves out the empty ends of histograms, which then grow; here they have the same
 * buckets from start to end. */
static void add_histogram(aq_metrics_page *page, const char *name, const char *help,
                          const uint64_t *counts, size_t size, double unit, bool whole)
{
    uint64_t bins[BINS] = {0};
    for (size_t i = 0; i < size; i++) {
        bins[i < BINS ? i : BINS - 1] += counts[i];
    }
    aq_page_histogram(page, name, help, bins, BINS, unit, whole);
}

static void add_store(const Actorq__V1__ReplayStats *stats, aq_metrics_page *page)
{
    aq_page_counter(page, "inserted_transitions_total",
                    "Transitions stored, in all lives of the store.", (double)stats->inserted);
    aq_page_gauge(page, "inserts_per_second", "Transitions stored in the last second.",
                  stats->insert_per_s);
    aq_page_counter(page, "sampled_items_total", "Items sampled; of this process.",
                    (double)stats->sampled);
    aq_page_gauge(page, "samples_per_second", "Items sampled in the last second.",
                  stats->sample_per_s);
    aq_page_gauge(page, "stored_transitions", "Transitions that count towards the capacity.",
                  (double)stats->stored);
    aq_page_gauge(page, "stored_bytes", "Bytes of what is held now.", (double)stats->bytes);
    aq_page_family(page, AQ_METRIC_COUNTER, "refused_messages_total",
                   "Messages of actors that were not stored, by reason.");
    aq_page_sample(page, "reason", "duplicate", (double)stats->duplicates);
    aq_page_sample(page, "reason", "gap", (double)stats->gaps);
    aq_page_sample(page, "reason", "rejected", (double)stats->rejected);
    aq_page_sample(page, "reason", "uncalled", (double)stats->uncalled);
}

static void add_time(const Actorq__V1__ReplayStats *stats, aq_metrics_page *page)
{
    aq_page_family(
        page, AQ_METRIC_COUNTER, "wait_seconds_total",
        "Time that the rate limiter, or a log without room, held a side back; of this process.");
    aq_page_sample(page, "side", "actors", stats->actors_waited_s);
    aq_page_sample(page, "side", "learner", stats->learner_waited_s);
    aq_page_family(page, AQ_METRIC_COUNTER, "busy_seconds_total",
                   "Time in which steps came (`inserting`), or samples were given (`sampling`), by "
                   "ticks of 2 ms: one counts whole however little it did; of this process.");
    aq_page_sample(page, "work", "inserting", stats->inserting_s);
    aq_page_sample(page, "work", "sampling", stats->sampling_s);
    aq_page_gauge(page, "limiter_wait_seconds",
                  "How long a side has been held back so, without a break; 0: none is.",
                  stats->waiting_s);
    add_histogram(page, "sample_staleness_versions", "Versions that sampled rows were behind.",
                  stats->staleness, stats->n_staleness, 1, true);
    add_histogram(page, "sample_age_seconds",
                  "How long ago sampled rows had come, but for those that a start has read back.",
                  stats->age_ms, stats->n_age_ms, S_PER_MS, false);
}

static void add_log(const Actorq__V1__ReplayStats *stats, aq_metrics_page *page)
{
    aq_page_gauge(page, "disk_bytes", "Bytes of segments on the disk; 0: in memory only.",
                  (double)stats->disk_bytes);
    aq_page_gauge(page, "mapped_bytes", "Bytes of segments that are mapped.",
                  (double)stats->mapped_bytes);
    aq_page_gauge(page, "backlog_bytes", "Bytes that are not on the disk yet.",
                  (double)stats->backlog_bytes);
    aq_page_counter(page, "durable_messages_total",
                    "Messages made durable, which a kill of the shard does not lose, in all "
                    "lives of the store.",
                    (double)stats->durable_messages);
    aq_page_counter(page, "snapshots_total", "Snapshots that were written.",
                    (double)stats->snapshots);
    aq_page_gauge(page, "disk_stuck", "1 while nothing can be written, else 0.",
                  stats->stuck != NULL && stats->stuck[0] != '\0');
    aq_page_counter(page, "sync_failures_total",
                    "Times that the disk did not take what it was to keep; of this process.",
                    (double)stats->sync_failures);
    aq_page_gauge(page, "restored_transitions",
                  "Transitions that the start has read from files, whether or not a table still "
                  "holds them.",
                  (double)stats->restored);
    aq_page_gauge(page, "damaged_records", "Records that could not be restored at the start.",
                  (double)stats->damaged);
}

static void add_tables(const Actorq__V1__ReplayStats *stats, aq_metrics_page *page)
{
    Actorq__V1__TableStats *const *tables = stats->tables;
    const size_t count = stats->n_tables;
    aq_page_family(page, AQ_METRIC_GAUGE, "table_items", "Items in a table.");
    for (size_t i = 0; i < count; i++) {
        aq_page_sample(page, "table", tables[i]->name, (double)tables[i]->items);
    }
    aq_page_family(page, AQ_METRIC_COUNTER, "table_sampled_items_total",
                   "Items sampled from a table, in all lives of the store.");
    for (size_t i = 0; i < count; i++) {
        aq_page_sample(page, "table", tables[i]->name, (double)tables[i]->sampled);
    }
    aq_page_family(page, AQ_METRIC_COUNTER, "table_priorities_total",
                   "Priorities applied to items of a table, in all lives of the store.");
    for (size_t i = 0; i < count; i++) {
        aq_page_sample(page, "table", tables[i]->name, (double)tables[i]->prioritized);
    }
    aq_page_family(
        page, AQ_METRIC_GAUGE, "table_times_sampled",
        "How often items had been sampled when they left a table, mean since the start.");
    for (size_t i = 0; i < count; i++) {
        aq_page_sample(page, "table", tables[i]->name, tables[i]->times_sampled);
    }
}

static int add_metrics(void *user, aq_metrics_page *page)
{
    aq_replay_stats stats;
    aq_replay_service_statistics(user, &stats);
    page->prefix = "actorq_replay_";
    add_store(&stats.message, page);
    add_time(&stats.message, page);
    add_log(&stats.message, page);
    add_tables(&stats.message, page);
    return 0;
}

/* A store on the disk has been restored by then. */
static const char *not_ready(void *user)
{
    return aq_replay_service_core(user) != NULL ? NULL : "it has not joined a run";
}

int aq_replay_http_open(uv_loop_t *loop, const char *listen, aq_replay_service *service,
                        const aq_rpc_dispatcher *dispatcher, const aq_security *security,
                        aq_daemon_http **ret_http, aq_error *error)
{
    const aq_daemon_pages pages = {
        .role = "replay",
        .user = service,
        .metrics = add_metrics,
        .not_ready = not_ready,
        .dispatcher = dispatcher,
        .security = security,
    };
    return aq_daemon_http_open(loop, listen, &pages, ret_http, error);
}
