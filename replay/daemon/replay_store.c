/*
 * The folder is opened on the loop's thread: a shard that has not read its steps has nothing to
 * serve.
 */
#include "replay/daemon/replay_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/rng.h"
#include "common/sys/file.h"
#include "common/sys/folder_lock.h"
#include "common/wire/wire_run.h"
#include "replay/disk/segment_folder.h"
#include "replay/disk/segment_log.h"
#include "replay/disk/slot_file.h"

enum {
    DAMAGED_LINES_MAX = 16, /* the others are counted */
};

/* What may wait for the disk: a second of a slow one. */
#define BACKLOG_BYTES_MIN ((uint64_t)64 << 20)

/* Steps of one process that may pass between the log's wake-ups. */
#define WAKE_INTERVAL_MIN_NS AQ_NS_PER_MS

/* Sets the draws of each shard apart from all others that follow from the run's seed. */
#define SHARD_STREAM UINT64_C(0x73686172640000) /* "shard", and the slot */

static void on_progress(uv_async_t *async)
{
    aq_replay_store *store = async->data;
    int64_t now_ns = aq_clock_monotonic_ns();
    if (now_ns - store->ticked_ns >= WAKE_INTERVAL_MIN_NS) {
        aq_replay_store_tick(store, now_ns);
    }
}

/* Any thread. */
static void wake(void *user)
{
    aq_replay_store *store = user;
    (void)uv_async_send(&store->progress);
}

static uint64_t draw_name(void)
{
    uint64_t name = aq_rng_system_seed();
    return name != 0 ? name : 1;
}

/* Who the store in the folder is. One that another process holds is refused here already, before
 * the learner would hear of the same store twice. */
static int identify(aq_replay_store *store, aq_error *error)
{
    aq_store_identity identity;
    int rc = aq_segment_folder_identify(store->folder, &identity, error);
    if (rc == AQ_E_NOT_FOUND) {
        return 0;
    }
    if (rc == 0) {
        rc = aq_folder_lock_check(store->folder, error);
    }
    if (rc != 0) {
        return rc;
    }
    store->identity = identity.store;
    store->is_new = false;
    store->slot = aq_slot_file_read(store->folder);
    store->was_in_run = aq_path_exists_in(store->folder, "slot"); /* a data set was not */
    return 0;
}

int aq_replay_store_init(aq_replay_store *store, aq_replay_service *service, uv_loop_t *loop,
                         const char *folder, uint64_t start, aq_error *error)
{
    *store = (aq_replay_store){
        .service = service,
        .folder = folder,
        .identity = draw_name(),
        .start = start,
        .is_new = true,
    };
    int rc = folder != NULL ? identify(store, error) : 0;
    if (rc != 0) {
        return rc;
    }
    rc = uv_async_init(loop, &store->progress, on_progress);
    if (rc != 0) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "no wake-ups: %s", uv_strerror(rc));
    }
    store->progress.data = store;
    return 0;
}

const char *aq_replay_store_fate(const aq_replay_store *store)
{
    const aq_replay_core *core = aq_replay_service_core(store->service);
    bool has_log = core != NULL && aq_replay_core_log_progress(core) != NULL;
    return has_log ? "the stored steps stay in their folder" : "the stored steps are dropped";
}

/* ---- settings ------------------------------------------------------------------------------ */

static bool specs_agree(const aq_table_spec *a, const aq_table_spec *b)
{
    bool agree = strcmp(a->name, b->name) == 0;
#define COMPARE(section, member) agree = agree && a->member == b->member;
    AQ_TABLE_SPEC_NUMBERS(COMPARE)
#undef COMPARE
    return agree;
}

/* Whether a store that was begun under `a` can go on as it is under `b`. */
static bool settings_agree(const aq_run_settings *a, const aq_run_settings *b)
{
    bool agree = aq_run_settings_agree(a, b, AQ_SEEN_BY_SHARDS) &&
                 a->sample_rows == b->sample_rows && a->table_count == b->table_count;
    for (uint32_t i = 0; agree && i < a->table_count; i++) {
        agree = specs_agree(&a->tables[i], &b->tables[i]);
    }
    return agree;
}

