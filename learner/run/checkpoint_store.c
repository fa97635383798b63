/*
 * Checkpoint files.
 *
 * The folder itself is the index: it is read anew whenever a question is asked, so there is no list
 * that could disagree with it. Every write is whole or absent (aq_file_write_atomic).
 */
#include "learner/run/checkpoint_store.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

enum { PATH_TEXT_MAX = 4096, NAME_TEXT_MAX = 64 };

/* "step-%012" and up to 20 digits, ".aqc", ".tmp-" and 16 hexadecimal digits, as file.h says. */
#define NAME_PREFIX    "step-"
#define NAME_SUFFIX    ".aqc"
#define TEMPORARY_MARK ".tmp-"
enum { TEMPORARY_DIGITS = 16 };

struct aq_checkpoint_store {
    char folder[PATH_TEXT_MAX];
    char path[PATH_TEXT_MAX]; /* of the file at hand */
    unsigned kept;
    aq_buffer bytes; /* keeps its memory from file to file */
};

/* The checkpoints of steps up to some limit. */
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
    int rc = aq_text_format(store->folder, sizeof(store->folder), "%s/checkpoints", run_dir);
    if (rc != 0) {
        aq_fail(error, rc, "%s: the path is too long", run_dir);
    } else {
        rc = aq_dir_create(store->folder, error);
    }
    if (rc != 0) {
        aq_free(store);
        return rc;
    }
    store->kept = kept;
    aq_buffer_init(&store->bytes, AQ_CHECKPOINT_BYTES_MAX);
    *ret_store = store;
    return 0;
}

void aq_checkpoint_store_close(aq_checkpoint_store *store)
{
    if (store == NULL) {
        return;
    }
    aq_buffer_fini(&store->bytes);
    aq_free(store);
}

/* Sets store->path to a file of the folder. */
static int set_path(aq_checkpoint_store *store, const char *name, aq_error *error)
{
    int rc = aq_text_format(store->path, sizeof(store->path), "%s/%s", store->folder, name);

    return rc == 0 ? 0 : aq_fail(error, rc, "%s/%s: the path is too long", store->folder, name);
}

static void step_name(uint64_t step, char out[NAME_TEXT_MAX])
{
    snprintf(out, NAME_TEXT_MAX, NAME_PREFIX "%012" PRIu64 NAME_SUFFIX, step);
}

/* Whether `name` is exactly what a checkpoint's file is called. */
static bool step_of_name(const char *name, uint64_t *ret_step)
{
    const size_t prefix = sizeof(NAME_PREFIX) - 1, suffix = sizeof(NAME_SUFFIX) - 1;
    size_t length = strlen(name);
    char digits[NAME_TEXT_MAX], canonical[NAME_TEXT_MAX];
    uint64_t step;

    if (length <= prefix + suffix || length >= NAME_TEXT_MAX) {
        return false;
    }
    memcpy(digits, name + prefix, length - prefix - suffix);
    digits[length - prefix - suffix] = '\0';
    if (aq_parse_u64(digits, &step) != 0) {
        return false;
    }
    step_name(step, canonical);
    if (strcmp(name, canonical) != 0) {
        return false;
    }
    *ret_step = step;
    return true;
}

/* Whether `name` is that of a checkpoint's temporary file. */
static bool is_temporary(const char *name)
{
    const size_t tail = sizeof(TEMPORARY_MARK) - 1 + TEMPORARY_DIGITS;
    size_t length = strlen(name);
    char start[NAME_TEXT_MAX];
    uint64_t step;

    if (length <= tail || length - tail >= sizeof(start)) {
        return false;
    }
    memcpy(start, name, length - tail);
    start[length - tail] = '\0';
    const char *mark = name + length - tail;
    return step_of_name(start, &step) &&
           strncmp(mark, TEMPORARY_MARK, sizeof(TEMPORARY_MARK) - 1) == 0 &&
           strspn(mark + sizeof(TEMPORARY_MARK) - 1, "0123456789abcdef") == TEMPORARY_DIGITS;
}

static int fail_folder(const aq_checkpoint_store *store, int errno_value, aq_error *error)
{
    return aq_fail(error, aq_error_from_errno(errno_value), "%s: can't list the folder",
                   store->folder);
}

/* Calls `visit` with the name of each file. */
static int for_each_name(aq_checkpoint_store *store,
                         void (*visit)(aq_checkpoint_store *store, const char *name, void *user),
                         void *user, aq_error *error)
{
    DIR *folder = opendir(store->folder);
    const struct dirent *entry;

    if (folder == NULL) {
        return fail_folder(store, errno, error);
    }
    errno = 0; /* the only way to tell the end from a failure */
    while ((entry = readdir(folder)) != NULL) {
        visit(store, entry->d_name, user);
        errno = 0;
    }
    int errno_value = errno;
    closedir(folder);
    return errno_value == 0 ? 0 : fail_folder(store, errno_value, error);
}

