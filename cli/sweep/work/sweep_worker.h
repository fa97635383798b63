/*
 * Sweep worker: takes runs of a sweep, one after the other, until there are none or it is asked to
 * stop; then it gives back what it has, as far as it came.
 */
#ifndef AQ_CLI_SWEEP_WORK_SWEEP_WORKER_H
#define AQ_CLI_SWEEP_WORK_SWEEP_WORKER_H

#include <stdbool.h>

#include "common/base/error.h"

/* Works at the sweep in DIR. `quiet`: without a word for each run, on standard error.
 * *ret_stopped: a signal ended it, not the study. What becomes of a run is an event; an error is
 * that the sweep itself can't be worked at. */
int aq_sweep_work(const char *dir, bool quiet, bool *ret_stopped, aq_error *error) AQ_MUST_USE;

#endif
