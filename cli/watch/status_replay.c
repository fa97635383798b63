/*
 * Status replay: see status_replay.h.
 */
#include "cli/watch/status_replay.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cli/text/figure_text.h"
#include "cli/text/text_table.h"
#include "cli/watch/spread.h"
#include "common/base/plain_text.h"
#include "common/wire/wire_replay_said.h"

/* NaN over nothing. */
static double ratio(double over, double under)
{
    return under > 0 ? over / under : (double)NAN;
}

/* What is stored, as its table is called where it is no transitions. */
static const char *unit_of(const Actorq__V1__ReplayStats *stats)
{
    const bool are_gradients =
        stats->n_tables > 0 && strcmp(stats->tables[0]->name, "gradients") == 0;
    return are_gradients ? "gradients" : "transitions";
}

/* ---- facts ---------------------------------------------------------------------------------- */

static void print_holdings(FILE *out, const Actorq__V1__ReplayStats *stats)
{
    aq_figure count, bytes, step;
    const uint64_t mapped = stats->mapped_bytes < stats->bytes ? stats->mapped_bytes : stats->bytes;
    const double resident = (double)(stats->bytes - mapped);
    if (mapped > 0) {
        aq_print_fact(out, "stored", "%s %s, %s in memory and %s in mapped files",
                      aq_figure_count(&count, (double)stats->stored), unit_of(stats),
                      aq_figure_bytes(&bytes, resident), aq_figure_bytes(&step, (double)mapped));
        return;
    }
    aq_print_fact(out, "stored", "%s %s, %s in memory, %s each",
                  aq_figure_count(&count, (double)stats->stored), unit_of(stats),
                  aq_figure_bytes(&bytes, resident),
                  aq_figure_bytes(&step, ratio(resident, (double)stats->stored)));
}

static void print_times(FILE *out, const Actorq__V1__ReplayStats *stats)
{
    aq_figure inserting, sampling, actors, learner;
    const double all = stats->running_s;
    if (all > 0) {
        aq_print_fact(out, "time",
                      "inserting %s, sampling %s; actors waited for the learner %s, the learner "
                      "for actors %s",
                      aq_figure_share(&inserting, ratio(stats->inserting_s, all)),
                      aq_figure_share(&sampling, ratio(stats->sampling_s, all)),
                      aq_figure_share(&actors, ratio(stats->actors_waited_s, all)),
                      aq_figure_share(&learner, ratio(stats->learner_waited_s, all)));
    }
}

static const char *versions_text(aq_figure *room, uint64_t under)
{
    return under == UINT64_MAX ? "any number" : aq_figure_count(room, (double)under);
}

static const char *age_text(aq_figure *room, uint64_t under)
{
    return under == UINT64_MAX ? "any time" : aq_figure_duration(room, (double)under / 1000);
}

static void print_staleness(FILE *out, const char *label, const uint64_t *counts, size_t count)
{
    char bars[AQ_SPREAD_BUCKETS + 1];
    aq_figure half, most, all;
    const aq_spread versions = aq_spread_of(counts, count);
    if (versions.total > 0) {
        aq_print_fact(out, label, "half under %s versions, 90 %% under %s, all under %s [%s]",
                      versions_text(&half, aq_spread_under(&versions, 0.5)),
                      versions_text(&most, aq_spread_under(&versions, 0.9)),
                      versions_text(&all, aq_spread_under(&versions, 1)),
                      aq_spread_bars(&versions, bars));
    }
}

/* How old what is sampled is: by policy versions, and by the clock. */
static void print_freshness(FILE *out, const Actorq__V1__ReplayStats *stats)
{
    char bars[AQ_SPREAD_BUCKETS + 1];
    aq_figure half, most, all;
    const aq_spread age = aq_spread_of(stats->age_ms, stats->n_age_ms);
    print_staleness(out, "staleness", stats->staleness, stats->n_staleness);
    if (age.total > 0) {
        aq_print_fact(out, "age", "half under %s, 90 %% under %s, all under %s [%s]",
                      age_text(&half, aq_spread_under(&age, 0.5)),
                      age_text(&most, aq_spread_under(&age, 0.9)),
                      age_text(&all, aq_spread_under(&age, 1)), aq_spread_bars(&age, bars));
    }
}

