/*
 * Member statistics: see member_stats.h.
 */
#include "learner/service/member_stats.h"

#include "common/base/growing.h"
#include "common/base/memory.h"

void aq_member_stats_fini(aq_member_stats *stats)
{
    for (size_t i = 0; i < stats->count; i++) {
        aq_free(stats->rows[i].replay);
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
        row->actor = *request->actor;
        row->actor.base.n_unknown_fields = 0;
        row->actor.base.unknown_fields = NULL;
        row->has_actor = true;
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
    aq_free(row->replay);
    *row = stats->rows[--stats->count];
}
