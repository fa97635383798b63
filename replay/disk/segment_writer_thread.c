/*
 * The writer's thread: rounds of steps, each of which is done or tried again later.
 */
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/condition.h"
#include "common/base/mutex.h"
#include "replay/disk/segment_writer_priv.h"

enum { LOOK_MAX = AQ_SEGMENT_PIECES_MAX };

static void wake(aq_segment_writer *writer)
{
    if (writer->config.wake != NULL) {
        writer->config.wake(writer->config.user);
    }
}

/* ---- what went well or didn't --------------------------------------------------------------- */

static int64_t later_ns(const aq_segment_writer *writer)
{
    return aq_clock_monotonic_ns() + writer->config.disk->retry_ms * AQ_NS_PER_MS;
}

/* Records can't be written. */
static void got_stuck(aq_segment_writer *writer, enum aq_writer_failure failure,
                      const aq_error *error)
{
    aq_mutex_lock(&writer->mutex);
    writer->progress.stuck = true;
    writer->progress.sync_failures = writer->scribe.sync_failures;
    memcpy(writer->progress.reason, error->text, sizeof(writer->progress.reason));
    aq_mutex_unlock(&writer->mutex);
    writer->failure = failure;
    writer->retry_ns = later_ns(writer);
    wake(writer);
}

static void came_loose(aq_segment_writer *writer)
{
    if (writer->failure == AQ_WRITER_NOTHING) {
        return;
    }
    aq_mutex_lock(&writer->mutex);
    writer->progress.stuck = false;
    writer->progress.reason[0] = '\0';
    aq_mutex_unlock(&writer->mutex);
    writer->failure = AQ_WRITER_NOTHING;
    writer->retry_ns = 0;
    wake(writer);
}

