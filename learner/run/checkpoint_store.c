/*
 * Checkpoint files.
 *
 * The folder itself is the index: it is read anew whenever a question is asked, so there is no list
 * that could disagree with it. Every write is whole or absent (aq_file_write_atomic).
 */
#include "learner/run/checkpoint_store.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/sys/file.h"
#include "common/wire/checkpoint_name.h"

enum { SKIPPED_MAX = 65536 };

struct aq_checkpoint_store {
    char folder[PATH_MAX];
    char path[PATH_MAX]; /* of the file at hand */
    unsigned kept;
    aq_buffer bytes;   /* keeps its memory from file to file */
    aq_buffer skipped; /* the steps, uint64_t, that the latest reading passed over */
};

/* The checkpoints, but for those that were passed over. */
typedef struct step_range {
    uint64_t count;
    uint64_t oldest, newest;
} step_range;

int aq_checkpoint_store_open(const char *run_dir, unsigned kept, aq_checkpoint_store **ret_store,
                             aq_error *error)
{
    AQ_ASSERT(kept > 0);
    aq_checkpoint_store *store = aq_alloc(1, sizeof(*store));
    if (store == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the checkpoint store");
    }
    int rc = aq_path_in(store->folder, sizeof(store->folder), run_dir, "checkpoints", error);
    if (rc == 0) {
        rc = aq_dir_create(store->folder, error);
    }
    if (rc != 0) {
        aq_free(store);
        return rc;
    }
    aq_dir_tidy(store->folder, 0);
    store->kept = kept;
    aq_buffer_init(&store->bytes, AQ_CHECKPOINT_BYTES_MAX);
    aq_buffer_init(&store->skipped, SKIPPED_MAX * sizeof(uint64_t));
    *ret_store = store;
    return 0;
}

void aq_checkpoint_store_close(aq_checkpoint_store *store)
{
    if (store == NULL) {
        return;
    }
    aq_buffer_fini(&store->bytes);
    aq_buffer_fini(&store->skipped);
    aq_free(store);
}

/* Sets store->path to a file of the folder. */
static int set_path(aq_checkpoint_store *store, const char *name, aq_error *error)
{
    return aq_path_in(store->path, sizeof(store->path), store->folder, name, error);
}

static int fail_folder(const aq_checkpoint_store *store, int errno_value, aq_error *error)
{
    return aq_fail(error, aq_error_from_errno(errno_value), "%s: can't list the folder",
                   store->folder);
}

static bool was_skipped(const aq_checkpoint_store *store, uint64_t step)
{
    for (size_t at = 0; at < store->skipped.size; at += sizeof(step)) {
        if (memcmp(store->skipped.data + at, &step, sizeof(step)) == 0) {
            return true;
        }
    }
    return false;
}

static void count_step(const aq_checkpoint_store *store, const char *name, step_range *range)
{
    uint64_t step;

    if (!aq_checkpoint_name_step(name, &step) || was_skipped(store, step)) {
        return;
    }
    if (range->count == 0 || step < range->oldest) {
        range->oldest = step;
    }
    if (range->count == 0 || step > range->newest) {
        range->newest = step;
    }
    range->count++;
}

static int find_steps(const aq_checkpoint_store *store, step_range *ret_range, aq_error *error)
{
    DIR *folder = opendir(store->folder);
    const struct dirent *entry;
    step_range range = {0};

    if (folder == NULL) {
        return fail_folder(store, errno, error);
    }
    errno = 0; /* the only way to tell the end from a failure */
    while ((entry = readdir(folder)) != NULL) {
        count_step(store, entry->d_name, &range);
        errno = 0;
    }
    int errno_value = errno;
    closedir(folder);
    if (errno_value != 0) {
        return fail_folder(store, errno_value, error);
    }
    *ret_range = range;
    return 0;
}

int aq_checkpoint_store_count(const aq_checkpoint_store *store, uint64_t *ret_count,
                              aq_error *error)
{
    step_range range;
    int rc = find_steps(store, &range, error);

    if (rc == 0) {
        *ret_count = range.count;
    }
    return rc;
}

