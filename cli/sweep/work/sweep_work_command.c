/*
 * actorq sweep work: does runs of a sweep, on any host that sees its folder.
 */
#include "cli/sweep/work/sweep_drive.h"
#include "cli/sweep/work/sweep_worker.h"
#include "cli/text/command.h"
#include "common/sys/daemon.h"
#include "envs/env_code.h"

typedef struct work_arguments {
    const char *folder;
    uint64_t workers;
    bool quiet;
} work_arguments;

static const aq_option option_rows[] = {
    {"workers", 0, "N", "how many runs at once (default: 1)",
     AQ_TO_NUMBER(work_arguments, workers, 1, AQ_SWEEP_WORKERS_MAX)},
    AQ_ALLOW_CODE_OPTION,
    AQ_PARENT_OPTION_ROW,
    {"quiet", 'q', NULL, "say nothing of runs", AQ_TO_FLAG(work_arguments, quiet)},
};

static const aq_options options_page = {
    .program = "actorq sweep work",
    .usage = "DIR [options]",
    .summary = "Takes runs of the sweep in DIR until there are none. Any number of these work at "
               "one sweep, on this host or on others that share the folder; one that is killed is "
               "made up for by the others.",
    .details = "Examples:\n"
               "  actorq sweep work sweeps/cartpole\n"
               "  srun -n 16 actorq sweep work /shared/sweeps/cartpole\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("DIR", work_arguments, folder)},
};

static int work(void *given, aq_error *error)
{
    const work_arguments *arguments = given;
    bool is_stopped = false;
    int rc = arguments->workers > 1
                 ? aq_sweep_drive(arguments->folder, arguments->workers, arguments->quiet,
                                  &is_stopped, error)
                 : aq_sweep_work(arguments->folder, arguments->quiet, &is_stopped, error);
    return rc == 0 && is_stopped
               ? aq_fail(error, AQ_E_CLOSED, "stopped; what was begun goes on elsewhere")
               : rc;
}

static const work_arguments defaults = {0};

const aq_command aq_command_sweep_work = {
    .name = "work",
    .summary = "do runs of a sweep, on this host or another",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = work,
};
