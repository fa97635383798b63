/*
 * actorq-data: what `actorq replay` is, as a program of its own: only it needs to know how stores
 * are laid out.
 */
#include <stdio.h>
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

void aq_data_line_init(aq_data_line *line, const char *what, bool quiet)
{
    *line = (aq_data_line){.what = what, .is_shown = !quiet && isatty(STDERR_FILENO) == 1};
}

void aq_data_line_show(void *user, double done)
{
    aq_data_line *line = user;
    const int64_t now_ns = line->is_shown ? aq_clock_monotonic_ns() : 0;
    if (!line->is_shown || now_ns < line->next_ns) {
        return;
    }
    line->next_ns = now_ns + LINE_PERIOD_NS;
    line->is_drawn = true;
    if (done < 0.0) {
        (void)fprintf(stderr, "\r%s ...", line->what);
    } else {
        (void)fprintf(stderr, "\r%s: %3.0f %%", line->what, 100.0 * done);
    }
    (void)fflush(stderr);
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
    return aq_command_main(&page, argc, argv);
}
