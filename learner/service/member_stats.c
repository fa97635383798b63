/*
 * Member statistics: see member_stats.h.
 */
#include "learner/service/member_stats.h"

#include <math.h>
#include <string.h>

#include "common/base/growing.h"
#include "common/base/memory.h"

/* Of what an environment said; a traceback's end is cut. */
enum { FAILURE_MAX = 4096 };

/* Nobody has had this long, and sums of more than that would be no numbers. */
#define LONGEST_S 1e12

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

static aq_member_stats_row *add(aq_member_stats *stats, uint64_t incarnation, enum aq_role role)
{
    if (aq_grow(&stats->rows, &stats->capacity, stats->count, sizeof(*stats->rows), SIZE_MAX) !=
        0) {
        return NULL;
    }
    aq_member_stats_row *row = &stats->rows[stats->count++];
    *row = (aq_member_stats_row){.incarnation = incarnation, .role = role};
    return row;
}

/* ---- what is spent -------------------------------------------------------------------------- */

static aq_spent spent_by(const Actorq__V1__HeartbeatRequest *request)
{
    aq_spent spent = {{0}};
    if (request->actor != NULL) {
        spent.of[AQ_SPENT_STEPS] = (double)request->actor->env_steps;
        spent.of[AQ_SPENT_INFERENCE_S] = request->actor->inference_s;
        spent.of[AQ_SPENT_ENVIRONMENT_S] = request->actor->environment_s;
        spent.of[AQ_SPENT_WAITED_S] = (double)request->actor->waits_ms * 1e-3;
        spent.of[AQ_SPENT_RUNNING_S] = request->actor->running_s;
    } else if (request->replay != NULL) {
        spent.of[AQ_SPENT_OUTDATED] = (double)request->replay->outdated;
        spent.of[AQ_SPENT_INSERTING_S] = request->replay->inserting_s;
        spent.of[AQ_SPENT_SAMPLING_S] = request->replay->sampling_s;
        spent.of[AQ_SPENT_RUNNING_S] = request->replay->running_s;
    }
    return spent;
}

/* A peer may say anything. */
static bool is_plausible(const aq_spent *spent)
{
    for (int i = AQ_SPENT_INFERENCE_S; i < AQ_SPENDINGS; i++) {
        if (!(spent->of[i] >= 0 && spent->of[i] < LONGEST_S)) {
            return false;
        }
    }
    return true;
}

/* A first heartbeat comes right after Join: what it tells was before. */
static void put_spent(aq_member_stats_row *row, const Actorq__V1__HeartbeatRequest *request)
{
    const aq_spent spent = spent_by(request);
    if ((request->actor != NULL || request->replay != NULL) && is_plausible(&spent)) {
        if (!row->has_spent) {
            row->first = spent;
        }
        row->last = spent;
        row->has_spent = true;
    }
}

static void add_spent(aq_spent *sum, const aq_member_stats_row *row)
{
    for (int i = 0; i < AQ_SPENDINGS; i++) {
        sum->of[i] += fmax(0, row->last.of[i] - row->first.of[i]);
    }
}

aq_spent aq_member_stats_spent(const aq_member_stats *stats, enum aq_role role)
{
    aq_spent sum = stats->gone[role];
    for (size_t i = 0; i < stats->count; i++) {
        if (stats->rows[i].role == role) {
            add_spent(&sum, &stats->rows[i]);
        }
    }
    return sum;
}

/* ---- what was said last --------------------------------------------------------------------- */

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

void aq_member_stats_put(aq_member_stats *stats, enum aq_role role,
                         const Actorq__V1__HeartbeatRequest *request)
{
    aq_member_stats_row *row = aq_member_stats_find(stats, request->incarnation);
    if (!row) {
        row = add(stats, request->incarnation, role);
    }
    if (!row) {
        return;
    }
    put_spent(row, request);
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
    add_spent(&stats->gone[row->role], row);
    free_row(stats, row);
    *row = stats->rows[--stats->count];
}
