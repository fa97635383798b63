/*
 * An earlier life of the store: heads tell how far everybody was before a segment, records are what
 * was taken since, the snapshot what neither can tell.
 */

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "replay/shard/replay_core_priv.h"

/* Meets a sender of the earlier life. When there are too many, those go that neither the latest
 * head nor a record since knows of: that life had forgotten them, too. Where it forgot some after
 * the head, nothing tells whom; most likely who was met first, and is silent since. */
static int meet_again(aq_replay_core *core, uint64_t actor, uint64_t incarnation,
                      uint64_t acknowledged, aq_replay_actor **ret_actor)
{
    int64_t now_ns = ++core->restored_ns;
    int rc = aq_replay_core_meet(core, now_ns, actor, incarnation, acknowledged, ret_actor, NULL);
    if (rc == AQ_E_FULL) {
        aq_replay_roster_forget(core->roster, core->head_ns);
        rc = aq_replay_core_meet(core, now_ns, actor, incarnation, acknowledged, ret_actor, NULL);
    }
    if (rc == AQ_E_FULL) {
        aq_replay_roster_forget(core->roster, aq_replay_roster_oldest_ns(core->roster) + 1);
        rc = aq_replay_core_meet(core, now_ns, actor, incarnation, acknowledged, ret_actor, NULL);
    }
    return rc;
}

int aq_replay_core_restore_head(aq_replay_core *core, uint64_t segment, const aq_log_head *head)
{
    AQ_ASSERT(core->journal.log == NULL);
    int rc = aq_message_store_reserve(core->messages);
    if (rc != 0) {
        return rc;
    }
    if (segment != 0) {
        aq_message_store_open_segment(core->messages, segment);
    }
    core->head_ns = core->restored_ns + 1;
    for (uint64_t i = 0; i < head->mark_count; i++) {
        const aq_log_mark *mark = &head->marks[i];
        aq_replay_actor *actor;
        if (mark->acknowledged > AQ_CREDIT_COUNT_MAX) {
            return AQ_E_CORRUPT;
        }
        rc = meet_again(core, mark->actor, mark->incarnation, mark->acknowledged, &actor);
        if (rc != 0) {
            return rc;
        }
        if (mark->transitions > actor->transitions) {
            actor->transitions = mark->transitions;
        }
    }
    if (head->inserted > core->inserted) { /* records before it were damaged or are gone */
        core->inserted = head->inserted;
    }
    return 0;
}

static int restore(aq_replay_core *core, int64_t now_ns, uint64_t segment, uint64_t number,
                   bool mapped, aq_arrival *arrival)
{
    aq_replay_actor *actor;
    if (arrival->seq > AQ_CREDIT_COUNT_MAX || arrival->acknowledged >= arrival->seq) {
        return AQ_E_CORRUPT;
    }
    int rc = meet_again(core, arrival->actor, arrival->incarnation, arrival->acknowledged, &actor);
    if (rc != 0) {
        return rc;
    }
    if (arrival->seq <= actor->sequence.taken) {
        return 0; /* it is there twice */
    }
    aq_replay_tables_restoring(&core->tables, true);
    rc = aq_replay_tables_reserve(&core->tables, arrival);
    if (rc == 0) {
        rc = aq_message_store_reserve(core->messages);
    }
    if (rc != 0) {
        return rc;
    }
    const uint64_t fresh = aq_replay_core_keep(core, now_ns, arrival, number, segment, mapped);
    aq_seq_tracker_lift(&actor->sequence, arrival->seq);
    actor->transitions += fresh;
    core->restored.transitions += fresh;
    core->restored.segments += segment != core->restored_segment;
    core->restored_segment = segment;
    return 0;
}

int aq_replay_core_restore_record(aq_replay_core *core, int64_t now_ns, uint64_t segment,
                                  uint64_t number, bool mapped, aq_arrival *arrival)
{
    AQ_ASSERT(core->journal.log == NULL);
    int rc = restore(core, now_ns, segment, number, mapped, arrival);
    aq_arrival_unref(arrival);
    return rc;
}

