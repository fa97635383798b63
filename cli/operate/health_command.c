/*
 * actorq health: asks a daemon's own HTTP server whether it is well, for container engines and
 * scripts; images need no other program for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/operate/http_get.h"
#include "cli/text/command.h"

enum { TIMEOUT_MS_DEFAULT = 3000, TIMEOUT_MS_MAX = 600000, BODY_MAX = 4096, HTTP_OK = 200 };

typedef struct health_arguments {
    const char *listen;
    uint64_t timeout_ms;
    bool ready;
} health_arguments;

static const aq_option option_rows[] = {
    {"ready", 0, NULL, "ask whether it takes part in its run (/readyz), not only whether it lives",
     AQ_TO_FLAG(health_arguments, ready)},
    {"timeout-ms", 0, "MS", "how long to wait for the answer, 1 to 600000 (default 3000)",
     AQ_TO_NUMBER(health_arguments, timeout_ms, 1, TIMEOUT_MS_MAX)},
};

static const aq_options options_page = {
    .program = "actorq health",
    .usage = "[HOST:PORT] [options]",
    .summary = "Asks the daemon whose --http is HOST:PORT whether it is well, and prints what it "
               "says. Without an address it is what ACTORQ_HTTP says, so in a container the "
               "daemon beside it.",
    .details = "Examples:\n"
               "  actorq health 127.0.0.1:8080\n"
               "  actorq health --ready\n"
               "\n"
               "Exit status: 0 when it is well, else 1.\n",
    .rows = option_rows,
    .count = sizeof(option_rows) / sizeof(option_rows[0]),
    .operands = {AQ_OPTIONAL_OPERAND("HOST:PORT", health_arguments, listen)},
};

static int run(int argc, char **argv)
{
    char body[BODY_MAX];
    unsigned status = 0;
    int exit_status;
    aq_error error = {0};
    const char *known = getenv("ACTORQ_HTTP");
    health_arguments arguments = {.timeout_ms = TIMEOUT_MS_DEFAULT};
    if (!aq_command_begin(&options_page, argc, argv, NULL, &arguments, &exit_status)) {
        return exit_status;
    }
    const char *listen = arguments.listen ? arguments.listen : known;
    if (!listen || listen[0] == '\0') {
        (void)aq_fail(&error, AQ_E_INVALID, "HOST:PORT is missing, and ACTORQ_HTTP is not set");
        return aq_command_failed(argv[0], &error);
    }
    const char *path = arguments.ready ? "/readyz" : "/healthz";
    if (aq_http_get(listen, path, (uint32_t)arguments.timeout_ms, &status, body, sizeof(body),
                    &error) != 0) {
        return aq_command_failed(argv[0], &error);
    }
    (void)fputs(body, stdout);
    exit_status = aq_command_printed(argv[0]);
    return status == HTTP_OK ? exit_status : EXIT_FAILURE;
}

const aq_command aq_command_health = {
    .name = "health",
    .summary = "ask a daemon on this host whether it is well",
    .run = run,
};
