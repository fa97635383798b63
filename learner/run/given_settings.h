/*
 * Given settings: what a run was started with, kept beside what it was changed to.
 *
 * A learner is mostly started again with the arguments that it had at first, by whatever supervises
 * it. What was changed in the running system must not be lost then, but other arguments must count.
 * So config.given.yaml, which is there while a change is, holds what was given when the change was
 * made: a live setting that is given as it was then keeps what config.yaml says. Loop thread only.
 */
#ifndef AQ_LEARNER_RUN_GIVEN_SETTINGS_H
#define AQ_LEARNER_RUN_GIVEN_SETTINGS_H

#include "common/base/error.h"
#include "common/config/run_config.h"

/* Before the first change: writes `given`, unless there is such a file. What aq_file_write_atomic
 * says. */
int aq_given_settings_keep(const char *run_dir, const aq_run_config *given,
                           aq_error *error) AQ_MUST_USE;

/* At a start with `config`: takes up what the run was changed to. Without the file `config` stays
 * as it is. Errors name the file that cannot be read. */
int aq_given_settings_take_up(const char *run_dir, aq_run_config *config,
                              aq_error *error) AQ_MUST_USE;

/* Once the run goes on under `used`, after a start with `given`: replaces the file, or removes it
 * when both are the same. */
int aq_given_settings_settle(const char *run_dir, const aq_run_config *given,
                             const aq_run_config *used, aq_error *error) AQ_MUST_USE;

#endif
