/*
 * One shard: roster and trackers decide what is taken, the table holds it, the limiter counts,
 * credit shares what may still come, selector and gather make batches. This file only joins them.
 */
#include "replay/replay_core.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "replay/replay_credit.h"
#include "replay/replay_gather.h"
#include "replay/replay_limiter.h"
#include "replay/replay_roster.h"
#include "replay/replay_selector.h"
#include "replay/replay_table.h"

/* Actors fall silent without anything happening, so credit is shared anew this often at least. */
#define SHARE_INTERVAL_MAX_NS (50 * AQ_NS_PER_MS)

enum { WAITING_TEXT_MAX = 160 };

struct aq_replay_core {
    aq_run_settings settings;
    aq_chunk_layout layout;
    uint64_t run_id;
    uint64_t incarnation;
    aq_replay_table *table;
    aq_replay_roster *roster;
    aq_replay_selector selector;
    aq_replay_limiter limiter;
    aq_replay_credit credit;
    uint64_t messages, duplicates, gaps, rejected;
    int64_t share_next_ns;
    bool changed; /* since the last sharing */
    char waiting[WAITING_TEXT_MAX];
};

int aq_replay_core_create(const aq_run_settings *settings, uint64_t run_id, uint64_t incarnation,
                          uint64_t seed, aq_replay_core **ret_core, aq_error *error)
{
    aq_replay_core *core = aq_alloc(1, sizeof(*core));
    if (core == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a replay shard");
    }
    core->settings = *settings;
    core->run_id = run_id;
    core->incarnation = incarnation;
    aq_replay_selector_init(&core->selector, seed);
    aq_replay_credit_init(&core->credit, settings);
    int rc = aq_chunk_layout_init(&settings->schema, settings->n_step, settings->chunk_length,
                                  &core->layout, error);
    if (rc == 0) {
        rc = aq_replay_limiter_init(&core->limiter, settings->replay_min_size,
                                    settings->samples_per_insert, settings->tolerance,
                                    settings->sample_rows, error);
    }
    if (rc != 0) {
        goto fail;
    }
    rc = aq_replay_table_create(&core->layout, settings->replay_capacity, &core->table);
    if (rc == 0) {
        rc = aq_replay_roster_create(AQ_ROSTER_ACTORS_MAX, &core->roster);
    }
    if (rc != 0) {
        (void)aq_fail(error, rc, "no memory for a replay shard");
        goto fail;
    }
    *ret_core = core;
    return 0;
fail:
    aq_replay_core_destroy(core);
    return rc;
}

void aq_replay_core_destroy(aq_replay_core *core)
{
    if (core == NULL) {
        return;
    }
    aq_replay_table_destroy(core->table);
    aq_replay_roster_destroy(core->roster);
    aq_free(core);
}

const aq_run_settings *aq_replay_core_settings(const aq_replay_core *core)
{
    return &core->settings;
}

const aq_chunk_layout *aq_replay_core_layout(const aq_replay_core *core)
{
    return &core->layout;
}

uint64_t aq_replay_core_run_id(const aq_replay_core *core)
{
    return core->run_id;
}

uint64_t aq_replay_core_incarnation(const aq_replay_core *core)
{
    return core->incarnation;
}

/* Finds or makes the record of a message's or a call's sender. */
static int meet(aq_replay_core *core, int64_t now_ns, uint64_t actor, uint64_t incarnation,
                uint64_t acknowledged, aq_replay_actor **ret_actor, aq_error *error)
{
    int rc =
        aq_replay_roster_meet(core->roster, now_ns, actor, incarnation, acknowledged, ret_actor);
    if (rc != 0) {
        return aq_fail(error, rc,
                       "actor %" PRIu64 " is one more than the %d that a shard keeps track of",
                       actor, AQ_ROSTER_ACTORS_MAX);
    }
    aq_seq_tracker_lift(&(*ret_actor)->sequence, acknowledged);
    return 0;
}