/* ---- beginning ----------------------------------------------------------------------------- */

static void tell_restored(const aq_replay_store *store, int64_t began_ns)
{
    const aq_replay_core *core = aq_replay_service_core(store->service);
    const aq_replay_restored *restored = aq_replay_core_restored(core);
    double seconds = aq_ns_to_s(aq_clock_monotonic_ns() - began_ns);
    aq_log(AQ_LOG_INFO, "store_restored",
           restored->transitions > 0 ? "" : "the folder held no steps",
           "folder=%s store=%016" PRIx64 " steps=%" PRIu64 " items=%" PRIu64 " segments=%" PRIu64
           " damaged=%" PRIu64 " inserted=%" PRIu64 " seconds=%.3f",
           AQ_LOG_QUOTED(store->folder), store->identity, restored->transitions,
           aq_replay_table_holdings(aq_replay_core_tables(core)->shelves[0].table).items,
           restored->segments, restored->damaged, aq_replay_core_counters(core).inserted, seconds);
    if (restored->changed[0] != '\0') {
        aq_log(AQ_LOG_INFO, "setting_changed",
               "the settings of the run hold, not those that the store was saved under",
               "changes=%s", AQ_LOG_QUOTED(restored->changed));
    }
}

/* Opens the folder under the core that was just begun. */
static int open_log(aq_replay_store *store, const aq_member_view *view, aq_error *error)
{
    const aq_run_settings *settings = &view->settings;
    int64_t began_ns = aq_clock_monotonic_ns();
    uint64_t backlog_bytes = 4 * settings->config.net.message_bytes;
    if (backlog_bytes < BACKLOG_BYTES_MIN) {
        backlog_bytes = BACKLOG_BYTES_MIN;
    }
    aq_layout layout = {.hash = 0};
    int rc = aq_run_settings_layout(settings, &layout, error);
    if (rc != 0) {
        return rc;
    }
    uint8_t schema[AQ_WIRE_SCHEMA_BYTES_MAX];
    const aq_segment_log_config config = {
        .folder = store->folder,
        .run_id = view->run_id,
        .schema_hash = layout.hash,
        .task = settings->task,
        .schema = schema,
        .schema_bytes = aq_wire_schema_pack(&settings->schema, schema),
        .store = store->identity,
        .segment_bytes = settings->config.replay.segment_bytes,
        .backlog_bytes = backlog_bytes,
        .fsync_ms = (uint32_t)settings->config.replay.fsync_ms,
        .compressed = settings->config.replay.compression,
        .wake = wake,
        .user = store,
    };
    aq_replay_log_recovery recovery = aq_replay_service_recovery(store->service, began_ns);
    aq_segment_log_found found;
    aq_replay_log *log;
    rc = aq_segment_log_open(&config, &recovery, &found, &log, error);
    if (rc != 0) {
        return rc;
    }
    if (found.store != store->identity) {
        log->class->close(log, NULL);
        return aq_fail(error, AQ_E_FOREIGN,
                       "%s: another store was put there since this process began", store->folder);
    }
    rc = aq_replay_service_attach(store->service, aq_clock_monotonic_ns(), log, found.last_number,
                                  backlog_bytes, store->folder);
    if (rc != 0) {
        log->class->close(log, NULL);
        return aq_fail(error, rc, "%s: %s", store->folder, aq_error_text(rc));
    }
    rc = aq_slot_file_write(store->folder, view->slot, error);
    if (rc == 0) {
        tell_restored(store, began_ns);
    }
    return rc;
}

