/*
 * Checkpoint folder: see checkpoint_folder.h. The folder is the index: it is read anew for each
 * step down, as a learner may be writing to it and removing from it.
 */
#include "cli/train/checkpoint_folder.h"

#include <dirent.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/sys/file.h"

#define PREFIX "step-"
#define SUFFIX ".aqc"

enum { NAME_BYTES_MAX = 64, PATH_BYTES_MAX = 4096 };

/* The step in "step-000000003000.aqc"; false for another name. */
static bool step_of(const char *name, uint64_t *ret_step)
{
    const size_t around = strlen(PREFIX) + strlen(SUFFIX);
    size_t size = strlen(name);
    char digits[NAME_BYTES_MAX];
    if (size <= around || size >= NAME_BYTES_MAX || strncmp(name, PREFIX, strlen(PREFIX)) != 0 ||
        strcmp(name + size - strlen(SUFFIX), SUFFIX) != 0) {
        return false;
    }
    memcpy(digits, name + strlen(PREFIX), size - around);
    digits[size - around] = '\0';
    return aq_parse_u64(digits, ret_step) == 0;
}

/* The greatest step of a file's name that is at most `most`; its name into ret_name. */
static bool find_step(const char *folder, uint64_t most, uint64_t *ret_step, char *ret_name)
{
    bool found = false;
    uint64_t greatest = 0;
    DIR *dir = opendir(folder);
    if (!dir) {
        return false;
    }
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        uint64_t step;
        if (step_of(entry->d_name, &step) && step <= most && (!found || step > greatest)) {
            found = true;
            greatest = step;
            memcpy(ret_name, entry->d_name, strlen(entry->d_name) + 1); /* step_of: it fits */
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
    char name[NAME_BYTES_MAX];
    uint64_t most = UINT64_MAX;
    uint64_t step;
    while (find_step(folder, most, &step, name)) {
        aq_error problem = {0};
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
    char folder[PATH_BYTES_MAX];
    char name[NAME_BYTES_MAX];
    return aq_path_in(folder, sizeof(folder), run_dir, "checkpoints", NULL) == 0 &&
           find_step(folder, UINT64_MAX, ret_step, name);
}
