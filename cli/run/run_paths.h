/*
 * Run paths: the run folders that a folder stands for: itself, if it is a run's, or those in it,
 * at most three folders down, as runs/ holds those of `actorq train --seeds` and `--grid`. One
 * owner.
 */
#ifndef AQ_CLI_RUN_RUN_PATHS_H
#define AQ_CLI_RUN_RUN_PATHS_H

#include <stddef.h>

#include "common/base/error.h"

typedef struct aq_run_paths {
    char **paths;
    size_t count, capacity;
} aq_run_paths;

/* Adds what `folder` stands for, by name; nothing, if there is no run in it. AQ_E_TOO_BIG says that
 * there would be more than `most`. */
int aq_run_paths_add(aq_run_paths *its, const char *folder, size_t most,
                     aq_error *error) AQ_MUST_USE;

/* Adds all of `folders`, and a folder without a run as it is, for whoever reads it to refuse. */
int aq_run_paths_add_all(aq_run_paths *its, const char *const *folders, size_t count, size_t most,
                         aq_error *error) AQ_MUST_USE;

void aq_run_paths_fini(aq_run_paths *its); /* one that is all zeros is fine */

#endif
