/*
 * Checkpoint folder: see checkpoint_folder.h. The folder is the index: it is read anew for each
 * step down, as a learner may be writing to it and removing from it.
 */
#include "cli/run/checkpoint_folder.h"

#include <dirent.h>
#include <limits.h>

#include "common/sys/file.h"
#include "common/wire/checkpoint_name.h"

/* The greatest step of a file's name that is at most `most`. */
static bool find_step(const char *folder, uint64_t most, uint64_t *ret_step)
{
    bool found = false;
    uint64_t greatest = 0;
    DIR *dir = opendir(folder);
    if (!dir) {
        return false;
    }
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        uint64_t step;
        if (aq_checkpoint_name_step(entry->d_name, &step) && step <= most &&
            (!found || step > greatest)) {
            found = true;
            greatest = step;
        }
    }
    (void)closedir(dir);
    *ret_step = greatest;
    return found;
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
    while (find_step(folder, most, &step)) {
        char name[AQ_CHECKPOINT_NAME_MAX];
        aq_error problem = {0};
        aq_checkpoint_name(step, name);
        int rc = aq_path_in(ret_found->path, sizeof(ret_found->path), folder, name, error);
        if (rc != 0) {
            return rc;
        }
        if (!read_checkpoint(ret_found, &problem)) {
            return 0;
        }
        passed(user, &problem);
        if (step == 0) {
            break;
        }
        most = step - 1;
    }
    return aq_fail(error, AQ_E_NOT_FOUND, "%s holds no checkpoint that can be read", folder);
}

bool aq_checkpoint_newest_step(const char *run_dir, uint64_t *ret_step)
{
    char folder[PATH_MAX];
    return aq_path_in(folder, sizeof(folder), run_dir, "checkpoints", NULL) == 0 &&
           find_step(folder, UINT64_MAX, ret_step);
}
