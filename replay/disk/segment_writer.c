/*
 * The writer as its caller sees it. Signals are the other threads': to this one, a file that grows
 * too large is a write that fails.
 */
#include "replay/disk/segment_writer.h"

#include <signal.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/condition.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"
#include "replay/disk/segment_writer_priv.h"

/* Entries, whatever they weigh: frames have tens of kilobytes where it matters. */
enum { QUEUE_ENTRIES = 1 << 14 };

/* ---- coming and going ----------------------------------------------------------------------- */

static int init_lock(aq_segment_writer *writer)
{
    if (pthread_mutex_init(&writer->mutex, NULL) != 0) {
        return AQ_E_NOMEM;
    }
    int rc = aq_condition_init(&writer->work);
    if (rc != 0) {
        pthread_mutex_destroy(&writer->mutex);
    }
    return rc;
}

/* Every signal is blocked in it from its first instruction on. */
static int start_thread(aq_segment_writer *writer)
{
    sigset_t all, before;
    sigfillset(&all);
    int rc = pthread_sigmask(SIG_SETMASK, &all, &before);
    AQ_ASSERT(rc == 0);
    const int created = pthread_create(&writer->thread, NULL, aq_segment_writer_run, writer);
    rc = pthread_sigmask(SIG_SETMASK, &before, NULL);
    AQ_ASSERT(rc == 0);
    return created == 0 ? 0 : AQ_E_NOMEM;
}

int aq_segment_writer_create(const aq_segment_writer_config *config, aq_segment_writer **ret_writer,
                             aq_error *error)
{
    int rc = AQ_E_NOMEM;
    aq_segment_writer *writer = aq_alloc(1, sizeof(*writer));
    if (writer == NULL) {
        goto fail;
    }
    writer->config = *config;
    writer->progress.durable = config->last_number;
    aq_segment_snapshot_init(&writer->snapshot_file, config->disk, config->folder);
    rc = aq_segment_queue_init(&writer->queue, QUEUE_ENTRIES, config->backlog_bytes);
    if (rc != 0) {
        goto fail_queue;
    }
    rc = init_lock(writer);
    if (rc != 0) {
        goto fail_lock;
    }
    rc = aq_segment_scribe_init(&writer->scribe, config->folder, config->map, config->disk,
                                config->fsync_ms == 0, config->compressed, config->headed, error);
    if (rc != 0) {
        goto fail_scribe;
    }
    rc = start_thread(writer);
    if (rc != 0) {
        goto fail_thread;
    }
    *ret_writer = writer;
    return 0;

fail_thread:
    aq_segment_scribe_fini(&writer->scribe);
fail_scribe:
    pthread_cond_destroy(&writer->work);
    pthread_mutex_destroy(&writer->mutex);
fail_lock:
    aq_segment_queue_fini(&writer->queue);
fail_queue:
    aq_free(writer);
fail:
    return rc != AQ_E_NOMEM ? rc : aq_fail(error, rc, "no memory or thread to write segments");
}

/* Of records first. What could not be deleted is deleted by the next life. */
static void tell_refused(const aq_segment_writer *writer, aq_error *error)
{
    const aq_error *snapshot = &writer->asides[AQ_WRITER_SNAPSHOT];
    if (writer->failure != AQ_WRITER_NOTHING) {
        (void)aq_fail(error, AQ_E_IO, "%s", writer->progress.reason);
    } else if (snapshot->code != 0) {
        (void)aq_fail(error, snapshot->code, "%s", snapshot->text);
    }
}

void aq_segment_writer_destroy(aq_segment_writer *writer, aq_error *error)
{
    aq_mutex_lock(&writer->mutex);
    writer->stop = true;
    pthread_cond_signal(&writer->work);
    aq_mutex_unlock(&writer->mutex);
    int rc = pthread_join(writer->thread, NULL);
    AQ_ASSERT(rc == 0);
    tell_refused(writer, error);
    aq_segment_scribe_fini(&writer->scribe);
    aq_lease_unref(writer->snapshots[0].bytes);
    aq_lease_unref(writer->snapshots[1].bytes);
    aq_segment_queue_fini(&writer->queue);
    pthread_cond_destroy(&writer->work);
    pthread_mutex_destroy(&writer->mutex);
    aq_free(writer);
}

/* ---- handing over --------------------------------------------------------------------------- */

int aq_segment_writer_begin(aq_segment_writer *writer, uint64_t segment, uint64_t next_number,
                            const aq_log_head *head)
{
    aq_mutex_lock(&writer->mutex);
    int rc = aq_segment_queue_push_head(&writer->queue, segment, next_number, head);
    if (rc == 0) {
        atomic_store(&writer->wants_segment, false);
        writer->progress.segment = segment;
        pthread_cond_signal(&writer->work);
    }
    aq_mutex_unlock(&writer->mutex);
    return rc;
}

int aq_segment_writer_append(aq_segment_writer *writer, uint64_t segment, uint64_t number,
                             aq_lease *frame)
{
    aq_mutex_lock(&writer->mutex);
    int rc = aq_segment_queue_push_frame(&writer->queue, segment, number, frame);
    if (rc == 0) {
        pthread_cond_signal(&writer->work);
    }
    aq_mutex_unlock(&writer->mutex);
    return rc;
}

int aq_segment_writer_snapshot(aq_segment_writer *writer, aq_lease *bytes, uint64_t last_number)
{
    if (bytes->size > UINT32_MAX) {
        return AQ_E_TOO_BIG;
    }
    aq_mutex_lock(&writer->mutex);
    aq_writer_snapshot *place = &writer->snapshots[writer->snapshots[0].bytes != NULL];
    aq_lease_unref(place->bytes);
    *place = (aq_writer_snapshot){
        .bytes = aq_lease_ref(bytes),
        .after = last_number,
        .handed = ++writer->handed_snapshots,
    };
    pthread_cond_signal(&writer->work);
    aq_mutex_unlock(&writer->mutex);
    return 0;
}

void aq_segment_writer_drop(aq_segment_writer *writer)
{
    aq_mutex_lock(&writer->mutex);
    writer->drop = true;
    pthread_cond_signal(&writer->work);
    aq_mutex_unlock(&writer->mutex);
}

bool aq_segment_writer_wants_segment(const aq_segment_writer *writer)
{
    return atomic_load(&writer->wants_segment);
}

void aq_segment_writer_progress(aq_segment_writer *writer, aq_log_progress *ret_progress)
{
    aq_mutex_lock(&writer->mutex);
    *ret_progress = writer->progress;
    ret_progress->backlog_bytes = writer->queue.bytes;
    for (int i = 0; i < AQ_WRITER_ASIDES && ret_progress->reason[0] == '\0'; i++) {
        memcpy(ret_progress->reason, writer->asides[i].text, sizeof(ret_progress->reason));
    }
    aq_mutex_unlock(&writer->mutex);
    aq_segment_map_bytes(writer->config.map, &ret_progress->disk_bytes, &ret_progress->kept_bytes);
}
