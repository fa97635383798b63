/*
 * Log merge: see log_merge.h.
 *
 * A run has as many logs as daemons, some to some hundreds, and a person reads them: each line is
 * found by a walk over all of them.
 */
#include "cli/watch/log_merge.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "cli/watch/log_source.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

enum { SOURCES_MAX = 8192 };

struct aq_log_merge {
    char folder[PATH_MAX];
    aq_log_source *sources[SOURCES_MAX];
    size_t count;
    aq_log_source *given; /* whose line was given last; NULL: none */
};

static bool is_known(const aq_log_merge *merge, const char *name)
{
    for (size_t i = 0; i < merge->count; i++) {
        if (strcmp(aq_log_source_name(merge->sources[i]), name) == 0) {
            return true;
        }
    }
    return false;
}

/* "actor-3.log" to "actor-3"; false for another file. */
static bool take_name(const char *file, char *name)
{
    size_t length = strlen(file);
    if (length <= 4 || length - 4 >= AQ_LOG_WORD_BYTES || strcmp(file + length - 4, ".log") != 0) {
        return false;
    }
    memcpy(name, file, length - 4);
    name[length - 4] = '\0';
    return true;
}

static int add(aq_log_merge *merge, const char *file, aq_error *error)
{
    char name[AQ_LOG_WORD_BYTES];
    char path[PATH_MAX];
    if (!take_name(file, name) || is_known(merge, name)) {
        return 0;
    }
    if (merge->count == SOURCES_MAX) {
        return aq_fail(error, AQ_E_FULL, "%s: more than %d logs", merge->folder, SOURCES_MAX);
    }
    int rc = aq_path_in(path, sizeof(path), merge->folder, file, error);
    if (rc == 0) {
        rc = aq_log_source_open(path, name, &merge->sources[merge->count], error);
    }
    merge->count += rc != 0 ? 0 : 1;
    return rc;
}

int aq_log_merge_refresh(aq_log_merge *merge, aq_error *error)
{
    DIR *folder = opendir(merge->folder);
    const struct dirent *entry;
    int rc = 0;
    if (!folder) {
        return aq_fail(error, aq_error_from_errno(errno), "%s: %s", merge->folder, strerror(errno));
    }
    while (rc == 0 && (entry = readdir(folder)) != NULL) {
        rc = add(merge, entry->d_name, error);
    }
    (void)closedir(folder);
    return rc;
}

/* A run keeps its logs in a folder of their own. */
static int choose_folder(aq_log_merge *merge, const char *folder, aq_error *error)
{
    int rc = aq_text_format(merge->folder, sizeof(merge->folder), "%s/logs", folder);
    if (rc == 0 && !aq_path_exists(merge->folder)) {
        rc = aq_text_set(merge->folder, sizeof(merge->folder), folder);
    }
    return rc != 0 ? aq_fail(error, AQ_E_TOO_BIG, "%s: the path is too long", folder) : 0;
}

int aq_log_merge_open(const char *folder, aq_log_merge **ret_merge, aq_error *error)
{
    if (strstr(folder, "://")) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s: logs are read from files, so give a folder; daemons that 'actorq "
                       "train' did not start log to their own standard error, which the journal or "
                       "the container engine keeps",
                       folder);
    }
    aq_log_merge *merge = aq_alloc(1, sizeof(*merge));
    if (!merge) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    int rc = choose_folder(merge, folder, error);
    if (rc == 0) {
        rc = aq_log_merge_refresh(merge, error);
    }
    if (rc == 0 && merge->count == 0) {
        rc = aq_fail(error, AQ_E_NOT_FOUND,
                     "%s holds no logs: neither a folder logs nor files *.log; 'actorq train' "
                     "makes them, other daemons log to their own standard error",
                     folder);
    }
    if (rc != 0) {
        aq_log_merge_close(merge);
        return rc;
    }
    *ret_merge = merge;
    return 0;
}

void aq_log_merge_close(aq_log_merge *merge)
{
    if (!merge) {
        return;
    }
    for (size_t i = 0; i < merge->count; i++) {
        aq_log_source_close(merge->sources[i]);
    }
    aq_free(merge);
}

const aq_log_line *aq_log_merge_next(aq_log_merge *merge, bool is_final, const char **ret_name,
                                     const char **ret_time)
{
    aq_log_source *first = NULL;
    if (merge->given) {
        aq_log_source_take(merge->given);
        merge->given = NULL;
    }
    for (size_t i = 0; i < merge->count; i++) {
        aq_log_source *source = merge->sources[i];
        if (aq_log_source_look(source, is_final) &&
            (!first || strcmp(aq_log_source_time(source), aq_log_source_time(first)) < 0)) {
            first = source;
        }
    }
    if (!first) {
        return NULL;
    }
    merge->given = first;
    *ret_name = aq_log_source_name(first);
    *ret_time = aq_log_source_time(first);
    return aq_log_source_look(first, is_final);
}
