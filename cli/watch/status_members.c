/*
 * Status members: see status_members.h.
 */
#include "cli/watch/status_members.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text/figure_text.h"
#include "cli/text/text_table.h"
#include "common/base/memory.h"
#include "common/config/run_names.h"

typedef Actorq__V1__MemberStatus member_status;

/* One table: its columns, whom it is about, and one row of it. */
typedef struct member_table {
    const aq_table_column *columns;
    bool (*is_about)(const member_status *member);
    void (*add)(aq_text_table *table, const member_status *member);
} member_table;

static bool is_replay(const member_status *member)
{
    return member->role == ACTORQ__V1__ROLE__ROLE_REPLAY;
}

static bool is_no_replay(const member_status *member)
{
    return !is_replay(member);
}

static bool is_any(const member_status *member)
{
    (void)member;
    return true;
}

static void add_duration_ms(aq_text_table *table, uint64_t duration_ms)
{
    aq_figure room;
    aq_text_table_cell(table, "%s", aq_figure_duration(&room, (double)duration_ms / 1000));
}

/* How long ago it was heard, and whether it was asked to leave. */
static void add_heard(aq_text_table *table, const Actorq__V1__MemberStatus *member)
{
    aq_figure heard;
    aq_text_table_cell(table, "%s%s",
                       aq_figure_duration(&heard, (double)member->heartbeat_ms / 1000),
                       member->leaving ? ", leaves" : "");
}

static void add_count(aq_text_table *table, double count)
{
    aq_figure room;
    aq_text_table_cell(table, "%s", aq_figure_count(&room, count));
}

static void add_rate(aq_text_table *table, double per_s)
{
    aq_figure room;
    aq_text_table_cell(table, "%s", aq_figure_rate(&room, per_s));
}

static void add_bytes(aq_text_table *table, uint64_t bytes)
{
    aq_figure room;
    aq_text_table_cell(table, "%s", aq_figure_bytes(&room, (double)bytes));
}

/* ---- what the learner knows ----------------------------------------------------------------- */

/* The columns that both kinds have: role, slot, host, pid, heard. */
static void add_member(aq_text_table *table, const member_status *member)
{
    aq_text_table_row(table);
    aq_text_table_cell(table, "%s", aq_role_name((enum aq_role)member->role));
    aq_text_table_cell(table, "%" PRIu32, member->slot);
    aq_text_table_cell(table, "%s", member->host);
    aq_text_table_cell(table, "%" PRIu32, member->pid);
    add_heard(table, member);
}

static const aq_table_column actor_columns[] = {
    {"role", AQ_TABLE_LEFT},      {"slot", AQ_TABLE_RIGHT},
    {"host", AQ_TABLE_LEFT},      {"pid", AQ_TABLE_RIGHT},
    {"heard", AQ_TABLE_RIGHT},    {"version", AQ_TABLE_RIGHT},
    {"steps/s", AQ_TABLE_RIGHT},  {"steps", AQ_TABLE_RIGHT},
    {"episodes", AQ_TABLE_RIGHT}, {"return", AQ_TABLE_RIGHT},
    {"unacked", AQ_TABLE_RIGHT},  {"resent", AQ_TABLE_RIGHT},
    {"failed", AQ_TABLE_RIGHT},   {"no credit", AQ_TABLE_RIGHT},
    {"memory", AQ_TABLE_RIGHT},   {NULL},
};

static void add_actor(aq_text_table *table, const member_status *member)
{
    const Actorq__V1__ActorStats *stats = member->actor;
    aq_figure room;
    add_member(table, member);
    if (!stats) { /* joined, but no heartbeat yet */
        return;
    }
    aq_text_table_cell(table, "%" PRIu64, stats->policy_version);
    add_rate(table, stats->steps_per_s);
    add_count(table, (double)stats->env_steps);
    add_count(table, (double)stats->episodes);
    aq_text_table_cell(table, "%s", aq_figure_return(&room, stats->return_mean));
    aq_text_table_cell(table, "%" PRIu64, stats->unacknowledged);
    aq_text_table_cell(table, "%" PRIu64, stats->resent);
    aq_text_table_cell(table, "%" PRIu64, stats->env_failures);
    add_duration_ms(table, stats->waits_ms);
    add_bytes(table, stats->resident_bytes);
}

static const aq_table_column replay_columns[] = {
    {"role", AQ_TABLE_LEFT},
    {"slot", AQ_TABLE_RIGHT},
    {"host", AQ_TABLE_LEFT},
    {"pid", AQ_TABLE_RIGHT},
    {"heard", AQ_TABLE_RIGHT},
    {"stored", AQ_TABLE_RIGHT},
    {"inserted", AQ_TABLE_RIGHT},
    {"insert/s", AQ_TABLE_RIGHT},
    {"sample/s", AQ_TABLE_RIGHT},
    {"repeats", AQ_TABLE_RIGHT},
    {"gaps", AQ_TABLE_RIGHT},
    {"refused", AQ_TABLE_RIGHT},
    {"memory", AQ_TABLE_RIGHT},
    {"disk", AQ_TABLE_RIGHT},
    {"unwritten", AQ_TABLE_RIGHT},
    {"waiting", AQ_TABLE_LEFT},
    {NULL},
};