/* `former`, if any, is of the same run. */
static int begin(aq_replay_store *store, const aq_member_view *view, const aq_replay_core *former,
                 aq_error *error)
{
    /* One that was in a run before must not draw the same rows again. */
    const bool is_first = !store->was_in_run && store->begun == 0;
    aq_rng rng;
    bool durable =
        store->folder != NULL && view->settings.config.replay.storage == AQ_STORAGE_SEGMENTS;
    aq_rng_init(&rng, view->settings.seed, SHARD_STREAM + view->slot);
    aq_rng_init(&rng, aq_rng_next(&rng), is_first ? 0 : store->start + store->begun);
    const aq_shard_run run = {
        .settings = &view->settings,
        .run_id = view->run_id,
        .store = store->identity,
        /* The first has the name of the process, by which the learner knows whose answers it gets;
         * one that is begun anew must have another, or actors would not notice. */
        .incarnation = store->begun == 0 ? store->start : aq_rng_system_seed(),
        .seed = aq_rng_next(&rng),
        .is_new = store->is_new,
    };
    if (store->folder != NULL && !durable && !store->is_new) {
        return aq_fail(error, AQ_E_EXISTS,
                       "%s holds steps, but this run keeps them in memory (replay.storage): give "
                       "another folder, or none",
                       store->folder);
    }
    store->begun++;
    store->missing = 0;
    int rc = aq_replay_service_begin(store->service, aq_clock_monotonic_ns(), &run, former, error);
    if (rc == 0 && durable) {
        rc = open_log(store, view, error);
        store->is_new = false;
    } else if (rc == 0) {
        aq_log(AQ_LOG_INFO, "store_in_memory",
               "what this shard acknowledges is gone when its process ends", "store=%016" PRIx64,
               store->identity);
    }
    return rc;
}

/* Other settings: a folder is read again under the new ones; in memory, only the counts stay. */
static int begin_anew(aq_replay_store *store, const aq_member_view *view, aq_error *error)
{
    static const char why[] = "the run has other settings now";
    const aq_replay_core *core = aq_replay_service_core(store->service);
    bool has_log = aq_replay_core_log_progress(core) != NULL;
    aq_log(AQ_LOG_WARN, has_log ? "store_reopened" : "store_cleared", why,
           "run_id=%016" PRIx64 " steps=%" PRIu64, aq_replay_core_run_id(core),
           aq_replay_core_counters(core).stored);
    if (has_log) {
        aq_replay_store_stop(store, why);
        return begin(store, view, NULL, error);
    }
    aq_replay_core *former = aq_replay_service_release(store->service, why);
    int rc = begin(store, view, former, error);
    aq_replay_core_destroy(former);
    return rc;
}

static int begin_other_run(aq_replay_store *store, const aq_member_view *view, aq_error *error)
{
    static const char why[] = "the learner is in another run";
    const aq_replay_core *core = aq_replay_service_core(store->service);
    if (aq_replay_core_log_progress(core) != NULL) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "%s holds the steps of run %016" PRIx64 "; the learner is in run %016" PRIx64
                       " now",
                       store->folder, aq_replay_core_run_id(core), view->run_id);
    }
    aq_log(AQ_LOG_WARN, "store_cleared", why, "run_id=%016" PRIx64 " steps=%" PRIu64,
           aq_replay_core_run_id(core), aq_replay_core_counters(core).stored);
    aq_replay_service_end(store->service, why);
    return begin(store, view, NULL, error);
}

int aq_replay_store_joined(aq_replay_store *store, const aq_member_view *view, int again,
                           aq_error *error)
{
    const aq_replay_core *core = aq_replay_service_core(store->service);
    if (core == NULL) {
        return begin(store, view, NULL, error);
    }
    if (!again) {
        return begin_other_run(store, view, error);
    }
    return settings_agree(aq_replay_core_settings(core), &view->settings)
               ? 0
               : begin_anew(store, view, error);
}

/* ---- the rest ------------------------------------------------------------------------------ */

/* What stops no record, and so nothing else shows. */
static void watch_trouble(aq_replay_store *store, const aq_replay_core *core, int64_t now_ns)
{
    const aq_log_progress *progress = aq_replay_core_log_progress(core);
    if (progress == NULL || progress->stuck) {
        return;
    }
    const char *trouble = aq_replay_core_log_trouble(core);
    if (strcmp(trouble, store->trouble) == 0 ||
        (trouble[0] != '\0' && !aq_log_allowed(&store->trouble_limit, now_ns))) {
        return;
    }
    (void)snprintf(store->trouble, sizeof(store->trouble), "%s", trouble);
    if (trouble[0] != '\0') {
        aq_log(AQ_LOG_WARN, "log_trouble",
               "steps are written and acknowledged all the same; it is tried again",
               "folder=%s reason=%s", AQ_LOG_QUOTED(store->folder), AQ_LOG_QUOTED(trouble));
    }
}