/* Code 0 says that it goes well again. */
static void set_aside(aq_segment_writer *writer, enum aq_writer_aside aside, const aq_error *error)
{
    writer->aside_retry_ns[aside] = error->code != 0 ? later_ns(writer) : 0;
    if (writer->asides[aside].code == 0 && error->code == 0) {
        return;
    }
    aq_mutex_lock(&writer->mutex);
    writer->asides[aside] = *error;
    aq_mutex_unlock(&writer->mutex);
    wake(writer);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void note_sync_due(aq_segment_writer *writer)
{
    if (aq_segment_scribe_is_synced(&writer->scribe)) {
        writer->sync_ns = 0;
    } else if (writer->sync_ns == 0) {
        writer->sync_ns = aq_clock_monotonic_ns() + (int64_t)writer->config.fsync_ms * AQ_NS_PER_MS;
    }
}

/* The first `count` entries, which these are, are done with. */
static void finish_items(aq_segment_writer *writer, aq_segment_item *items, size_t count)
{
    aq_mutex_lock(&writer->mutex);
    aq_segment_queue_remove(&writer->queue, count);
    for (size_t i = 0; i < count; i++) {
        if (items[i].frame != NULL) {
            writer->progress.durable = items[i].number;
        }
    }
    aq_mutex_unlock(&writer->mutex);
    for (size_t i = 0; i < count; i++) {
        aq_segment_item_fini(&items[i]);
    }
    wake(writer);
}

/* Returns whether there may be more to do at once. */
static bool step_records(aq_segment_writer *writer)
{
    aq_segment_item items[LOOK_MAX];
    aq_error error = {0};
    const uint64_t sync_failures = writer->scribe.sync_failures;
    aq_mutex_lock(&writer->mutex);
    const size_t count = aq_segment_queue_look(&writer->queue, items, LOOK_MAX);
    aq_mutex_unlock(&writer->mutex);
    size_t done = 0;
    int rc;
    if (count > 0 && items[0].head != NULL) {
        rc = aq_segment_scribe_start(&writer->scribe, &items[0], &error);
        done = rc == 0;
    } else {
        rc = aq_segment_scribe_write(&writer->scribe, items, count, &done, &error);
    }
    if (done > 0) {
        finish_items(writer, items, done);
    }
    if (rc != 0) {
        if (writer->scribe.sync_failures > sync_failures) {
            atomic_store(&writer->wants_segment, true);
        }
        got_stuck(writer, AQ_WRITER_RECORDS, &error);
    } else {
        came_loose(writer);
    }
    note_sync_due(writer);
    return rc == 0 && count > 0;
}

static bool step_sync(aq_segment_writer *writer)
{
    aq_error error = {0};
    if (aq_segment_scribe_sync(&writer->scribe, &error) == 0) {
        writer->sync_ns = 0;
        if (writer->failure == AQ_WRITER_SYNC) {
            came_loose(writer);
        }
        return true;
    }
    atomic_store(&writer->wants_segment, true);
    got_stuck(writer, AQ_WRITER_SYNC, &error);
    return false;
}

/* Room that was made lets records be tried again at once. */
static void step_delete(aq_segment_writer *writer)
{
    aq_error error = {0};
    bool any = false;
    if (writer->aside_retry_ns[AQ_WRITER_DELETING] > aq_clock_monotonic_ns()) {
        return;
    }
    int rc = aq_segment_scribe_delete(&writer->scribe, &any, &error);
    if (rc == 0 && writer->failure == AQ_WRITER_RECORDS) {
        rc = aq_segment_scribe_make_room(&writer->scribe, &any, &error);
    }
    AQ_ASSERT(rc == error.code);
    set_aside(writer, AQ_WRITER_DELETING, &error);
    if (any) {
        writer->retry_ns = 0;
        wake(writer);
    }
}

/* Whether one may be written. Under the mutex. */
static bool has_snapshot(const aq_segment_writer *writer)
{
    return writer->snapshots[0].bytes != NULL &&
           writer->snapshots[0].after <= writer->progress.durable;
}

/* Returns whether there is more of it to write. */
static bool step_snapshot(aq_segment_writer *writer)
{
    aq_error error = {0};
    bool done = false;
    int rc = 0;
    aq_mutex_lock(&writer->mutex);
    const aq_writer_snapshot next = writer->snapshots[0];
    const bool is_due = has_snapshot(writer);
    aq_mutex_unlock(&writer->mutex);
    if (!is_due) {
        return false;
    }
    if (writer->snapshot_file.fd < 0) {
        rc = aq_segment_snapshot_begin(&writer->snapshot_file, next.bytes->bytes, next.bytes->size,
                                       next.after, &error);
    }
    if (rc == 0) {
        rc = aq_segment_snapshot_go_on(&writer->snapshot_file, &done, &error);
    }
    if (rc == 0 && !done) {
        return true;
    }
    if (done) {
        aq_mutex_lock(&writer->mutex);
        writer->snapshots[0] = writer->snapshots[1];
        writer->snapshots[1] = (aq_writer_snapshot){0};
        writer->progress.snapshots = next.handed;
        aq_mutex_unlock(&writer->mutex);
        aq_lease_unref(next.bytes);
        wake(writer);
    }
    set_aside(writer, AQ_WRITER_SNAPSHOT, &error);
    return done; /* and maybe another one waits */
}

/* ---- when ----------------------------------------------------------------------------------- */

/* When the sync that is due at some time is: also while no more can be written. */
static int64_t sync_due_ns(const aq_segment_writer *writer)
{
    const bool waits = writer->failure == AQ_WRITER_SYNC && writer->retry_ns > writer->sync_ns;
    return waits ? writer->retry_ns : writer->sync_ns;
}

/* Locked. When there will be something to do: 0, at once. */
static int64_t due_ns(const aq_segment_writer *writer)
{
    int64_t due = INT64_MAX;
    if (writer->stop) {
        return 0;
    }
    if (writer->queue.count > 0 || writer->failure != AQ_WRITER_NOTHING) {
        due = writer->retry_ns;
    }
    if (writer->sync_ns != 0) {
        due = aq_earlier_ns(due, sync_due_ns(writer));
    }
    if (has_snapshot(writer)) {
        due = aq_earlier_ns(due, writer->aside_retry_ns[AQ_WRITER_SNAPSHOT]);
    }
    if (writer->drop || writer->asides[AQ_WRITER_DELETING].code != 0) {
        due = aq_earlier_ns(due, writer->aside_retry_ns[AQ_WRITER_DELETING]);
    }
    return due;
}

/* Waits for something to do. Returns whether it is to end. */
static bool wait_for_work(aq_segment_writer *writer)
{
    aq_mutex_lock(&writer->mutex);
    for (int64_t due = due_ns(writer); due > aq_clock_monotonic_ns(); due = due_ns(writer)) {
        (void)aq_condition_wait(&writer->work, &writer->mutex, due);
    }
    const bool stop = writer->stop;
    aq_mutex_unlock(&writer->mutex);
    return stop;
}

/* One round; returns whether another is due at once. Nothing is written after a sync that failed
 * until one goes well. */
static bool go_round(aq_segment_writer *writer)
{
    const int64_t now_ns = aq_clock_monotonic_ns();
    bool more = false;
    aq_mutex_lock(&writer->mutex);
    writer->drop = false;
    aq_mutex_unlock(&writer->mutex);
    if (writer->failure == AQ_WRITER_RECORDS) {
        step_delete(writer);
    }
    if (writer->retry_ns <= now_ns && (writer->failure != AQ_WRITER_SYNC || step_sync(writer))) {
        more = step_records(writer);
    }
    if (writer->aside_retry_ns[AQ_WRITER_SNAPSHOT] <= now_ns) {
        more = step_snapshot(writer) || more;
    }
    if (writer->sync_ns != 0 && sync_due_ns(writer) <= now_ns) {
        more = step_sync(writer) || more; /* it may have made a head safe */
    }
    step_delete(writer);
    return more;
}

/* A last attempt, however long ago the one before was; what the disk refuses now is given up. It
 * was never told to be durable. */
static void go_last_round(aq_segment_writer *writer)
{
    aq_error error = {0};
    writer->retry_ns = 0;
    for (int i = 0; i < AQ_WRITER_ASIDES; i++) {
        writer->aside_retry_ns[i] = 0;
    }
    while (go_round(writer)) {
    }
    if (aq_segment_scribe_sync(&writer->scribe, &error) != 0) {
        got_stuck(writer, AQ_WRITER_SYNC, &error);
    }
    step_delete(writer); /* what has been noted */
    aq_segment_snapshot_abort(&writer->snapshot_file);
}

void *aq_segment_writer_run(void *user)
{
    aq_segment_writer *writer = user;
    while (!wait_for_work(writer)) {
        while (go_round(writer)) {
        }
    }
    go_last_round(writer);
    return NULL;
}
