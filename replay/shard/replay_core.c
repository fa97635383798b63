/*
 * One shard: roster and trackers decide what is taken, the journal writes it, the tables hold it,
 * their limiters count, credit shares what may still come. These files only join them:
 * replay_core.c what comes and goes, replay_core_flow.c credit and who waits, replay_core_restore.c
 * an earlier life, replay_core_upkeep.c what is done beside.
 */
#include "replay/shard/replay_core.h"

#include <inttypes.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "replay/shard/replay_core_priv.h"

/* Messages that one sender's word can make missing; nobody has sent so many. */
#define CLAIM_MAX (UINT64_C(1) << 32)

static int create_parts(aq_replay_core *core, int64_t now_ns, aq_error *error)
{
    const aq_run_settings *settings = &core->settings;
    const aq_run_config *config = &settings->config;
    int rc = aq_run_settings_layout(settings, &core->layout, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_message_store_create(aq_run_config_shard_share(config, config->replay.memory_bytes),
                                 &core->messages);
    if (rc == 0) {
        rc = aq_replay_roster_create(AQ_ROSTER_ACTORS_MAX, &core->roster);
    }
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for a replay shard");
    }
    aq_replay_saver_init(&core->saver, now_ns, (int64_t)config->replay.snapshot_ms * AQ_NS_PER_MS);
    return aq_replay_tables_init(&core->tables, settings, &core->layout, core->messages,
                                 core->run.seed, error);
}

int aq_replay_core_create(const aq_shard_run *run, int64_t now_ns, aq_replay_core **ret_core,
                          aq_error *error)
{
    AQ_ASSERT(run->store != 0);
    aq_replay_core *core = aq_alloc(1, sizeof(*core));
    if (core == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a replay shard");
    }
    core->settings = *run->settings;
    core->run = *run;
    core->run.settings = &core->settings;
    core->wait.since_ns = now_ns;
    aq_replay_credit_init(&core->credit, &core->settings);
    aq_replay_journal_init(&core->journal);
    aq_shard_accounting_init(&core->accounting, now_ns);
    int rc = create_parts(core, now_ns, error);
    if (rc != 0) {
        aq_replay_core_destroy(core);
        return rc;
    }
    *ret_core = core;
    return 0;
}

/* Tables let go of messages, messages of the log's files; then the log may close. */
void aq_replay_core_close(aq_replay_core *core, aq_error *error)
{
    aq_replay_saver_fini(&core->saver);
    aq_replay_tables_fini(&core->tables);
    aq_message_store_destroy(core->messages);
    aq_replay_journal_close(&core->journal, error);
    aq_replay_roster_destroy(core->roster);
    aq_free(core);
}

void aq_replay_core_destroy(aq_replay_core *core)
{
    if (core != NULL) {
        aq_replay_core_close(core, NULL);
    }
}

const aq_run_settings *aq_replay_core_settings(const aq_replay_core *core)
{
    return &core->settings;
}

const aq_layout *aq_replay_core_layout(const aq_replay_core *core)
{
    return &core->layout;
}

uint64_t aq_replay_core_run_id(const aq_replay_core *core)
{
    return core->run.run_id;
}

uint64_t aq_replay_core_incarnation(const aq_replay_core *core)
{
    return core->run.incarnation;
}

uint64_t aq_replay_core_store(const aq_replay_core *core)
{
    return core->run.store;
}

bool aq_replay_core_is_meant(const aq_replay_core *core, uint64_t store)
{
    return store == 0 || store == core->run.store;
}

/* ---- experience ---------------------------------------------------------------------------- */

uint64_t aq_replay_core_keep(aq_replay_core *core, int64_t now_ns, aq_arrival *arrival,
                             uint64_t number, uint64_t segment, bool mapped)
{
    aq_stored_message *message =
        aq_message_store_add(core->messages, aq_arrival_ref(arrival), number, segment, mapped);
    uint64_t fresh = 0;
    uint32_t newest = 0;
    for (uint32_t i = 0; i < arrival->chunk_count; i++) {
        const aq_chunk_view *chunk = &arrival->chunks[i];
        uint32_t version = aq_chunk_view_version(chunk, chunk->length - 1);
        fresh += aq_chunk_view_fresh(chunk);
        newest = version > newest ? version : newest;
    }
    /* A table may let chunks go while it takes others of the same message. */
    aq_message_store_hold(message);
    aq_replay_tables_insert(&core->tables, now_ns, message, fresh);
    aq_message_store_release(core->messages, message);
    aq_shard_accounting_inserted(&core->accounting, newest);
    core->inserted += fresh;
    core->stored_steps += fresh;
    core->stored_bytes += arrival->frame->size;
    return fresh;
}

uint64_t aq_replay_core_step_bytes(const aq_replay_core *core)
{
    return core->stored_steps > 0 ? core->stored_bytes / core->stored_steps + 1
                                  : core->layout.step_bytes;
}

