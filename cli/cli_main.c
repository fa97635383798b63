/*
 * actorq: the command-line tool. Chooses the command; each has a file of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "common/base/nearest.h"
#include "common/net/net.h"
#include "common/sys/log.h"

static const aq_command *const commands[] = {
    &aq_command_train,  &aq_command_compare, &aq_command_plot,   &aq_command_eval,
    &aq_command_play,   &aq_command_inspect, &aq_command_status, &aq_command_call,
    &aq_command_envs,   &aq_command_env,     &aq_command_export, &aq_command_quantize,
    &aq_command_replay, &aq_command_bench,
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void print_help(FILE *out)
{
    (void)fprintf(out, "usage: actorq COMMAND [options]\n\n"
                       "Reinforcement learning with actors that run an int8 policy.\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        (void)fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    }
    (void)fprintf(out, "\n'actorq COMMAND --help' tells more about each. Try:\n"
                       "  actorq train gym:CartPole-v1\n");
}

static const aq_command *find_command(const char *name)
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
    (void)fprintf(stderr, "actorq: there is no command '%s'", name);
    if (guess) {
        (void)fprintf(stderr, "; did you mean '%s'?\n", guess);
    } else {
        (void)fprintf(stderr, "; 'actorq --help' lists them\n");
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
        return EXIT_SUCCESS;
    }
    if (strcmp(name, "--version") == 0) {
        (void)printf("actorq %s\n", AQ_VERSION);
        return EXIT_SUCCESS;
    }
    const aq_command *command = find_command(name);
    if (!command) {
        return say_unknown(name);
    }
    int status = command->run(argc - 1, argv + 1);
    aq_net_fini();
    return status;
}
