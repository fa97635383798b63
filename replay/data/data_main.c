/*
 * actorq-data: what `actorq replay` is, as a program of its own: only it needs to know how stores
 * are laid out.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/sys/log.h"
#include "common/sys/process.h"
#include "replay/data/data_command.h"

#define LINE_PERIOD_NS (AQ_NS_PER_S / 5)

static const aq_command *const commands[] = {
    &aq_data_command_export,
    &aq_data_command_import,
    &aq_data_command_inspect,
};

static const aq_command_page page = {
    .program = "actorq replay",
    .summary =
        "Experience that is stored: in the folder of a replay shard, in a shard that runs, in "
        "a\ndata set (a file of its own; see docs/data-sets.md).\n",
    .examples = "  actorq replay inspect runs/first/replay-0\n"
                "  actorq replay export runs/first/replay-0 steps.aqds\n"
                "  actorq train gym:CartPole-v1 --offline steps.aqds "
                "--set limits.learner_steps=20000\n",
    .commands = commands,
    .count = sizeof(commands) / sizeof(commands[0]),
};

/* ---- what they share ------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted_by; /* a signal; 0: none */

static void on_signal(int number)
{
    interrupted_by = number;
}

void aq_data_end_in_order(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction notes = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, now;
    (void)sigemptyset(&notes.sa_mask);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        /* What is ignored stays so, as of a job that a shell has in the background. */
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
            (void)sigaction(numbers[i], &notes, NULL);
        }
    }
}

void aq_data_line_init(aq_data_line *line, const char *what, bool quiet)
{
    *line = (aq_data_line){.what = what, .is_shown = !quiet && isatty(STDERR_FILENO) == 1};
}

int aq_data_line_show(void *user, double done, aq_error *error)
{
    aq_data_line *line = user;
    if (interrupted_by != 0) {
        return aq_fail(error, AQ_E_IO, "interrupted");
    }
    const int64_t now_ns = line->is_shown ? aq_clock_monotonic_ns() : 0;
    if (!line->is_shown || now_ns < line->next_ns) {
        return 0;
    }
    line->next_ns = now_ns + LINE_PERIOD_NS;
    line->is_drawn = true;
    if (done < 0.0) {
        (void)fprintf(stderr, "\r%s ...", line->what);
    } else {
        (void)fprintf(stderr, "\r%s: %3.0f %%", line->what, 100.0 * done);
    }
    (void)fflush(stderr);
    return 0;
}

void aq_data_line_clear(aq_data_line *line)
{
    if (line->is_drawn) {
        (void)fputs("\r\033[K", stderr);
        line->is_drawn = false;
    }
}

/* ---- the program ----------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    aq_process_fill_standard_files();
    aq_log_open("actorq", -1);
    const int status = aq_command_main(&page, argc, argv);
    return status != EXIT_SUCCESS && interrupted_by != 0 ? 128 + interrupted_by : status;
}