/* Hands the message, which there is room to store, to the log, if there is one. */
static int log_message(aq_replay_core *core, const aq_arrival *arrival, uint64_t *ret_number,
                       uint64_t *ret_segment)
{
    uint64_t opened;
    if (core->journal.log == NULL) {
        *ret_number = core->journal.next_number++;
        *ret_segment = 0;
        return 0;
    }
    int rc = aq_replay_journal_begin(&core->journal, core->roster, core->inserted, &opened);
    if (rc == 0 && opened != 0) {
        aq_message_store_open_segment(core->messages, opened);
    }
    return rc == 0 ? aq_replay_journal_append(&core->journal, arrival, ret_number, ret_segment)
                   : rc;
}

/* The message's turn has come. What can fail comes before the log has it: a record of a message
 * that was not stored would come back with the next start. */
static int store(aq_replay_core *core, int64_t now_ns, aq_arrival *arrival, aq_replay_actor *actor,
                 enum aq_replay_verdict *verdict, aq_error *error)
{
    uint64_t number, segment;
    int rc = aq_replay_tables_reserve(&core->tables, arrival);
    if (rc == 0) {
        rc = aq_message_store_reserve(core->messages);
    }
    if (rc == 0) {
        rc = log_message(core, arrival, &number, &segment);
    }
    if (rc == AQ_E_FULL) {
        *verdict = AQ_REPLAY_DEFERRED;
        return 0;
    }
    if (rc != 0) {
        return aq_fail(error, rc, "%" PRIu32 " more chunks cannot be stored: %s",
                       arrival->chunk_count, aq_error_text(rc));
    }
    const uint64_t fresh = aq_replay_core_keep(core, now_ns, arrival, number, segment, false);
    aq_seq_tracker_taken(&actor->sequence);
    if (core->journal.log == NULL) {
        aq_seq_tracker_acknowledge(&actor->sequence, actor->sequence.taken);
    }
    aq_replay_credit_received(&core->credit, actor, now_ns, fresh);
    actor->transitions += fresh;
    core->taken++;
    return 0;
}

/* A sender that knows of more than the log has shows that part of the log is gone, unless the store
 * is new, and goes on for one that was in memory, or the sender was forgotten since, by this start
 * or by that which wrote the heads: then the roster was full. It is its word alone, once for a
 * start of this shard; more than anybody sends is cut, so that no word hides what others say
 * afterwards. */
static uint64_t count_missing(const aq_replay_core *core, uint64_t actor, uint64_t incarnation,
                              uint64_t acknowledged)
{
    const aq_replay_actor *known = aq_replay_roster_find(core->roster, actor, incarnation);
    const uint64_t taken = known != NULL ? known->sequence.taken : 0;
    const bool is_told = known != NULL || !aq_replay_roster_was_full(core->roster);
    if (core->journal.log == NULL || core->run.is_new || !is_told || acknowledged <= taken) {
        return 0;
    }
    return acknowledged - taken < CLAIM_MAX ? acknowledged - taken : CLAIM_MAX;
}

int aq_replay_core_meet(aq_replay_core *core, int64_t now_ns, uint64_t actor, uint64_t incarnation,
                        uint64_t acknowledged, aq_replay_actor **ret_actor, aq_error *error)
{
    const uint64_t missing = count_missing(core, actor, incarnation, acknowledged);
    int rc =
        aq_replay_roster_meet(core->roster, now_ns, actor, incarnation, acknowledged, ret_actor);
    if (rc != 0) {
        return aq_fail(error, rc,
                       "actor %" PRIu64 " is one more than the %d that a shard keeps track of",
                       actor, AQ_ROSTER_ACTORS_MAX);
    }
    aq_seq_tracker *sequence = &(*ret_actor)->sequence;
    if ((*ret_actor)->polled && acknowledged > sequence->taken) {
        return aq_fail(error, AQ_E_INVALID,
                       "actor %" PRIu64 " says that message %" PRIu64 " was acknowledged; %" PRIu64
                       " have been taken",
                       actor, acknowledged, sequence->taken);
    }
    core->missing += missing;
    aq_seq_tracker_lift(sequence, acknowledged);
    return 0;
}

static int take(aq_replay_core *core, int64_t now_ns, aq_arrival *arrival,
                enum aq_replay_verdict *ret_verdict, aq_error *error)
{
    uint64_t seq = arrival->seq;
    if (!aq_replay_core_is_meant(core, arrival->store)) {
        *ret_verdict = AQ_REPLAY_STRAY;
        return 0;
    }
    /* A message is packed while it is not acknowledged. */
    if (seq > AQ_CREDIT_COUNT_MAX || arrival->acknowledged >= seq) {
        return aq_fail(error, AQ_E_INVALID,
                       "message %" PRIu64 " of an actor that knows %" PRIu64 " to be acknowledged",
                       seq, arrival->acknowledged);
    }
    aq_replay_actor *actor;
    int rc = aq_replay_core_meet(core, now_ns, arrival->actor, arrival->incarnation,
                                 arrival->acknowledged, &actor, error);
    if (rc != 0) {
        return rc;
    }
    enum aq_replay_verdict verdict = aq_seq_tracker_judge(&actor->sequence, seq);
    if (verdict == AQ_REPLAY_STORED) {
        rc = store(core, now_ns, arrival, actor, &verdict, error);
    }
    core->duplicates += verdict == AQ_REPLAY_DUPLICATE;
    core->gaps += verdict == AQ_REPLAY_GAP;
    if (rc == 0) {
        *ret_verdict = verdict;
    }
    return rc;
}

