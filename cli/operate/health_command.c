/*
 * actorq health: asks a daemon's own HTTP server whether it is well, for container engines and
 * scripts; images need no other program for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/operate/http_get.h"
#include "cli/text/command.h"
#include "common/base/plain_text.h"

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
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPTIONAL_OPERAND("HOST:PORT", health_arguments, listen)},
};

static const health_arguments defaults = {.timeout_ms = TIMEOUT_MS_DEFAULT};

static int health(void *given, aq_error *error)
{
    const health_arguments *arguments = given;
    char body[BODY_MAX];
    unsigned status = 0;
    const char *known = getenv("ACTORQ_HTTP");
    const char *listen = arguments->listen ? arguments->listen : known;
    const char *path = arguments->ready ? "/readyz" : "/healthz";
    if (!listen || listen[0] == '\0') {
        return aq_fail(error, AQ_E_INVALID, "HOST:PORT is missing, and ACTORQ_HTTP is not set");
    }
    int rc = aq_http_get(listen, path, (uint32_t)arguments->timeout_ms, &status, body, sizeof(body),
                         error);
    if (rc != 0) {
        return rc;
    }
    for (const char *line = body; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        aq_print_line(stdout, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    return status == HTTP_OK ? 0 : EXIT_FAILURE;
}

const aq_command aq_command_health = {
    .name = "health",
    .summary = "ask a daemon on this host whether it is well",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = health,
};
