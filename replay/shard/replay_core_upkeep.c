/*
 * What is done beside the messages and calls, a portion of each at a time, so that nobody has to
 * wait for it.
 */
#include "replay/shard/replay_core_priv.h"

enum {
    DEMOTIONS_PER_STEP = 512,
    FORGETS_PER_STEP = 64,
    /* Files may take so many times what is held in them, and some segments more ... */
    DISK_PER_LIVE = 4,
    /* ... before a table that keeps old chunks for their priority has to let go. */
    SEGMENTS_ALLOWED = 4,
};

static void drop_dead_segments(aq_replay_core *core)
{
    aq_replay_log *log = core->journal.log;
    uint64_t segment;
    while (
        aq_message_store_dead_segment(core->messages, core->journal.progress.segment, &segment)) {
        log->class->drop(log, segment);
    }
}

/* What a queue holds was not drawn yet: it stays, whatever the disk says. */
static bool may_forget(const aq_table_spec *spec)
{
    return spec->selector != AQ_SELECTOR_QUEUE;
}

/* A few chunks that are kept for their priority can hold many segments. The oldest go. What was
 * dropped counts no more: the writer, which deletes it, may be held up. */
static void give_up_oldest(aq_replay_core *core)
{
    const aq_log_progress *progress = &core->journal.progress;
    aq_message_store_counts counts = aq_message_store_counts_of(core->messages);
    uint64_t live = counts.resident_bytes + counts.mapped_bytes;
    uint64_t allowed =
        DISK_PER_LIVE * live + SEGMENTS_ALLOWED * core->settings.config.replay.segment_bytes;
    for (int i = 0; i < FORGETS_PER_STEP && progress->kept_bytes > allowed; i++) {
        const aq_stored_message *oldest = aq_message_store_oldest(core->messages);
        if (oldest == NULL || oldest->segment >= progress->segment) {
            return;
        }
        uint64_t number = oldest->number;
        for (size_t table = 0; table < core->tables.count; table++) {
            aq_replay_table *at = core->tables.shelves[table].table;
            /* Every forget may have been the last hold. */
            oldest = aq_message_store_oldest(core->messages);
            if (oldest == NULL || oldest->number != number) {
                break;
            }
            if (may_forget(aq_replay_table_spec(at))) {
                aq_replay_table_forget(at, oldest);
            }
        }
        oldest = aq_message_store_oldest(core->messages);
        if (oldest != NULL && oldest->number == number) {
            return;
        }
    }
}

void aq_replay_core_upkeep(aq_replay_core *core, int64_t now_ns)
{
    if (core->journal.log != NULL) {
        bool was_stuck = core->journal.progress.stuck;
        if (aq_replay_journal_poll(&core->journal, core->roster) ||
            was_stuck != core->journal.progress.stuck) {
            core->changed = true;
        }
        core->demotion.code = aq_message_store_demote(core->messages, core->journal.log,
                                                      core->journal.progress.durable,
                                                      DEMOTIONS_PER_STEP, &core->demotion);
        give_up_oldest(core);
        drop_dead_segments(core);
        aq_replay_saver_step(&core->saver, now_ns, &core->tables, core->journal.log);
    }
    aq_replay_core_watch(core, now_ns);
}

int aq_replay_core_snapshot_now(aq_replay_core *core, uint64_t *ret_snapshots)
{
    if (core->journal.log == NULL) {
        return AQ_E_UNSUPPORTED;
    }
    *ret_snapshots = aq_replay_saver_ask(&core->saver);
    return 0;
}

void aq_replay_core_save(aq_replay_core *core)
{
    aq_replay_saver *saver = &core->saver;
    if (core->journal.log == NULL || core->inserted == 0) {
        return;
    }
    aq_replay_saver_flush(saver, &core->tables, core->journal.log);
}

const aq_log_progress *aq_replay_core_log_progress(const aq_replay_core *core)
{
    return core->journal.log != NULL ? &core->journal.progress : NULL;
}

const char *aq_replay_core_log_trouble(const aq_replay_core *core)
{
    const char *reason = core->journal.progress.reason;
    return reason[0] != '\0' ? reason : core->saver.failure.text;
}

const aq_error *aq_replay_core_demotion(const aq_replay_core *core)
{
    return &core->demotion;
}
