/*
 * A run folder for a test: made empty, removed with all that is in it.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_RUN_DIR_FIXTURE_H
#define AQ_TESTS_UNIT_LEARNER_RUN_DIR_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "common/wire/wire_checkpoint.h"
#include "learner/algorithms/metric.h"

enum { FIXTURE_PATH_MAX = 512, FIXTURE_PARAMETERS = (4 + 1) * 8 + (8 + 1) * 2 };

/* TEST_IN(run_dir, dir, ...): under /tmp. */
typedef struct run_dir {
    char *path;
} run_dir;

void run_dir_setup(run_dir *dir);
void run_dir_teardown(run_dir *dir);

/* DIR/NAME, and that of a checkpoint, until the test is over. */
const char *run_dir_path(const run_dir *dir, const char *name);
const char *run_dir_checkpoint_path(const run_dir *dir, uint64_t step);

/* Regular files in DIR/checkpoints. */
unsigned run_dir_checkpoint_files(const run_dir *dir);

/* "loss", and "q_mean". */
extern const aq_metric_list fixture_metrics;

/* Files may not become larger than this; 0 lifts the limit. */
void fixture_limit_file_size(size_t bytes);

/* A checkpoint of step `step` of a network 4-8-2, whose every number follows from `step`. It points
 * at static storage, until the next call. */
void fixture_checkpoint(uint64_t step, aq_checkpoint *ret_checkpoint);

/* Fails the test unless this is what fixture_checkpoint made for `step`. */
void fixture_assert_checkpoint(const aq_checkpoint *checkpoint, uint64_t step);

#endif