void aq_replay_store_stop(aq_replay_store *store, const char *reason)
{
    aq_replay_core *core = aq_replay_service_release(store->service, reason);
    aq_error refused = {0};
    if (core == NULL) {
        return;
    }
    aq_replay_core_save(core);
    watch_trouble(store, core, aq_clock_monotonic_ns());
    aq_replay_core_close(core, &refused);
    if (refused.code != 0) {
        aq_log(AQ_LOG_WARN, "log_unfinished",
               "the disk refused what was to be written last; senders have the steps that were not "
               "acknowledged",
               "folder=%s reason=%s", AQ_LOG_QUOTED(store->folder), AQ_LOG_QUOTED(refused.text));
    }
}

static void watch_log(aq_replay_store *store, const aq_replay_core *core, int64_t now_ns)
{
    const aq_log_progress *progress = aq_replay_core_log_progress(core);
    if (progress == NULL || progress->stuck == store->was_stuck ||
        !aq_log_allowed(&store->stuck_limit, now_ns)) {
        return;
    }
    store->was_stuck = progress->stuck;
    if (progress->stuck) {
        aq_log(AQ_LOG_WARN, "log_stuck",
               "nothing is acknowledged and nobody gets credit until this can be written; it is "
               "tried again every second",
               "folder=%s reason=%s backlog_bytes=%" PRIu64, AQ_LOG_QUOTED(store->folder),
               AQ_LOG_QUOTED(progress->reason), progress->backlog_bytes);
    } else {
        aq_log(AQ_LOG_INFO, "log_recovered", "steps are written and acknowledged again",
               "durable=%" PRIu64 " disk_bytes=%" PRIu64, progress->durable, progress->disk_bytes);
    }
}

/* What no file shows to be gone, its senders do. */
static void watch_missing(aq_replay_store *store, const aq_replay_core *core, int64_t now_ns)
{
    const uint64_t missing = aq_replay_core_counters(core).missing;
    if (missing <= store->missing || !aq_log_allowed(&store->missing_limit, now_ns)) {
        return;
    }
    store->missing = missing;
    aq_log(AQ_LOG_WARN, "messages_missing",
           "senders know them to be acknowledged, but no file has them: files of the folder are "
           "gone, or it is an older copy",
           "folder=%s messages=%" PRIu64, AQ_LOG_QUOTED(store->folder), missing);
}

static void watch_memory(aq_replay_store *store, const aq_replay_core *core)
{
    const aq_error *demotion = aq_replay_core_demotion(core);
    if (demotion->code != 0 && store->demotion_code == 0) {
        aq_log(AQ_LOG_WARN, "memory_over_budget",
               "steps stay in memory beyond replay.memory_bytes; it is tried again", "reason=%s",
               AQ_LOG_QUOTED(demotion->text));
    }
    store->demotion_code = demotion->code;
}

void aq_replay_store_tick(aq_replay_store *store, int64_t now_ns)
{
    aq_replay_service_tick(store->service, now_ns);
    store->ticked_ns = now_ns;
    const aq_replay_core *core = aq_replay_service_core(store->service);
    if (core != NULL) {
        watch_log(store, core, now_ns);
        watch_trouble(store, core, now_ns);
        watch_missing(store, core, now_ns);
        watch_memory(store, core);
    }
}

void aq_replay_store_damaged(aq_replay_store *store, const char *what)
{
    store->damaged++;
    if (store->damaged <= DAMAGED_LINES_MAX) {
        aq_log(AQ_LOG_WARN, "record_damaged", "it is left out; everything else is kept", "what=%s",
               AQ_LOG_QUOTED(what));
    }
}