/* The message's turn has come: moves its chunks into the table. */
static int store(aq_replay_core *core, int64_t now_ns, aq_experience *experience,
                 aq_replay_actor *actor, aq_error *error)
{
    int rc = aq_replay_table_reserve(core->table, experience->chunk_count);
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for %" PRIu32 " more chunks", experience->chunk_count);
    }
    uint64_t fresh = 0;
    for (uint32_t i = 0; i < experience->chunk_count; i++) {
        aq_chunk *chunk = experience->chunks[i];
        experience->chunks[i] = NULL;
        fresh += aq_chunk_fresh(chunk);
        aq_replay_table_insert(core->table, chunk);
    }
    aq_seq_tracker_taken(&actor->sequence);
    aq_replay_credit_received(&core->credit, actor, now_ns, fresh);
    aq_replay_limiter_inserted(&core->limiter, fresh);
    actor->transitions += fresh;
    core->messages++;
    return 0;
}

static int take(aq_replay_core *core, int64_t now_ns, aq_experience *experience,
                enum aq_replay_verdict *ret_verdict, aq_error *error)
{
    uint64_t seq = experience->seq;
    /* A message is packed while it is not acknowledged. */
    if (seq > AQ_CREDIT_COUNT_MAX || experience->acknowledged >= seq) {
        return aq_fail(error, AQ_E_INVALID,
                       "message %" PRIu64 " of an actor that knows %" PRIu64 " to be acknowledged",
                       seq, experience->acknowledged);
    }
    aq_replay_actor *actor;
    int rc = meet(core, now_ns, experience->actor, experience->incarnation,
                  experience->acknowledged, &actor, error);
    if (rc != 0) {
        return rc;
    }
    enum aq_replay_verdict verdict = aq_seq_tracker_judge(&actor->sequence, seq);
    switch (verdict) {
    case AQ_REPLAY_DUPLICATE:
        core->duplicates++;
        break;
    case AQ_REPLAY_GAP:
        core->gaps++;
        break;
    case AQ_REPLAY_STORED:
        rc = store(core, now_ns, experience, actor, error);
        break;
    }
    if (rc == 0) {
        *ret_verdict = verdict;
    }
    return rc;
}

int aq_replay_core_insert(aq_replay_core *core, int64_t now_ns, aq_experience *experience,
                          enum aq_replay_verdict *ret_verdict, aq_error *error)
{
    AQ_ASSERT(experience->run_id == core->run_id);
    int rc = take(core, now_ns, experience, ret_verdict, error);
    aq_experience_fini(experience);
    core->rejected += rc != 0;
    core->changed = true;
    return rc;
}

void aq_replay_core_reject(aq_replay_core *core)
{
    core->rejected++;
}

int aq_replay_core_called(aq_replay_core *core, int64_t now_ns, const aq_credit_call *call,
                          aq_error *error)
{
    if (call->known_acknowledged > AQ_CREDIT_COUNT_MAX ||
        call->known_granted > AQ_CREDIT_COUNT_MAX) {
        return aq_fail(error, AQ_E_INVALID,
                       "actor %" PRIu64 " knows of %" PRIu64 " messages and a grant of %" PRIu64
                       "; both are below 2^62 in any run",
                       call->actor, call->known_acknowledged, call->known_granted);
    }
    if (call->acknowledged_steps > call->known_granted) {
        return aq_fail(error, AQ_E_INVALID,
                       "actor %" PRIu64 " had %" PRIu64 " steps acknowledged of %" PRIu64
                       " that it was granted",
                       call->actor, call->acknowledged_steps, call->known_granted);
    }
    aq_replay_actor *actor;
    int rc =
        meet(core, now_ns, call->actor, call->incarnation, call->known_acknowledged, &actor, error);
    if (rc == 0) {
        aq_replay_credit_called(actor, now_ns, call->known_granted);
        aq_replay_credit_acknowledged(actor, call->acknowledged_steps);
        core->changed = true;
    }
    return rc;
}

void aq_replay_core_share(aq_replay_core *core, int64_t now_ns)
{
    if (core->changed || now_ns >= core->share_next_ns) {
        aq_replay_credit_share(&core->credit, &core->limiter, core->roster, now_ns);
        core->share_next_ns = now_ns + SHARE_INTERVAL_MAX_NS;
        core->changed = false;
    }
}