int aq_replay_core_insert(aq_replay_core *core, int64_t now_ns, aq_arrival *arrival,
                          enum aq_replay_verdict *ret_verdict, aq_error *error)
{
    AQ_ASSERT(arrival->run_id == core->run.run_id);
    int rc = take(core, now_ns, arrival, ret_verdict, error);
    aq_arrival_unref(arrival);
    core->rejected += rc != 0;
    core->changed = true;
    return rc;
}

void aq_replay_core_reject(aq_replay_core *core)
{
    core->rejected++;
}

void aq_replay_core_pass_over(aq_replay_core *core)
{
    core->uncalled++;
}

const aq_stored_message *aq_replay_core_message_after(const aq_replay_core *core, uint64_t number)
{
    return aq_message_store_after(core->messages, number);
}

/* ---- sampling ------------------------------------------------------------------------------ */

int aq_replay_core_find_table(aq_replay_core *core, const char *name)
{
    const aq_replay_shelf *shelf = aq_replay_tables_find(&core->tables, name);
    return shelf != NULL ? (int)(shelf - core->tables.shelves) : -1;
}

void aq_replay_core_ask(aq_replay_core *core, size_t index, uint64_t steps, uint32_t version_min)
{
    AQ_ASSERT(index < core->tables.count);
    aq_replay_shelf *shelf = &core->tables.shelves[index];
    aq_replay_shelf_ask(shelf, steps, version_min);
    if (shelf->is_paced) {
        core->version_min = steps > 0 ? version_min : core->version_min;
        core->changed = true;
    }
}

bool aq_replay_core_is_paced(const aq_replay_core *core)
{
    return core->settings.versions_max > 0;
}

uint32_t aq_replay_core_rows(const aq_replay_core *core, size_t index, uint32_t steps,
                             uint32_t rows_max)
{
    AQ_ASSERT(index < core->tables.count);
    return aq_replay_shelf_rows(&core->tables.shelves[index], steps, rows_max);
}

int aq_replay_core_sample(aq_replay_core *core, int64_t now_ns, size_t index, uint32_t rows,
                          float discount, aq_batch *batch)
{
    AQ_ASSERT(index < core->tables.count);
    AQ_ASSERT(rows >= 1);
    AQ_ASSERT(rows <= core->settings.sample_rows);
    AQ_ASSERT(rows <= batch->rows_max);
    aq_replay_shelf *shelf = &core->tables.shelves[index];
    int rc = aq_replay_shelf_sample(shelf, rows, discount, batch);
    if (rc != 0) {
        return rc;
    }
    aq_shard_accounting_sampled(&core->accounting, batch, &shelf->clock, now_ns);
    core->sampled += rows;
    core->changed = true;
    return 0;
}

uint32_t aq_replay_core_prioritize(aq_replay_core *core, size_t index, const uint64_t *items,
                                   const float *priorities, uint32_t count)
{
    AQ_ASSERT(index < core->tables.count);
    aq_replay_shelf *shelf = &core->tables.shelves[index];
    uint32_t applied = 0;
    aq_replay_table_prioritize(shelf->table, items, priorities, count, &applied);
    AQ_ASSERT(applied <= count);
    shelf->prioritized += applied;
    shelf->stale += count - applied;
    return applied;
}

/* ---- statistics ---------------------------------------------------------------------------- */

static uint64_t count_outdated(const aq_replay_core *core)
{
    uint64_t outdated = 0;
    for (size_t i = 0; i < core->tables.count; i++) {
        outdated += aq_replay_table_holdings(core->tables.shelves[i].table).outdated;
    }
    return outdated;
}

aq_replay_counters aq_replay_core_counters(const aq_replay_core *core)
{
    aq_message_store_counts stored = aq_message_store_counts_of(core->messages);
    uint64_t bytes = stored.resident_bytes + stored.mapped_bytes;
    return (aq_replay_counters){
        .inserted = core->inserted,
        .sampled = core->sampled,
        .stored = aq_replay_table_holdings(core->tables.shelves[0].table).transitions,
        .bytes = bytes,
        .messages = core->taken,
        .bytes_per_step =
            core->stored_steps > 0 ? (double)core->stored_bytes / (double)core->stored_steps : 0.0,
        .duplicates = core->duplicates,
        .gaps = core->gaps,
        .rejected = core->rejected,
        .uncalled = core->uncalled,
        .missing = core->missing,
        .outdated = count_outdated(core),
    };
}

const aq_replay_tables *aq_replay_core_tables(const aq_replay_core *core)
{
    return &core->tables;
}

const aq_shard_accounting *aq_replay_core_accounting(const aq_replay_core *core)
{
    return &core->accounting;
}

aq_message_store_counts aq_replay_core_stored(const aq_replay_core *core)
{
    return aq_message_store_counts_of(core->messages);
}