typedef struct step_count {
    uint64_t limit;
    step_range range;
} step_count;

static void count_step(aq_checkpoint_store *store, const char *name, void *user)
{
    step_count *count = user;
    step_range *range = &count->range;
    uint64_t step;

    (void)store;
    if (!step_of_name(name, &step) || step > count->limit) {
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

static int find_steps(aq_checkpoint_store *store, uint64_t limit, step_range *ret_range,
                      aq_error *error)
{
    step_count count = {.limit = limit};
    int rc = for_each_name(store, count_step, &count, error);

    if (rc == 0) {
        *ret_range = count.range;
    }
    return rc;
}

static void remove_temporary(aq_checkpoint_store *store, const char *name, void *user)
{
    (void)user;
    if (is_temporary(name) && set_path(store, name, NULL) == 0) {
        unlink(store->path);
    }
}

/* Removes what is beyond `kept`, and what crashes left. Best effort: a file that can't be removed
 * now is tried again after the next write, and the checkpoint just written is safe either way. */
static void trim(aq_checkpoint_store *store, uint64_t written)
{
    step_range range;

    (void)for_each_name(store, remove_temporary, NULL, NULL);
    while (find_steps(store, UINT64_MAX, &range, NULL) == 0 && range.count > store->kept) {
        char name[NAME_TEXT_MAX];

        step_name(range.newest > written ? range.newest : range.oldest, name);
        if (set_path(store, name, NULL) != 0 || unlink(store->path) != 0) {
            return;
        }
    }
}

int aq_checkpoint_store_write(aq_checkpoint_store *store, const aq_checkpoint *checkpoint,
                              const char **ret_path, aq_error *error)
{
    char name[NAME_TEXT_MAX];

    step_name(checkpoint->learner_step, name);
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

static int check_network(const aq_net_spec *spec, const aq_checkpoint *checkpoint, aq_error *error)
{
    char found[AQ_ERROR_TEXT_MAX / 2], wanted[AQ_ERROR_TEXT_MAX / 4];

    if (aq_net_spec_hash(&checkpoint->spec) == aq_net_spec_hash(spec)) {
        return 0;
    }
    return aq_fail(error, AQ_E_FOREIGN, "it is of the network %s, this run's is %s",
                   aq_net_spec_text(&checkpoint->spec, found, sizeof(found)),
                   aq_net_spec_text(spec, wanted, sizeof(wanted)));
}

/* Reads the file at store->path. */
static int read_file(aq_checkpoint_store *store, const aq_net_spec *spec,
                     aq_checkpoint *ret_checkpoint, aq_error *error)
{
    aq_checkpoint checkpoint;

    aq_buffer_clear(&store->bytes);
    int rc = aq_file_read(store->path, &store->bytes, error);
    if (rc == 0) {
        rc = aq_wire_checkpoint_unpack(store->bytes.data, store->bytes.size, &checkpoint, error);
    }
    if (rc != 0) {
        return rc;
    }
    if (spec != NULL) {
        rc = check_network(spec, &checkpoint, error);
    }
    if (rc != 0) {
        aq_checkpoint_fini(&checkpoint);
        return rc;
    }
    *ret_checkpoint = checkpoint;
    return 0;
}

int aq_checkpoint_store_read_newest(aq_checkpoint_store *store, const aq_net_spec *spec,
                                    aq_checkpoint_skipped_fn skipped, void *user,
                                    aq_checkpoint *ret_checkpoint, aq_error *error)
{
    unsigned skipped_count = 0;
    uint64_t limit = UINT64_MAX;

    for (;;) {
        char name[NAME_TEXT_MAX];
        step_range range;
        aq_error reason = {0};
        int rc = find_steps(store, limit, &range, error);

        if (rc != 0) {
            return rc;
        }
        if (range.count == 0) {
            break;
        }
        step_name(range.newest, name);
        rc = set_path(store, name, error);
        if (rc != 0) {
            return rc;
        }
        rc = read_file(store, spec, ret_checkpoint, &reason);
        if (rc == 0) {
            return 0;
        }
        if (rc == AQ_E_NOMEM) { /* says nothing about the file */
            return aq_fail(error, rc, "%s: no memory to read it", store->path);
        }
        if (skipped != NULL) {
            skipped(user, store->path, &reason);
        }
        skipped_count++;
        if (range.newest == 0) {
            break;
        }
        limit = range.newest - 1;
    }
    return aq_fail(error, AQ_E_NOT_FOUND, "%s: no checkpoint to resume from (%u passed over)",
                   store->folder, skipped_count);
}