int aq_replay_core_restore_snapshot(aq_replay_core *core, const uint8_t *bytes, size_t size,
                                    aq_error *error)
{
    AQ_ASSERT(core->journal.log == NULL);
    return aq_replay_snapshot_read(bytes, size, &core->tables, core->saved, error);
}

void aq_replay_core_damaged(aq_replay_core *core)
{
    core->restored.damaged++;
}

/* A snapshot is of durable records, so it counts none twice; and none that could not be read, or do
 * not fit the settings of now. */
static void lift_inserted(aq_replay_core *core)
{
    for (size_t i = 0; i < core->tables.count; i++) {
        if (core->saved[i].known && core->saved[i].inserted > core->inserted) {
            core->inserted = core->saved[i].inserted;
        }
    }
}

/* A limiter that is not known begins where neither side is ahead. */
static void restore_limiters(aq_replay_core *core)
{
    for (size_t i = 0; i < core->tables.count; i++) {
        aq_replay_shelf *shelf = &core->tables.shelves[i];
        const aq_saved_table *saved = &core->saved[i];
        const aq_table_spec *spec = aq_replay_table_spec(shelf->table);
        if (saved->known) {
            shelf->sampled = saved->items_sampled;
            shelf->prioritized = saved->prioritized;
            shelf->stale = saved->stale;
        }
        aq_replay_shelf_restore(shelf, core->inserted, saved->known ? saved->sampled : 0,
                                saved->known);
        aq_saved_table_tell_changes(saved, spec, core->restored.changed,
                                    sizeof(core->restored.changed));
    }
}

int aq_replay_core_attach(aq_replay_core *core, int64_t now_ns, aq_replay_log *log,
                          uint64_t last_number, uint64_t backlog_bytes)
{
    if (log != NULL) {
        int rc = aq_replay_journal_attach(&core->journal, log, last_number, backlog_bytes);
        if (rc != 0) {
            return rc;
        }
    }
    aq_replay_tables_restoring(&core->tables, false);
    lift_inserted(core);
    if (core->inserted > 0) {
        restore_limiters(core);
    }
    for (size_t i = 0; i < aq_replay_roster_count(core->roster); i++) {
        aq_replay_actor *actor = aq_replay_roster_at(core->roster, i);
        actor->met_ns = now_ns;
        actor->heard_ns = now_ns;
        actor->progress_ns = now_ns;
    }
    /* None of it happened in this life. */
    aq_shard_accounting fresh;
    aq_shard_accounting_init(&fresh, now_ns);
    fresh.newest_version = core->accounting.newest_version;
    core->accounting = fresh;
    core->changed = true;
    return 0;
}

const aq_replay_restored *aq_replay_core_restored(const aq_replay_core *core)
{
    return &core->restored;
}

/* What they count in all lives of the store. */
static void inherit_counts(aq_replay_core *core, const aq_replay_core *former)
{
    for (size_t i = 0; i < former->tables.count; i++) {
        const aq_replay_shelf *was = &former->tables.shelves[i];
        aq_replay_shelf *shelf =
            aq_replay_tables_find(&core->tables, aq_replay_table_spec(was->table)->name);
        if (shelf != NULL) {
            shelf->sampled = was->sampled;
            shelf->prioritized = was->prioritized;
            shelf->stale = was->stale;
        }
    }
}

int aq_replay_core_inherit(aq_replay_core *core, const aq_replay_core *former)
{
    aq_log_mark *marks = aq_alloc(AQ_ROSTER_ACTORS_MAX, sizeof(*marks));
    if (marks == NULL) {
        return AQ_E_NOMEM;
    }
    aq_log_head head = aq_replay_journal_head(former->roster, former->inserted, marks);
    int rc = aq_replay_core_restore_head(core, 0, &head);
    aq_free(marks);
    if (rc == 0) {
        inherit_counts(core, former);
    }
    return rc;
}
