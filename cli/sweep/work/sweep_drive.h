/*
 * Sweep drive: the workers of a sweep on this host, from starting them to the last of them gone.
 * One that is killed is started again.
 */
#ifndef AQ_CLI_SWEEP_WORK_SWEEP_DRIVE_H
#define AQ_CLI_SWEEP_WORK_SWEEP_DRIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

enum { AQ_SWEEP_WORKERS_MAX = 1024 };

/* Until the sweep in `dir` has ended, or a signal has. `workers` 0: as many as there are processors
 * for; `quiet`: without a line of progress. Fails when no worker can work. */
int aq_sweep_drive(const char *dir, size_t workers, bool quiet, bool *ret_stopped,
                   aq_error *error) AQ_MUST_USE;

#endif
