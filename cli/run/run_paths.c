/*
 * Run paths: see run_paths.h.
 */
#include "cli/run/run_paths.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/growing.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

enum { DEPTH_MAX = 3 };

static int add(aq_run_paths *its, const char *path, size_t most, aq_error *error)
{
    int rc = aq_grow(&its->paths, &its->capacity, its->count, sizeof(*its->paths), most);
    if (rc == AQ_E_FULL) {
        return aq_fail(error, AQ_E_TOO_BIG, "there are more than %zu runs: take fewer", most);
    }
    char *copy = rc == 0 ? aq_text_copy(path) : NULL;
    if (copy == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    its->paths[its->count++] = copy;
    return 0;
}

static int find(aq_run_paths *its, const char *path, int depth, size_t most, aq_error *error)
{
    char inner[PATH_MAX];
    if (aq_path_exists_in(path, "run.json")) {
        return add(its, path, most, error);
    }
    DIR *folder = depth < DEPTH_MAX ? opendir(path) : NULL;
    if (folder == NULL) {
        return depth > 0
                   ? 0
                   : aq_fail(error, aq_error_from_errno(errno), "%s: %s", path, strerror(errno));
    }
    int rc = 0;
    for (const struct dirent *entry; rc == 0 && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] != '.' &&
            aq_text_format(inner, sizeof(inner), "%s/%s", path, entry->d_name) == 0) {
            rc = find(its, inner, depth + 1, most, error);
        }
    }
    (void)closedir(folder);
    return rc;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

int aq_run_paths_add(aq_run_paths *its, const char *folder, size_t most, aq_error *error)
{
    const size_t before = its->count;
    int rc = find(its, folder, 0, most, error);
    if (its->count > before) {
        qsort(its->paths + before, its->count - before, sizeof(*its->paths), by_name);
    }
    return rc;
}

int aq_run_names_take(void *names, const char *value, aq_error *error)
{
    aq_run_names *named = names;
    if (named->count == AQ_RUN_PATHS_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG, "at most %d runs can be named", AQ_RUN_PATHS_MAX);
    }
    named->names[named->count++] = value;
    return 0;
}

int aq_run_paths_add_named(aq_run_paths *its, const aq_run_names *named, aq_error *error)
{
    int rc = named->count > 0 ? 0 : aq_fail(error, AQ_E_INVALID, "RUN is missing; see --help");
    for (size_t i = 0; i < named->count && rc == 0; i++) {
        const size_t before = its->count;
        rc = aq_run_paths_add(its, named->names[i], AQ_RUN_PATHS_MAX, error);
        if (rc != AQ_E_NOMEM && rc != AQ_E_TOO_BIG && its->count == before) {
            rc = add(its, named->names[i], AQ_RUN_PATHS_MAX, error);
        }
    }
    return rc;
}

void aq_run_paths_fini(aq_run_paths *its)
{
    for (size_t i = 0; i < its->count; i++) {
        aq_free(its->paths[i]);
    }
    aq_free(its->paths);
    *its = (aq_run_paths){0};
}