/* Removes what is beyond `kept`. A file that was passed over stays: it may be whole, and only this
 * process unable to read it. Best effort: what can't be removed now is tried again after the next
 * write, and the checkpoint just written is safe either way. */
static void trim(aq_checkpoint_store *store, uint64_t written)
{
    step_range range;

    while (find_steps(store, &range, NULL) == 0 && range.count > store->kept) {
        char name[AQ_CHECKPOINT_NAME_MAX];

        aq_checkpoint_name(range.newest > written ? range.newest : range.oldest, name);
        if (set_path(store, name, NULL) != 0 || unlink(store->path) != 0) {
            return;
        }
    }
}

int aq_checkpoint_store_write(aq_checkpoint_store *store, const aq_checkpoint *checkpoint,
                              const char **ret_path, aq_error *error)
{
    char name[AQ_CHECKPOINT_NAME_MAX];

    aq_checkpoint_name(checkpoint->learner_step, name);
    int rc = set_path(store, name, error);
    if (rc != 0) {
        return rc;
    }
    aq_buffer_clear(&store->bytes);
    rc = aq_wire_checkpoint_pack(checkpoint, &store->bytes);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: can't pack the checkpoint: %s", store->path,
                       aq_error_text(rc));
    }
    rc = aq_file_write_atomic(store->path, store->bytes.data, store->bytes.size, error);
    if (rc != 0) {
        return rc;
    }
    trim(store, checkpoint->learner_step);
    rc = set_path(store, name, error); /* which trim has used for others */
    AQ_ASSERT(rc == 0);
    *ret_path = store->path;
    return 0;
}

/* Reads the file at store->path. */
static int read_file(aq_checkpoint_store *store, aq_checkpoint *ret_checkpoint, aq_error *error)
{
    aq_buffer_clear(&store->bytes);
    int rc = aq_file_read(store->path, &store->bytes, error);
    return rc == 0 ? aq_wire_checkpoint_unpack(store->bytes.data, store->bytes.size, ret_checkpoint,
                                               error)
                   : rc;
}

/* Looks at the newest that was not passed over yet, and passes over it if it can't be used: then
 * AQ_E_AGAIN, *reason. */
static int read_next(aq_checkpoint_store *store, uint64_t newest, aq_checkpoint *ret_checkpoint,
                     aq_error *reason, aq_error *error)
{
    char name[AQ_CHECKPOINT_NAME_MAX];

    aq_checkpoint_name(newest, name);
    int rc = set_path(store, name, error);
    if (rc != 0) {
        return rc;
    }
    rc = read_file(store, ret_checkpoint, reason);
    if (rc == 0) {
        return 0;
    }
    if (rc == AQ_E_NOMEM || aq_buffer_append(&store->skipped, &newest, sizeof(newest)) != 0) {
        return aq_fail(error, AQ_E_NOMEM, "%s: no memory to read it", store->path);
    }
    return AQ_E_AGAIN;
}

int aq_checkpoint_store_read_newest(aq_checkpoint_store *store, aq_checkpoint_skipped_fn skipped,
                                    void *user, aq_checkpoint *ret_checkpoint, aq_error *error)
{
    aq_error reason = {0};

    aq_buffer_clear(&store->skipped);
    for (;;) {
        step_range range;
        int rc = find_steps(store, &range, error);

        if (rc != 0) {
            return rc;
        }
        if (range.count == 0) {
            break;
        }
        rc = read_next(store, range.newest, ret_checkpoint, &reason, error);
        if (rc != AQ_E_AGAIN) {
            return rc;
        }
        if (skipped != NULL) {
            skipped(user, store->path, &reason);
        }
    }
    if (store->skipped.size == 0) {
        return aq_fail(error, AQ_E_NOT_FOUND, "%s: no checkpoint to resume from", store->folder);
    }
    return aq_fail(error, AQ_E_CORRUPT,
                   "%s: none of its %zu checkpoints can be used (%s); mend what ails them, or take "
                   "another folder to begin from nothing",
                   store->folder, store->skipped.size / sizeof(uint64_t), reason.text);
}
