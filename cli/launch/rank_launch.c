/*
 * Rank launch: see rank_launch.h.
 */
#include "cli/launch/rank_launch.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/parse.h"

/* Until mpirun has begun its ranks, and until it has ended those that are left. */
enum { LAUNCH_MS = 8000 };

/* Far more than mpirun takes to end when its ranks have. */
enum { ALONE_MS = 5000 };

static bool is_on_path(const char *program)
{
    char file[PATH_MAX];
    const char *at = getenv("PATH");
    while (at != NULL && *at != '\0') {
        const size_t length = strcspn(at, ":");
        if (aq_text_format(file, sizeof(file), "%.*s/%s", (int)length, at, program) == 0 &&
            access(file, X_OK) == 0) {
            return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

int aq_rank_launch_check(uint64_t learners, aq_error *error)
{
    if (learners > 1 && getenv("OMPI_COMM_WORLD_SIZE") != NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "several learners are started by mpirun, which does not start again below "
                       "an mpirun: leave one of the two out");
    }
    return learners > 1 && !is_on_path("mpirun")
               ? aq_fail(error, AQ_E_NOT_FOUND,
                         "several learners are started by Open MPI's mpirun, which is not "
                         "installed: 'apt-get install openmpi-bin'")
               : 0;
}

/* mpirun refuses root, for whom a run of one's own in a container is nothing special. */
static void let_root_start(void)
{
    if (geteuid() == 0) {
        (void)setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
        (void)setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    }
}

void aq_rank_launch_wrap(uint64_t learners, const char *folder, aq_rank_launch *launch,
                         aq_child_spec *spec)
{
    /* Where mpirun has started several runs, it has told each of them so: their learners would take
     * it for ranks of one learner. For ranks mpirun sets it anew. */
    (void)unsetenv("OMPI_COMM_WORLD_SIZE");
    if (learners <= 1) {
        return;
    }
    (void)snprintf(launch->count, sizeof(launch->count), "%" PRIu64, learners);
    /* Ranks have threads of their own, which belong on any processor. When one has died, mpirun
     * waits 2 s before it asks the others to end, and 2 s more for the last checkpoint: each new
     * start waits for both. Left to itself it shares a folder of the user's with every other
     * mpirun, and does not start where another removes that while it makes its own below it. */
    const char *const before[] = {"--pdeathsig",
                                  "TERM",
                                  "mpirun",
                                  "-n",
                                  launch->count,
                                  "--bind-to",
                                  "none",
                                  "--oversubscribe",
                                  "--mca",
                                  "orte_tmpdir_base",
                                  folder,
                                  "--mca",
                                  "odls_base_sigkill_timeout",
                                  "2",
                                  spec->program};
    const size_t count = sizeof(before) / sizeof(before[0]);
    AQ_ASSERT(spec->args[AQ_SUPERVISOR_ARGS_MAX - count] == NULL);
    memmove(spec->args + count, spec->args,
            (AQ_SUPERVISOR_ARGS_MAX - count) * sizeof(spec->args[0]));
    memcpy(spec->args, before, sizeof(before));
    spec->program = "setpriv";
    spec->launch_ms = LAUNCH_MS;
    spec->alone_ms = ALONE_MS;
    let_root_start();
}
