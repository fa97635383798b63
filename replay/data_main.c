/*
 * actorq-data: what `actorq replay` is, as a program of its own: only it needs to know how stores
 * are laid out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/nearest.h"
#include "common/net/net.h"
#include "common/sys/log.h"
#include "replay/data_command.h"

#define LINE_PERIOD_NS (AQ_NS_PER_S / 5)

static const aq_data_command *const commands[] = {
    &aq_data_command_export,
    &aq_data_command_import,
    &aq_data_command_inspect,
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

/* ---- what they share ------------------------------------------------------------------------- */

int aq_data_command_failed(const char *name, const aq_error *error)
{
    (void)fprintf(stderr, "actorq replay %s: %s\n", name, error->text);
    return EXIT_FAILURE;
}

bool aq_data_command_begin(const aq_options *page, int argc, char **argv, aq_option_fn apply,
                           void *user, int *ret_status)
{
    aq_error error = {0};
    int rc = aq_options_parse(page, argc, argv, apply, user, &error);
    if (rc == AQ_OPTIONS_HELP) {
        aq_options_print_help(page, stdout);
        *ret_status = aq_data_command_printed(argv[0]);
    } else if (rc == AQ_OPTIONS_VERSION) {
        (void)printf("actorq %s\n", AQ_VERSION);
        *ret_status = aq_data_command_printed(argv[0]);
    } else if (rc != 0) {
        *ret_status = aq_data_command_failed(argv[0], &error);
    }
    return rc == 0;
}

int aq_data_command_printed(const char *name)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)fprintf(stderr, "actorq replay %s: the result could not be written\n", name);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

int aq_data_command_print(const char *name, json_t *object)
{
    if (object == NULL) {
        (void)fprintf(stderr, "actorq replay %s: out of memory\n", name);
        return EXIT_FAILURE;
    }
    (void)json_dumpf(object, stdout, JSON_INDENT(2));
    (void)fputc('\n', stdout);
    json_decref(object);
    return aq_data_command_printed(name);
}

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

static void print_help(FILE *out)
{
    (void)fputs("Usage: actorq replay COMMAND [options]\n\n"
                "Experience that is stored: in the folder of a replay shard, in a shard that runs, "
                "in a\ndata set (a file of its own; see docs/data-sets.md).\n\n",
                out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        (void)fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    }
    (void)fputs("\n'actorq replay COMMAND --help' tells more.\n\n"
                "Examples:\n"
                "  actorq replay inspect runs/first/replay-0\n"
                "  actorq replay export runs/first/replay-0 steps.aqds\n"
                "  actorq train gym:CartPole-v1 --offline steps.aqds "
                "--set limits.learner_steps=20000\n",
                out);
}

static const aq_data_command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static int say_unknown(const char *name)
{
    aq_nearest nearest;
    aq_nearest_init(&nearest, name);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        aq_nearest_offer(&nearest, commands[i]->name);
    }
    const char *guess = aq_nearest_name(&nearest);
    (void)fprintf(stderr, "actorq replay: there is no command '%s'", name);
    if (guess != NULL) {
        (void)fprintf(stderr, "; did you mean '%s'?\n", guess);
    } else {
        (void)fprintf(stderr, "; 'actorq replay --help' lists them\n");
    }
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    aq_log_open("actorq", -1);
    if (argc < 2) {
        print_help(stderr);
        return EXIT_FAILURE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return aq_data_command_printed("help");
    }
    if (strcmp(name, "--version") == 0) {
        (void)printf("actorq %s\n", AQ_VERSION);
        return aq_data_command_printed("help");
    }
    const aq_data_command *command = find_command(name);
    if (command == NULL) {
        return say_unknown(name);
    }
    int status = command->run(argc - 1, argv + 1);
    aq_net_fini();
    return status;
}
