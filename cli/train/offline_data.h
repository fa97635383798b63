/*
 * Offline data: what `actorq train --offline` does before any daemon is started: looks whether the
 * data set fits the task, sets what follows from it, and puts its steps where the run's replay
 * shard finds them.
 */
#ifndef AQ_CLI_TRAIN_OFFLINE_DATA_H
#define AQ_CLI_TRAIN_OFFLINE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_config.h"

/* The task of a data set into task[AQ_TASK_NAME_MAX]. */
int aq_offline_task(const char *path, char *task, aq_error *error) AQ_MUST_USE;

/* One durable shard that keeps all of it, no ratio of samples to inserts, no limit of environment
 * steps; the task by the data set's name, which says how it is acted in. Refused in words: a data
 * set of another task or schema, an empty one, and a run that nothing would end. */
int aq_offline_settings(const char *path, aq_run_config *config, aq_error *error) AQ_MUST_USE;

/* The same of a run that is resumed, whose settings were `last`: they fit its steps.
 * Refused, too: what the steps were not cut for. */
int aq_offline_settings_resumed(const aq_run_config *last, aq_run_config *config,
                                aq_error *error) AQ_MUST_USE;

/* Imports it into the run's folder, as the store of run `run_id`, and marks the run as one of a
 * data set. Waits. */
int aq_offline_import(const char *path, const char *run_dir, const aq_run_config *config,
                      uint64_t run_id, bool quiet, aq_error *error) AQ_MUST_USE;

/* The data set that the run was marked with; "" where it was not. A run whose steps from there are
 * gone is refused. */
int aq_offline_read_mark(const char *run_dir, char *data_set, size_t size,
                         aq_error *error) AQ_MUST_USE;

#endif
