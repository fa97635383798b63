/*
 * Run folder: what a run leaves behind.
 *
 *   run.json         who this run is: id, task, seed, when it was made
 *   config.yaml      the configuration as resolved; config.given.yaml, as it was given, while
 *                    something is changed (live_plan.h)
 *   metrics.jsonl    one JSON object a line: progress and evaluations
 *   metrics.csv      the same as a table; log.csv turns it off
 *   events.out.tfevents.*  the same for TensorBoard; log.tensorboard turns them off
 *   energy.json      what the run took, by role (energy_file.h)
 *   checkpoints/     step-*.aqc
 *   policy.aq        the best version so far, as broadcast; policy.fp32.aq the same in fp32
 *   versions         the policy numbers reserved so far
 *   lock             held by the learner while it runs (folder_lock.h)
 *   logs/            one file per daemon, when `actorq train` started them
 */
#ifndef AQ_LEARNER_RUN_RUN_FOLDER_H
#define AQ_LEARNER_RUN_RUN_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/policy/snapshot.h"

typedef struct aq_run_folder {
    char path[PATH_MAX];
    uint64_t run_id; /* never 0 */
    bool resumed;    /* it held a run already */
} aq_run_folder;

/* Looks at the folder of a run to be, or takes up the run that is in it. A folder that holds a run
 * needs `resume` (AQ_E_EXISTS names it), and its task must be the configuration's (AQ_E_INVALID).
 * A new run is called `run_id`, or by a name that is drawn if that is 0. AQ_E_CORRUPT names a
 * run.json that is not one of ours. */
int aq_run_folder_open(const char *path, const aq_run_config *config, bool resume, uint64_t run_id,
                       aq_run_folder *ret_folder, aq_error *error) AQ_MUST_USE;

/* Makes it a new run's, with config.yaml and run.json. It is the latter that does, and it is
 * written last: what was refused or failed before can be begun again. Of a resumed run nothing is
 * written. */
int aq_run_folder_begin(const aq_run_folder *folder, const aq_run_config *config,
                        aq_error *error) AQ_MUST_USE;

/* config.yaml. A new run's is written when it begins; a resumed run's is for the caller to
 * replace once it is sure that the run can go on under it. */
int aq_run_folder_write_config(const aq_run_folder *folder, const aq_run_config *config,
                               aq_error *error) AQ_MUST_USE;

/* policy.aq and policy.fp32.aq, each replaced atomically. Without a twin, which is NULL then, there
 * is no fp32 file. */
int aq_run_folder_write_policy(const aq_run_folder *folder, const aq_snapshot *snapshot,
                               const aq_snapshot *twin, aq_error *error) AQ_MUST_USE;

#endif
