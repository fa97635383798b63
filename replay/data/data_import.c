/*
 * The blocks are packed (data_packer.h) and handed to a segment log, whose thread writes them; when
 * too much waits, this one waits for it.
 *
 * Nobody else knows the folder meanwhile, so it is emptied by name when something fails.
 */
#include "replay/data/data_import.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/base/mutex.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "common/sys/file.h"
#include "common/wire/wire_run.h"
#include "replay/data/data_lanes.h"
#include "replay/data/data_packer.h"
#include "replay/disk/segment_log.h"

enum { BACKLOG_BYTES = 64 << 20 };

typedef struct importing {
    aq_data_set_reader *reader;
    const aq_data_import *import;
    char folder[PATH_MAX];
    aq_layout layout; /* of the chunks that are made */
    aq_replay_log *log;
    uint64_t number;
    uint64_t transitions;
    aq_data_lanes *marks; /* of each sender an aq_log_mark */
    pthread_mutex_t mutex;
    pthread_cond_t news;
    uint64_t wakes;
} importing;

/* ---- the log --------------------------------------------------------------------------------- */

static void on_wake(void *user)
{
    importing *work = user;
    aq_mutex_lock(&work->mutex);
    work->wakes++;
    pthread_cond_signal(&work->news);
    aq_mutex_unlock(&work->mutex);
}

/* Until the log has news since `seen`. */
static void wait_for_news(importing *work, uint64_t seen)
{
    aq_mutex_lock(&work->mutex);
    while (work->wakes == seen) {
        pthread_cond_wait(&work->news, &work->mutex);
    }
    aq_mutex_unlock(&work->mutex);
}

static uint64_t wakes(importing *work)
{
    aq_mutex_lock(&work->mutex);
    const uint64_t seen = work->wakes;
    aq_mutex_unlock(&work->mutex);
    return seen;
}

/* A disk that is full ends an import: nobody waits for room. */
static int check_log(importing *work, aq_log_progress *ret_progress, aq_error *error)
{
    work->log->class->poll(work->log, ret_progress);
    return ret_progress->stuck ? aq_fail(error, AQ_E_IO, "%s", ret_progress->reason) : 0;
}

static int begin_segment(importing *work, aq_error *error)
{
    const size_t count = aq_data_lanes_count(work->marks);
    uint64_t segment;
    aq_log_mark *marks = aq_alloc(count, sizeof(*marks));
    if (marks == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        marks[i] = *(const aq_log_mark *)aq_data_lanes_at(work->marks, i)->memory;
    }
    const aq_log_head head = {.inserted = work->transitions, .mark_count = count, .marks = marks};
    int rc;
    for (;;) {
        aq_log_progress progress;
        const uint64_t seen = wakes(work);
        rc = work->log->class->begin(work->log, &head, &segment);
        if (rc != AQ_E_FULL) {
            break;
        }
        rc = check_log(work, &progress, error);
        if (rc != 0) {
            aq_free(marks);
            return rc;
        }
        wait_for_news(work, seen);
    }
    aq_free(marks);
    return rc != 0 ? aq_fail(error, rc, "a segment: %s", aq_error_text(rc)) : 0;
}

static int append(importing *work, const aq_data_message *message, aq_error *error)
{
    for (;;) {
        uint64_t segment;
        aq_log_progress progress;
        const uint64_t seen = wakes(work);
        int rc = work->log->class->wants_head(work->log) ? begin_segment(work, error) : 0;
        if (rc != 0) {
            return rc;
        }
        rc = work->log->class->append(work->log, work->number + 1, message->frame, &segment);
        if (rc == 0) {
            work->number++;
            return 0;
        }
        if (rc != AQ_E_FULL) {
            return aq_fail(error, rc, "a record: %s", aq_error_text(rc));
        }
        rc = check_log(work, &progress, error);
        if (rc != 0) {
            return rc;
        }
        wait_for_news(work, seen);
    }
}

static int on_message(void *user, const aq_data_message *message, aq_error *error)
{
    importing *work = user;
    aq_data_lane *sender;
    int rc = append(work, message, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_data_lanes_find(work->marks, message->actor, message->incarnation, AQ_DATA_LANE_ALL,
                            &sender);
    if (rc != 0) {
        return aq_fail(error, rc, "the senders of a data set: %s", aq_error_text(rc));
    }
    *(aq_log_mark *)sender->memory = (aq_log_mark){
        .actor = message->actor,
        .incarnation = message->incarnation,
        .acknowledged = message->seq,
        .transitions = message->transitions_total,
    };
    work->transitions += message->transitions;
    return 0;
}

static int settle(importing *work, aq_error *error)
{
    for (;;) {
        aq_log_progress progress;
        const uint64_t seen = wakes(work);
        int rc = check_log(work, &progress, error);
        if (rc != 0 || progress.durable >= work->number) {
            return rc;
        }
        wait_for_news(work, seen);
    }
}

/* ---- the folder ------------------------------------------------------------------------------ */

/* Without slashes at its end: what is made beside it must not lie in it. */
static int name_length(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    return length < PATH_MAX ? (int)length : PATH_MAX;
}

static void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (dir != NULL) {
        for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
            (void)unlinkat(dirfd(dir), entry->d_name, 0); /* "." and ".." refuse */
        }
        (void)closedir(dir);
        (void)rmdir(path);
    }
}