static bool has_log(const Actorq__V1__ReplayStats *stats)
{
    return stats->durable_messages > 0 || stats->disk_bytes > 0 || stats->backlog_bytes > 0;
}

static void print_log(FILE *out, const Actorq__V1__ReplayStats *stats)
{
    aq_figure disk, backlog, restored;
    if (!has_log(stats)) {
        if (stats->inserted > 0) { /* before the first step a log is empty, too */
            aq_print_fact(out, "log", "none: steps are in memory only");
        }
        return;
    }
    aq_print_fact(out, "log",
                  "%s on disk; %s not durable yet; %" PRIu64 " messages, %" PRIu64
                  " snapshots written",
                  aq_figure_bytes(&disk, (double)stats->disk_bytes),
                  aq_figure_bytes(&backlog, (double)stats->backlog_bytes), stats->durable_messages,
                  stats->snapshots);
    if (stats->sync_failures > 0) {
        aq_print_fact(out, "disk",
                      "failed to sync %" PRIu64 " times: what is durable here may end with the "
                      "machine",
                      stats->sync_failures);
    }
    if (stats->restored > 0 || stats->damaged > 0) {
        aq_print_fact(out, "restored", "%s %s read from files; %" PRIu64 " damaged records",
                      aq_figure_count(&restored, (double)stats->restored), unit_of(stats),
                      stats->damaged);
    }
}

static void print_waiting(FILE *out, const Actorq__V1__ReplayStats *stats)
{
    aq_figure since;
    if (stats->waiting[0] != '\0') {
        aq_print_fact(out, "waiting", "%s, for %s", stats->waiting,
                      aq_figure_duration(&since, stats->waiting_s));
    }
    if (stats->stuck[0] != '\0') {
        aq_print_fact(out, "stuck", "nothing can be written, nothing is acknowledged: %s",
                      stats->stuck);
    }
}

/* ---- tables --------------------------------------------------------------------------------- */

/* The third is called as its unit is. */
static const aq_table_column table_columns[] = {
    {"table", AQ_TABLE_LEFT},        {"items", AQ_TABLE_RIGHT},
    {"transitions", AQ_TABLE_RIGHT}, {"bytes", AQ_TABLE_RIGHT},
    {"mass", AQ_TABLE_RIGHT},        {"sampled", AQ_TABLE_RIGHT},
    {"times each", AQ_TABLE_RIGHT},  {"priorities", AQ_TABLE_RIGHT},
    {"too late", AQ_TABLE_RIGHT},    {NULL},
};

static void add_table(aq_text_table *text, const Actorq__V1__TableStats *table)
{
    aq_figure room;
    aq_text_table_row(text);
    aq_text_table_cell(text, "%s", table->name);
    aq_text_table_cell(text, "%s", aq_figure_count(&room, (double)table->items));
    aq_text_table_cell(text, "%s", aq_figure_count(&room, (double)table->transitions));
    aq_text_table_cell(text, "%s", aq_figure_bytes(&room, (double)table->bytes));
    aq_text_table_cell(text, "%s",
                       table->mass < 1000 ? aq_figure_number(&room, table->mass)
                                          : aq_figure_count(&room, table->mass));
    aq_text_table_cell(text, "%s", aq_figure_count(&room, (double)table->sampled));
    aq_text_table_cell(text, "%s", aq_figure_number(&room, table->times_sampled));
    aq_text_table_cell(text, "%s", aq_figure_count(&room, (double)table->prioritized));
    aq_text_table_cell(text, "%s", aq_figure_count(&room, (double)table->stale));
}