/* What stops everything comes before who waits for whom. */
static void add_waiting(aq_text_table *table, const Actorq__V1__ReplayStats *stats)
{
    aq_figure since;
    if (stats->stuck[0] != '\0') {
        aq_text_table_cell(table, "stuck: %s", stats->stuck);
    } else if (stats->waiting[0] != '\0') {
        aq_text_table_cell(table, "%s: %s", aq_figure_duration(&since, stats->waiting_s),
                           stats->waiting);
    }
}

static void add_replay(aq_text_table *table, const member_status *member)
{
    const Actorq__V1__ReplayStats *stats = member->replay;
    add_member(table, member);
    if (!stats) {
        return;
    }
    add_count(table, (double)stats->stored);
    add_count(table, (double)stats->inserted);
    add_rate(table, stats->insert_per_s);
    add_rate(table, stats->sample_per_s);
    aq_text_table_cell(table, "%" PRIu64, stats->duplicates);
    aq_text_table_cell(table, "%" PRIu64, stats->gaps);
    aq_text_table_cell(table, "%" PRIu64, stats->rejected);
    add_bytes(table, stats->resident_bytes);
    add_bytes(table, stats->disk_bytes);
    add_bytes(table, stats->backlog_bytes);
    add_waiting(table, stats);
}

/* ---- what a replay shard knows -------------------------------------------------------------- */

static const aq_table_column sender_columns[] = {
    {"actor", AQ_TABLE_RIGHT},
    {"incarnation", AQ_TABLE_LEFT},
    {"met", AQ_TABLE_RIGHT},
    {"heard", AQ_TABLE_RIGHT},
    {"steps", AQ_TABLE_RIGHT},
    {"credit", AQ_TABLE_RIGHT},
    {"taken", AQ_TABLE_RIGHT},
    {"durable", AQ_TABLE_RIGHT},
    {"repeats", AQ_TABLE_RIGHT},
    {"gaps", AQ_TABLE_RIGHT},
    {NULL},
};

static void add_sender(aq_text_table *table, const member_status *member)
{
    const Actorq__V1__IntakeStats *intake = member->intake;
    aq_text_table_row(table);
    aq_text_table_cell(table, "%" PRIu64, member->member);
    aq_text_table_cell(table, "%016" PRIx64, member->incarnation);
    add_duration_ms(table, member->joined_ms);
    add_heard(table, member);
    if (!intake) {
        return;
    }
    add_count(table, (double)intake->transitions);
    add_count(table, fmax(0, (double)intake->granted - (double)intake->transitions));
    aq_text_table_cell(table, "%" PRIu64, intake->taken);
    aq_text_table_cell(table, "%" PRIu64, intake->acknowledged);
    aq_text_table_cell(table, "%" PRIu64, intake->duplicates);
    aq_text_table_cell(table, "%" PRIu64, intake->gaps);
}

/* ---- printing ------------------------------------------------------------------------------- */

static const member_table learner_tables[] = {
    {actor_columns, is_no_replay, add_actor},
    {replay_columns, is_replay, add_replay},
};
static const member_table shard_table = {sender_columns, is_any, add_sender};

static int compare_members(const void *a, const void *b)
{
    const member_status *left = *(member_status *const *)a;
    const member_status *right = *(member_status *const *)b;
    if (left->role != right->role) {
        return left->role < right->role ? -1 : 1;
    }
    if (left->slot != right->slot) {
        return left->slot < right->slot ? -1 : 1;
    }
    return (left->member > right->member) - (left->member < right->member);
}

static int print_table(FILE *out, const member_table *kind, member_status *const *members,
                       size_t count, size_t members_max)
{
    size_t found = 0;
    aq_text_table table;
    aq_text_table_begin(&table, kind->columns);
    for (size_t i = 0; i < count; i++) {
        if (kind->is_about(members[i]) && found++ < members_max) {
            kind->add(&table, members[i]);
        }
    }
    (void)fputs(table.row_count > 0 ? "\n" : "", out);
    int rc = aq_text_table_end(&table, out);
    if (rc == 0 && found > members_max) {
        (void)fprintf(out, "  and %zu more\n", found - members_max);
    }
    return rc;
}

int aq_status_members_print(FILE *out, const Actorq__V1__StatusReply *status, size_t members_max)
{
    size_t most = members_max < AQ_TABLE_ROWS_MAX ? members_max : AQ_TABLE_ROWS_MAX;
    size_t count = status->n_members;
    member_status **members = aq_alloc(count, sizeof(member_status *));
    if (!members) {
        return AQ_E_NOMEM;
    }
    if (count) {
        memcpy(members, status->members, count * sizeof(member_status *));
        qsort(members, count, sizeof(member_status *), compare_members);
    }
    int rc = 0;
    if (status->learner) {
        rc = print_table(out, &learner_tables[0], members, count, most);
        rc = rc != 0 ? rc : print_table(out, &learner_tables[1], members, count, most);
    } else {
        rc = print_table(out, &shard_table, members, count, most);
    }
    aq_free(members);
    return rc;
}