static int open_log(importing *work, aq_error *error)
{
    aq_data_set_info info = *aq_data_set_reader_info(work->reader);
    info.recorded_count = work->import->standard_columns ? 0 : info.recorded_count;
    int rc = aq_data_set_run_layout(&info, work->import->n_step, work->import->chunk_length,
                                    &work->layout, error);
    if (rc != 0) {
        return rc;
    }
    uint8_t schema[AQ_WIRE_SCHEMA_BYTES_MAX];
    const aq_segment_log_config config = {
        .folder = work->folder,
        .run_id = work->import->run_id,
        .schema_hash = work->layout.hash,
        .task = info.task,
        .schema = schema,
        .schema_bytes = aq_wire_schema_pack(&info.schema, schema),
        .store = aq_rng_system_seed() | 1,
        .segment_bytes = work->import->segment_bytes,
        .backlog_bytes = BACKLOG_BYTES,
        .fsync_ms = 0, /* what settles is on the disk: the folder gets its name after that */
        .compressed = work->import->compressed,
        .wake = on_wake,
        .user = work,
    };
    const aq_replay_log_recovery nothing = {0}; /* is in a new folder */
    aq_segment_log_found found;
    return aq_segment_log_open(&config, &nothing, &found, &work->log, error);
}

/* ---- the work -------------------------------------------------------------------------------- */

static int copy(importing *work, aq_data_imported *ret_imported, aq_error *error)
{
    const aq_data_packing packing = {
        .layout = work->layout,
        .run_id = work->import->run_id,
        .message_bytes = work->import->message_bytes,
        .send = on_message,
        .user = work,
    };
    uint64_t left_out;
    int rc = aq_data_pack(work->reader, &packing, &work->import->progress, &left_out, error);
    if (rc == 0) {
        rc = settle(work, error);
    }
    if (rc == 0) {
        *ret_imported = (aq_data_imported){
            .transitions = work->transitions,
            .messages = work->number,
            .left_out = left_out,
        };
    }
    return rc;
}

static int fill_folder(importing *work, aq_data_imported *ret_imported, aq_error *error)
{
    int rc = aq_data_lanes_create(sizeof(aq_log_mark), &work->marks);
    if (rc != 0) {
        return aq_fail(error, rc, "out of memory");
    }
    rc = open_log(work, error);
    if (rc == 0) {
        rc = copy(work, ret_imported, error);
        work->log->class->close(work->log);
    }
    aq_data_lanes_destroy(work->marks);
    return rc;
}

int aq_data_import_folder(aq_data_set_reader *reader, const aq_data_import *import,
                          aq_data_imported *ret_imported, aq_error *error)
{
    aq_data_imported imported;
    if (aq_path_exists(import->folder)) {
        return aq_fail(error, AQ_E_EXISTS,
                       "%s exists already; a data set is imported into a new folder",
                       import->folder);
    }
    importing *work = aq_alloc(1, sizeof(*work));
    if (work == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    work->reader = reader;
    work->import = import;
    (void)pthread_mutex_init(&work->mutex, NULL);
    (void)pthread_cond_init(&work->news, NULL);
    int rc = aq_text_format(work->folder, sizeof(work->folder), "%.*s.importing-%016" PRIx64,
                            name_length(import->folder), import->folder, aq_rng_system_seed());
    if (rc != 0) {
        rc = aq_fail(error, rc, "the path of the folder is too long");
    } else {
        rc = fill_folder(work, &imported, error);
        if (rc == 0 && rename(work->folder, import->folder) != 0) {
            rc = aq_fail(error, aq_error_from_errno(errno), "%s: can't make the folder: %s",
                         import->folder, strerror(errno));
        }
        if (rc != 0) {
            remove_folder(work->folder);
        }
    }
    (void)pthread_cond_destroy(&work->news);
    (void)pthread_mutex_destroy(&work->mutex);
    aq_free(work);
    if (rc == 0) {
        *ret_imported = imported;
    }
    return rc;
}
