/*
 * actorq: the command-line tool. Chooses the command; each has a file of its own.
 */
#include <stdio.h>

#include "cli/text/command.h"
#include "common/base/plain_text.h"
#include "common/sys/cpu.h"
#include "common/sys/log.h"
#include "common/sys/process.h"

static const aq_command *const commands[] = {
    &aq_command_train,  &aq_command_sweep,  &aq_command_compare,    &aq_command_plot,
    &aq_command_eval,   &aq_command_play,   &aq_command_inspect,    &aq_command_status,
    &aq_command_logs,   &aq_command_set,    &aq_command_checkpoint, &aq_command_drain,
    &aq_command_stop,   &aq_command_call,   &aq_command_envs,       &aq_command_env,
    &aq_command_export, &aq_command_import, &aq_command_quantize,   &aq_command_replay,
    &aq_command_bench,  &aq_command_health, &aq_command_certs,      &aq_command_dashboard,
    &aq_command_runs,
};

/* Words of other tools. */
static const aq_command_hint hints[] = {
    {"evaluate", "eval"},
    {"test", "eval"},
    {"enjoy", "play"},
    {"render", "play"},
    {"watch", "status RUN --watch"},
    {"resume", "train --run RUN --resume"},
    {"tune", "sweep"},
    {"optimize", "sweep"},
    {"list", "runs"},
    {"tensorboard", "dashboard"},
    {NULL, NULL},
};

static const aq_command_page page = {
    .program = "actorq",
    .summary = "Reinforcement learning with actors that run an int8 policy.\n",
    .examples = "  actorq train gym:CartPole-v1\n",
    .commands = commands,
    .count = sizeof(commands) / sizeof(commands[0]),
    .hints = hints,
};

/* As daemons do in their logs. What the tool starts is told by it, and may tell it again. */
static void say_ignored(void)
{
    char plain[AQ_ERROR_TEXT_MAX];
    if (aq_cpu_mask_problem() != NULL) {
        (void)fprintf(
            stderr, "actorq: ACTORQ_CPU=%s is not a rung; all that the processor can do is used\n",
            aq_plain_text(plain, sizeof(plain), aq_cpu_mask_problem()));
    }
}

int main(int argc, char **argv)
{
    aq_process_fill_standard_files();
    aq_log_open("actorq", -1);
    say_ignored();
    return aq_command_main(&page, argc, argv);
}