static int print_tables(FILE *out, const Actorq__V1__ReplayStats *stats)
{
    aq_text_table text;
    aq_table_column columns[sizeof(table_columns) / sizeof(table_columns[0])];
    memcpy(columns, table_columns, sizeof(columns));
    columns[2].name = unit_of(stats);
    aq_text_table_begin(&text, columns);
    for (size_t i = 0; i < stats->n_tables; i++) {
        add_table(&text, stats->tables[i]);
    }
    (void)fputs(stats->n_tables > 0 ? "\n" : "", out);
    return aq_text_table_end(&text, out);
}

/* ---- the learner's side --------------------------------------------------------------------- */

static void print_priorities(FILE *out, const Actorq__V1__ReplayUseStatus *use)
{
    aq_figure sent, applied, stale, dropped;
    if (use->priorities_sent > 0) {
        aq_print_fact(out, "priorities", "%s sent back: %s applied, %s too late, %s dropped",
                      aq_figure_count(&sent, (double)use->priorities_sent),
                      aq_figure_count(&applied, (double)use->priorities_applied),
                      aq_figure_count(&stale, (double)use->priorities_stale),
                      aq_figure_count(&dropped, (double)use->priorities_dropped));
    }
}

static void print_use(FILE *out, const Actorq__V1__ReplayUseStatus *use)
{
    aq_figure answers, each, actors, answer, shard, trouble;
    aq_print_fact(
        out, "samples", "%s answers, %s each; %" PRIu64 " times not yet, %" PRIu64 " failed",
        aq_figure_count(&answers, (double)use->answers),
        aq_figure_duration(&each, use->answer_ms_mean / 1000), use->not_yet, use->failures);
    aq_print_fact(out, "waited",
                  "for actors %s, for answers %s, for a shard to join %s, for one to be reached %s",
                  aq_figure_duration(&actors, use->waited_limiter_s),
                  aq_figure_duration(&answer, use->waited_answer_s),
                  aq_figure_duration(&shard, use->waited_no_shard_s),
                  aq_figure_duration(&trouble, use->waited_trouble_s));
    print_staleness(out, "trained on", use->staleness, use->n_staleness);
    print_priorities(out, use);
}

/* ---- pages ---------------------------------------------------------------------------------- */

void aq_status_replay_print_sum(FILE *out, const Actorq__V1__ReplayStats *stats)
{
    aq_figure count, rate;
    print_holdings(out, stats);
    aq_print_fact(out, "inserted", "%s %s, %s/s", aq_figure_count(&count, (double)stats->inserted),
                  unit_of(stats), aq_figure_rate(&rate, stats->insert_per_s));
    aq_print_fact(out, "sampled", "%s items, %s/s", aq_figure_count(&count, (double)stats->sampled),
                  aq_figure_rate(&rate, stats->sample_per_s));
    aq_print_fact(out, "messages", "%" PRIu64 " repeats, %" PRIu64 " gaps, %" PRIu64 " refused",
                  stats->duplicates, stats->gaps, stats->rejected);
    if (stats->outdated > 0) {
        aq_print_fact(out, "outdated", "%s %s, dropped unlearned",
                      aq_figure_count(&count, (double)stats->outdated), unit_of(stats));
    }
    print_times(out, stats);
    print_freshness(out, stats);
    print_log(out, stats);
}

int aq_status_replay_print_shard(FILE *out, const Actorq__V1__ReplayStats *stats)
{
    print_waiting(out, stats);
    aq_status_replay_print_sum(out, stats);
    return print_tables(out, stats);
}

int aq_status_replay_print_run(FILE *out, const Actorq__V1__StatusReply *status)
{
    size_t shards = 0;
    aq_replay_said sum;
    if (status->learner && status->learner->replay_use) {
        print_use(out, status->learner->replay_use);
    }
    aq_replay_said_clear(&sum);
    for (size_t i = 0; i < status->n_members; i++) {
        if (status->members[i]->replay) {
            aq_replay_said_add(&sum, status->members[i]->replay);
            shards++;
        }
    }
    if (shards == 0) {
        return 0;
    }
    print_holdings(out, &sum.stats);
    print_times(out, &sum.stats);
    print_freshness(out, &sum.stats);
    print_log(out, &sum.stats);
    return sum.stats.n_tables > 1 ? print_tables(out, &sum.stats) : 0;
}
