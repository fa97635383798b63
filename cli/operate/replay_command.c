/*
 * actorq replay: hands over to actorq-data, which is a program of its own since it knows how replay
 * shards lay out their stores.
 */
#include "cli/text/command.h"

const aq_command aq_command_replay = {
    .name = "replay",
    .summary = "export, import and inspect stored experience",
    .program = "actorq-data",
    .folder = "replay",
    .speaker = "actorq replay",
};
