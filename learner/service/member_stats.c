/*
 * Member statistics: see member_stats.h.
 */
#include "learner/service/member_stats.h"

#include <string.h>

#include "common/base/growing.h"
#include "common/base/memory.h"

/* Of what an environment said; a traceback's end is cut. */
enum { FAILURE_MAX = 4096 };

static void free_failure(aq_member_stats *stats, aq_member_stats_row *row)
{
    stats->failures -= row->env_failure != NULL;
    aq_free(row->env_failure);
    row->env_failure = NULL;
}

static void free_row(aq_member_stats *stats, aq_member_stats_row *row)
{
    free_failure(stats, row);
    aq_free(row->replay);
}

void aq_member_stats_fini(aq_member_stats *stats)
{
    for (size_t i = 0; i < stats->count; i++) {
        free_row(stats, &stats->rows[i]);
    }
    aq_free(stats->rows);
    *stats = (aq_member_stats){0};
}

aq_member_stats_row *aq_member_stats_find(const aq_member_stats *stats, uint64_t incarnation)
{
    for (size_t i = 0; i < stats->count; i++) {
        if (stats->rows[i].incarnation == incarnation) {
            return &stats->rows[i];
        }
    }
    return NULL;
}

static aq_member_stats_row *add(aq_member_stats *stats, uint64_t incarnation)
{
    if (aq_grow(&stats->rows, &stats->capacity, stats->count, sizeof(*stats->rows), SIZE_MAX) !=
        0) {
        return NULL;
    }
    aq_member_stats_row *row = &stats->rows[stats->count++];
    *row = (aq_member_stats_row){.incarnation = incarnation};
    return row;
}

static void put_actor(aq_member_stats *stats, aq_member_stats_row *row,
                      const Actorq__V1__ActorStats *said)
{
    const size_t length = strnlen(said->env_failure, FAILURE_MAX - 1);
    if (length == 0) {
        free_failure(stats, row);
    } else if (row->env_failure == NULL && stats->failures < AQ_FAILURES_KEPT) {
        row->env_failure = aq_alloc(1, FAILURE_MAX);
        stats->failures += row->env_failure != NULL;
    }
    row->actor = *said;
    row->actor.base.n_unknown_fields = 0;
    row->actor.base.unknown_fields = NULL;
    row->actor.env_failure = (char *)protobuf_c_empty_string;
    if (row->env_failure != NULL) {
        memcpy(row->env_failure, said->env_failure, length);
        row->env_failure[length] = '\0';
        row->actor.env_failure = row->env_failure;
    }
    row->has_actor = true;
}

void aq_member_stats_put(aq_member_stats *stats, const Actorq__V1__HeartbeatRequest *request)
{
    aq_member_stats_row *row = aq_member_stats_find(stats, request->incarnation);
    if (!row) {
        row = add(stats, request->incarnation);
    }
    if (!row) {
        return;
    }
    if (request->actor) {
        put_actor(stats, row, request->actor);
    }
    if (request->replay && !row->replay) {
        row->replay = aq_alloc(1, sizeof(*row->replay));
    }
    if (request->replay && row->replay) {
        aq_replay_said_copy(row->replay, request->replay);
    }
}

void aq_member_stats_remove(aq_member_stats *stats, uint64_t incarnation)
{
    aq_member_stats_row *row = aq_member_stats_find(stats, incarnation);
    if (!row) {
        return;
    }
    free_row(stats, row);
    *row = stats->rows[--stats->count];
}
