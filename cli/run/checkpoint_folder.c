/*
 * Checkpoint folder: see checkpoint_folder.h. The folder is the index: it is read anew for each
 * step down, as a learner may be writing to it and removing from it.
 */
#include "cli/run/checkpoint_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>

#include "common/sys/file.h"
#include "common/wire/checkpoint_name.h"

/* The greatest step of a file's name that is at most `most`. */
static int find_step(const char *folder, uint64_t most, uint64_t *ret_step, aq_error *error)
{
    bool found = false;
    uint64_t greatest = 0;
    DIR *dir = opendir(folder);
    if (!dir) {
        return aq_file_fail(error, folder, "list it");
    }
    errno = 0; /* the only way to tell the end from a failure */
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL; errno = 0) {
        uint64_t step;
        if (aq_checkpoint_name_step(entry->d_name, &step) && step <= most &&
            (!found || step > greatest)) {
            found = true;
            greatest = step;
        }
    }
    int rc = errno != 0 ? aq_file_fail(error, folder, "list it")
             : found    ? 0
                        : aq_fail(error, AQ_E_NOT_FOUND, "%s holds no checkpoint", folder);
    (void)closedir(dir);
    if (rc == 0) {
        *ret_step = greatest;
    }
    return rc;
}

static int read_checkpoint(aq_checkpoint_found *found, aq_error *error)
{
    aq_buffer bytes;
    aq_buffer_init(&bytes, AQ_CHECKPOINT_BYTES_MAX);
    int rc = aq_file_read(found->path, &bytes, error);
    if (rc == 0) {
        found->file_bytes = bytes.size;
        rc = aq_wire_checkpoint_unpack(bytes.data, bytes.size, &found->checkpoint, error);
        rc = rc != 0 ? aq_fail_context(error, rc, "%s", found->path) : 0;
    }
    aq_buffer_fini(&bytes);
    return rc;
}

int aq_checkpoint_folder_newest(const char *folder, aq_checkpoint_passed_fn passed, void *user,
                                aq_checkpoint_found *ret_found, aq_error *error)
{
    uint64_t most = UINT64_MAX;
    uint64_t step;
    int rc;
    while ((rc = find_step(folder, most, &step, error)) == 0) {
        char name[AQ_CHECKPOINT_NAME_MAX];
        aq_error problem = {0};
        aq_checkpoint_name(step, name);
        rc = aq_path_in(ret_found->path, sizeof(ret_found->path), folder, name, error);
        if (rc != 0) {
            return rc;
        }
        if (!read_checkpoint(ret_found, &problem)) {
            return 0;
        }
        passed(user, &problem);
        if (step == 0) {
            rc = AQ_E_NOT_FOUND;
            break;
        }
        most = step - 1;
    }
    return rc == AQ_E_NOT_FOUND
               ? aq_fail(error, rc, "%s holds no checkpoint that can be read", folder)
               : rc;
}

int aq_checkpoint_newest_step(const char *run_dir, uint64_t *ret_step, aq_error *error)
{
    char folder[PATH_MAX];
    int rc = aq_path_in(folder, sizeof(folder), run_dir, "checkpoints", error);
    return rc != 0 ? rc : find_step(folder, UINT64_MAX, ret_step, error);
}
