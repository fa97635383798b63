/*
 * Folder copy: a run's folder as another run's beginning. Any thread; no state.
 */
#ifndef AQ_CLI_SWEEP_TRAINING_FOLDER_COPY_H
#define AQ_CLI_SWEEP_TRAINING_FOLDER_COPY_H

#include "common/base/error.h"

/* Everything in `from`, but for the file `lock` of folder_lock.h: `to` is there whole or not at
 * all. It is put together as `part`, which is nobody else's and lies beside it; only a process that
 * dies leaves it behind. AQ_E_EXISTS: `to` is there already, of somebody else. */
int aq_folder_copy(const char *from, const char *part, const char *to, aq_error *error) AQ_MUST_USE;

#endif