bool aq_replay_core_answer(aq_replay_core *core, int64_t now_ns, const aq_credit_call *call,
                           bool now_or_never, aq_credit *ret_credit)
{
    aq_replay_actor *actor = aq_replay_roster_find(core->roster, call->actor, call->incarnation);
    if (actor == NULL) { /* forgotten while the call was held: this process stood still that long */
        *ret_credit = (aq_credit){
            .acknowledged = call->known_acknowledged,
            .granted = call->known_granted,
            .expected = call->known_acknowledged + 1,
        };
        return true;
    }
    if (!now_or_never && !aq_replay_credit_due(&core->credit, actor, now_ns,
                                               call->known_acknowledged, call->known_granted)) {
        return false;
    }
    aq_replay_credit_answered(actor, now_ns);
    *ret_credit = (aq_credit){
        .acknowledged = actor->sequence.acknowledged,
        .granted = actor->granted,
        .expected = aq_seq_tracker_expected(&actor->sequence),
        .gaps = actor->sequence.gaps,
    };
    return true;
}

size_t aq_replay_core_actors(const aq_replay_core *core)
{
    return aq_replay_roster_count(core->roster);
}

aq_replay_actor_view aq_replay_core_actor(const aq_replay_core *core, size_t index)
{
    const aq_replay_actor *actor = aq_replay_roster_at(core->roster, index);
    return (aq_replay_actor_view){
        .actor = actor->actor,
        .incarnation = actor->incarnation,
        .received = actor->transitions,
        .heard_ns = actor->heard_ns,
        .met_ns = actor->met_ns,
    };
}

int aq_replay_core_sample(aq_replay_core *core, uint32_t rows, float discount, aq_batch *batch)
{
    AQ_ASSERT(rows >= 1);
    AQ_ASSERT(rows <= core->settings.sample_rows);
    AQ_ASSERT(rows <= batch->rows_max);
    if (!aq_replay_limiter_may_sample(&core->limiter, rows)) {
        return AQ_E_AGAIN;
    }
    aq_replay_holdings holdings = aq_replay_table_holdings(core->table);
    aq_replay_selector_draw(&core->selector, holdings.first_item, holdings.end_item, rows,
                            batch->item, batch->weight);
    batch->rows = rows;
    aq_replay_gather(core->table, &core->layout, discount, batch);
    aq_replay_limiter_sampled(&core->limiter, rows);
    core->changed = true;
    return 0;
}

aq_replay_counters aq_replay_core_counters(const aq_replay_core *core)
{
    aq_replay_holdings holdings = aq_replay_table_holdings(core->table);
    return (aq_replay_counters){
        .inserted = core->limiter.inserted,
        .sampled = core->limiter.sampled,
        .stored = holdings.transitions,
        .bytes = holdings.bytes,
        .messages = core->messages,
        .duplicates = core->duplicates,
        .gaps = core->gaps,
        .rejected = core->rejected,
    };
}

const char *aq_replay_core_waiting(aq_replay_core *core)
{
    const aq_replay_limiter *limiter = &core->limiter;
    double lead = aq_replay_limiter_lead(limiter);
    char *text = core->waiting;
    size_t size = sizeof(core->waiting);
    const char *nobody = core->credit.live == 0 ? ", but no actor is there" : "";
    if (limiter->inserted < limiter->min_size) {
        (void)snprintf(text, size, "learner waits: %" PRIu64 " of %" PRIu64 " steps%s",
                       limiter->inserted, limiter->min_size, nobody);
    } else if (!aq_replay_limiter_may_sample(limiter, limiter->rows_max)) {
        double request = limiter->rows_max / limiter->samples_per_insert;
        (void)snprintf(text, size, "learner waits: %.0f steps are missing for its next request%s",
                       fmax(1.0, ceil(request - limiter->tolerance - lead)), nobody);
    } else if (aq_replay_limiter_headroom(limiter) < core->credit.least_steps) {
        (void)snprintf(text, size, "actors wait: they are %.0f steps ahead of the learner", lead);
    } else {
        text[0] = '\0';
    }
    return text;
}
