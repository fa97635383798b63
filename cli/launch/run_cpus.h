/*
 * Run cpus: which processors of this host each daemon of a run gets, by learner.cpus and
 * actor.cpus.
 */
#ifndef AQ_CLI_LAUNCH_RUN_CPUS_H
#define AQ_CLI_LAUNCH_RUN_CPUS_H

#include "common/config/run_config.h"
#include "common/sys/cpus.h"

typedef struct aq_run_cpus {
    bool are_chosen; /* else nobody is held to any */
    aq_cpus learner;
    aq_cpus others; /* actors, evaluator, shards */
} aq_run_cpus;

/* `learners` ranks of the learner run on this host. AQ_E_INVALID names the setting. */
int aq_run_cpus_plan(const aq_run_config *config, uint64_t learners, const aq_cpus *allowed,
                     aq_run_cpus *ret_cpus, aq_error *error) AQ_MUST_USE;

/* The same for those that this process may run on, and says on stderr what was chosen. */
int aq_run_cpus_choose(const aq_run_config *config, uint64_t learners, bool quiet,
                       aq_run_cpus *ret_cpus, aq_error *error) AQ_MUST_USE;

/* Of the learner, or of the others; NULL: any. */
const aq_cpus *aq_run_cpus_of(const aq_run_cpus *cpus, bool is_learner);

#endif
