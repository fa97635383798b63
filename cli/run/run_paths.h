/*
 * Run paths: the run folders that a folder stands for: itself, if it is a run's, or those in it,
 * at most three folders down, as runs/ holds those of `actorq train --seeds` and `--grid`. One
 * owner.
 */
#ifndef AQ_CLI_RUN_RUN_PATHS_H
#define AQ_CLI_RUN_RUN_PATHS_H

#include <stddef.h>

#include "common/base/error.h"

enum { AQ_RUN_PATHS_MAX = 256 }; /* of a command */

/* Folders as they stand on the command line: the first member of a command's arguments. */
typedef struct aq_run_names {
    const char *names[AQ_RUN_PATHS_MAX];
    size_t count;
} aq_run_names;

/* For aq_options.more. */
int aq_run_names_take(void *names, const char *value, aq_error *error) AQ_MUST_USE;

typedef struct aq_run_paths {
    char **paths;
    size_t count, capacity;
} aq_run_paths;

/* Adds what `folder` stands for, by name; nothing, if there is no run in it. AQ_E_TOO_BIG says that
 * there would be more than `most`. */
int aq_run_paths_add(aq_run_paths *its, const char *folder, size_t most,
                     aq_error *error) AQ_MUST_USE;

/* Adds all that were named, and a folder without a run as it is, for whoever reads it to refuse.
 * AQ_E_INVALID says that none was, AQ_E_TOO_BIG that there would be more than AQ_RUN_PATHS_MAX. */
int aq_run_paths_add_named(aq_run_paths *its, const aq_run_names *named,
                           aq_error *error) AQ_MUST_USE;

void aq_run_paths_fini(aq_run_paths *its); /* one that is all zeros is fine */

#endif
