/*
 * Rank launch: how a learner of several ranks is started on this host: the same program, by Open
 * MPI's mpirun, which ends all ranks when one of them dies. It ends itself with this process.
 */
#ifndef AQ_CLI_LAUNCH_RANK_LAUNCH_H
#define AQ_CLI_LAUNCH_RANK_LAUNCH_H

#include "cli/launch/supervisor.h"

/* The texts that a child's arguments point at. */
typedef struct aq_rank_launch {
    char count[24];
} aq_rank_launch;

/* For more than one: AQ_E_NOT_FOUND, with what to install, when there is no mpirun;
 * AQ_E_UNSUPPORTED where an mpirun has started this process. */
int aq_rank_launch_check(uint64_t learners, aq_error *error) AQ_MUST_USE;

/* `spec` becomes so many of itself; of one it stays as it is, and is alone, also where mpirun has
 * started this process. mpirun's files lie in `folder`, which is this run's alone. `launch` and
 * `folder` live as long as `spec`. Before there are threads. */
void aq_rank_launch_wrap(uint64_t learners, const char *folder, aq_rank_launch *launch,
                         aq_child_spec *spec);

#endif
