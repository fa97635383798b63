/*
 * actorq replay: hands over to actorq-data, which is a program of its own since it knows how replay
 * shards lay out their stores. It takes this process's place.
 */
#include "cli/text/command.h"

static int run(int argc, char **argv)
{
    aq_error error = {0};
    (void)argc;
    aq_command_become("actorq-data", "replay", argv, &error);
    return aq_command_failed(argv[0], &error);
}

const aq_command aq_command_replay = {
    .name = "replay",
    .summary = "export, import and inspect stored experience",
    .run = run,
};
