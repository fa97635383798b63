/*
 * Checkpoint folder: the newest checkpoint of a run that can be read, for those who only look. The
 * learner has its own store, which also writes and tidies up.
 */
#ifndef AQ_CLI_RUN_CHECKPOINT_FOLDER_H
#define AQ_CLI_RUN_CHECKPOINT_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/wire/wire_checkpoint.h"

/* What was wrong with a newer file than the one that is read; `error` names it. */
typedef void (*aq_checkpoint_passed_fn)(void *user, const aq_error *error);

typedef struct aq_checkpoint_found {
    char path[4096];
    size_t file_bytes;
    aq_checkpoint checkpoint; /* release with aq_checkpoint_fini */
} aq_checkpoint_found;

/* A step-*.aqc file of `folder`, newest first, that is whole. AQ_E_NOT_FOUND when there is none, or
 * no folder. */
int aq_checkpoint_folder_newest(const char *folder, aq_checkpoint_passed_fn passed, void *user,
                                aq_checkpoint_found *ret_found, aq_error *error) AQ_MUST_USE;

/* The step of the newest in RUN_DIR/checkpoints, by its name. AQ_E_NOT_FOUND when there is none, or
 * no folder; another error when nobody can tell. */
int aq_checkpoint_newest_step(const char *run_dir, uint64_t *ret_step, aq_error *error) AQ_MUST_USE;

#endif
