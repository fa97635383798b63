/*
 * actorq replay: hands over to actorq-data, which is a program of its own since it knows how replay
 * shards lay out their stores. It takes this process's place.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/text/command.h"
#include "common/sys/process.h"

enum { PATH_BYTES_MAX = 8192 };

static int run(int argc, char **argv)
{
    char path[PATH_BYTES_MAX];
    aq_error error = {0};
    (void)argc;
    if (aq_process_find_program("actorq-data", "replay", path, sizeof(path), &error) == 0) {
        (void)execv(path, argv);
        (void)aq_fail(&error, aq_error_from_errno(errno), "%s can't be started: %s", path,
                      strerror(errno));
    }
    return aq_command_failed(argv[0], &error);
}

const aq_command aq_command_replay = {
    .name = "replay",
    .summary = "export, import and inspect stored experience",
    .run = run,
};
