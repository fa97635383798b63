/*
 * actorq status: who is in a run and how it goes, as the learner or a replay shard sees it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/operate/live_endpoint.h"
#include "cli/operate/operation.h"
#include "cli/text/command.h"
#include "cli/watch/status_page.h"
#include "cli/watch/status_watch.h"
#include "common/net/rpc/reflect.h"
#include "common/net/rpc/rpc.h"
#include "common/sys/daemon.h"

enum { TIMEOUT_MS_DEFAULT = 3000 };

typedef struct status_arguments {
    const char *endpoint;
    uint64_t timeout_ms;
    bool watch;
    bool json;
} status_arguments;

static const aq_option option_rows[] = {
    {"watch", 'w', NULL, "ask every second until the run is over; Ctrl-C ends it",
     AQ_TO_FLAG(status_arguments, watch)},
    {"timeout-ms", 0, "MS",
     "how long to wait for a connection and the answer together, 1 to 600000 (default 3000)",
     AQ_TO_NUMBER(status_arguments, timeout_ms, 1, AQ_RPC_TIMEOUT_MS_MAX)},
    {"json", 0, NULL,
     "print the whole answer as one JSON object on standard output; with --watch, one a line",
     AQ_TO_FLAG(status_arguments, json)},
    AQ_CREDENTIAL_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq status",
    .usage = "ENDPOINT [options]",
    .summary = "Shows who is in a run and how it goes. ENDPOINT is the URL of its learner or of a "
               "replay shard, or the folder of a live run.",
    .details = "Examples:\n"
               "  actorq status tcp://learner:5550\n"
               "  actorq status runs/first --watch\n"
               "  actorq status tcp://learner:5550 --json\n",
    .rows = option_rows,
    .count = sizeof(option_rows) / sizeof(option_rows[0]),
    .operands = {AQ_OPERAND("ENDPOINT", status_arguments, endpoint)},
};

static int show_once(const char *command, const char *url, const status_arguments *arguments,
                     aq_error *error)
{
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    ProtobufCMessage *status = NULL;
    int exit_status = EXIT_SUCCESS;
    if (aq_operation_call(url, "Operations/Status", &request.base, (uint32_t)arguments->timeout_ms,
                          &status, error) != 0) {
        return aq_command_failed(command, error);
    }
    if (arguments->json) {
        exit_status = aq_command_print_json(command, aq_reflect_to_json(status));
    } else if (aq_status_page_print(stdout, url, (const Actorq__V1__StatusReply *)status,
                                    SIZE_MAX) != 0) {
        (void)aq_fail(error, AQ_E_NOMEM, "out of memory");
        exit_status = aq_command_failed(command, error);
    } else {
        exit_status = aq_command_printed(command);
    }
    protobuf_c_message_free_unpacked(status, NULL);
    return exit_status;
}

static int run(int argc, char **argv)
{
    aq_error error = {0};
    char url[AQ_URL_MAX];
    int exit_status;
    status_arguments arguments = {.timeout_ms = TIMEOUT_MS_DEFAULT};
    if (!aq_command_begin(&options_page, argc, argv, NULL, &arguments, &exit_status)) {
        return exit_status;
    }
    int rc = arguments.watch ? aq_status_watch(arguments.endpoint, arguments.json,
                                               (uint32_t)arguments.timeout_ms, &error)
                             : aq_live_endpoint_url(arguments.endpoint, url, &error);
    if (rc != 0) {
        return aq_command_failed(argv[0], &error);
    }
    return arguments.watch ? EXIT_SUCCESS : show_once(argv[0], url, &arguments, &error);
}

const aq_command aq_command_status = {
    .name = "status",
    .summary = "show who is in a run and how it goes",
    .run = run,
};
