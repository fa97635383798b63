/*
 * actorq env: what can be asked of one environment. Chooses the subcommand.
 */
#include "cli/env/env_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/nearest.h"

enum { NAME_BYTES = 32 };

static const aq_command *const subcommands[] = {&aq_env_command_bench, &aq_env_command_replay};

enum { SUBCOMMAND_COUNT = sizeof(subcommands) / sizeof(subcommands[0]) };

static void print_help(void)
{
    (void)fputs("Usage: actorq env SUBCOMMAND [options]\n\n"
                "Measures an environment, or compares it with what the original did. 'actorq "
                "envs' lists\nthe environments.\n\n",
                stdout);
    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        (void)printf("  %-7s %s\n", subcommands[i]->name, subcommands[i]->summary);
    }
    (void)fputs("\n'actorq env SUBCOMMAND --help' tells more. Each prints one JSON object with "
                "--json.\n\n"
                "Examples:\n"
                "  actorq env bench gym:CartPole-v1\n"
                "  actorq env replay walker_walk_1.json --per-step\n",
                stdout);
}

static const aq_command *find_subcommand(const char *name, aq_error *error)
{
    aq_nearest nearest;
    aq_nearest_init(&nearest, name);
    for (int i = 0; i < SUBCOMMAND_COUNT; i++) {
        if (strcmp(subcommands[i]->name, name) == 0) {
            return subcommands[i];
        }
        aq_nearest_offer(&nearest, subcommands[i]->name);
    }
    const char *guess = aq_nearest_name(&nearest);
    if (guess) {
        (void)aq_fail(error, AQ_E_INVALID, "there is no subcommand '%s'; did you mean '%s'?", name,
                      guess);
    } else {
        (void)aq_fail(error, AQ_E_INVALID, "there is no subcommand '%s'; see --help", name);
    }
    return NULL;
}

static int run(int argc, char **argv)
{
    aq_error error = {0};
    char name[NAME_BYTES];
    if (argc < 2) {
        (void)aq_fail(&error, AQ_E_INVALID, "SUBCOMMAND is missing; see --help");
        return aq_command_failed(argv[0], &error);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return aq_command_printed(argv[0]);
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("actorq %s\n", AQ_VERSION);
        return aq_command_printed(argv[0]);
    }
    const aq_command *subcommand = find_subcommand(argv[1], &error);
    if (!subcommand) {
        return aq_command_failed(argv[0], &error);
    }
    (void)snprintf(name, sizeof(name), "env %s", subcommand->name);
    argv[1] = name;
    return subcommand->run(argc - 1, argv + 1);
}

const aq_command aq_command_env = {
    .name = "env",
    .summary = "measure an environment, or replay a recording in it",
    .run = run,
};
