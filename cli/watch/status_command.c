/*
 * actorq status: who is in a run and how it goes, as the learner or a replay shard sees it.
 */
#include <stdio.h>

#include "cli/operate/live_endpoint.h"
#include "cli/operate/operation.h"
#include "cli/text/command.h"
#include "cli/watch/status_page.h"
#include "cli/watch/status_watch.h"
#include "common/net/rpc/reflect.h"
#include "common/sys/daemon.h"

typedef struct status_arguments {
    const char *endpoint;
    uint64_t timeout_ms;
    bool watch;
    aq_json_form json;
} status_arguments;

static const aq_option option_rows[] = {
    {"watch", 'w', NULL, "ask every second until the run is over; Ctrl-C ends it",
     AQ_TO_FLAG(status_arguments, watch)},
    AQ_CALL_TIMEOUT_OPTION_ROW(status_arguments, timeout_ms),
    AQ_JSON_OPTION_ROW(status_arguments, json, "the answer"),
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
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("ENDPOINT", status_arguments, endpoint)},
};

static const status_arguments defaults = {.timeout_ms = AQ_CALL_TIMEOUT_MS};

static int show_once(const status_arguments *arguments, aq_error *error)
{
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    ProtobufCMessage *status = NULL;
    char url[AQ_URL_MAX];
    int rc = aq_live_endpoint_url(arguments->endpoint, url, error);
    if (rc == 0) {
        rc = aq_operation_call(url, AQ_ACCESS_NONE, 0, "Operations/Status", &request.base,
                               (uint32_t)arguments->timeout_ms, &status, error);
    }
    if (rc != 0) {
        return rc;
    }
    if (arguments->json) {
        rc = aq_print_json(aq_reflect_to_json(status), arguments->json, error);
    } else {
        rc = aq_status_page_print(stdout, url, (const Actorq__V1__StatusReply *)status, SIZE_MAX);
        rc = rc == 0 ? 0 : aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    protobuf_c_message_free_unpacked(status, NULL);
    return rc;
}

static int status(void *given, aq_error *error)
{
    const status_arguments *arguments = given;
    return arguments->watch ? aq_status_watch(arguments->endpoint, arguments->json,
                                              (uint32_t)arguments->timeout_ms, error)
                            : show_once(arguments, error);
}

const aq_command aq_command_status = {
    .name = "status",
    .summary = "show who is in a run and how it goes",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = status,
};
