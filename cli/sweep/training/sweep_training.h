/*
 * Sweep training: a run of a study as `actorq train` trains it, and what came of it. Loop thread
 * only.
 */
#ifndef AQ_CLI_SWEEP_TRAINING_SWEEP_TRAINING_H
#define AQ_CLI_SWEEP_TRAINING_SWEEP_TRAINING_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/launch/own_child.h"
#include "cli/sweep/study/sweep_study.h"
#include "common/base/error.h"

/* DIR/NAME, NAME.json and NAME.log are a run's; see aq_sweep_run_name. A run whose predecessor was
 * solved is not trained: its folder is that one's. */
void aq_sweep_training_folder(const aq_sweep_study *study, const char *dir, size_t run, char *out,
                              size_t size);

/* Makes its folder fit for the attempt that the study knows of, whose lease holds: what is half
 * there is gone on with, what comes from another run is copied. AQ_E_AGAIN: processes of another
 * attempt are still at it. Where nobody can tell whether it is half there, nothing is changed. */
int aq_sweep_training_prepare(const aq_sweep_study *study, const char *dir, size_t run,
                              aq_error *error) AQ_MUST_USE;

/* Whether an attempt before came to a good end, and its worker was lost before it said so. Once the
 * folder is prepared. */
bool aq_sweep_training_is_over(const aq_sweep_study *study, const char *dir, size_t run);

/* Starts it, by the study's settings alone, also where it goes on. `lent_file` as of
 * own_child.h. */
int aq_sweep_training_start(const aq_sweep_study *study, const char *dir, size_t run,
                            const char *program, int lent_file, uv_loop_t *loop,
                            aq_own_child *child, aq_error *error) AQ_MUST_USE;

/* What came of it, by what it left. False: somebody stopped it, it is to go on. */
bool aq_sweep_training_outcome(const aq_sweep_study *study, const char *dir, size_t run,
                               aq_sweep_outcome *ret_outcome);

#endif
