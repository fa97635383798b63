/*
 * actorq call: any method of any daemon, by reflection over the services that are compiled in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/operate/operation.h"
#include "cli/operate/rpc_catalog.h"
#include "cli/text/command.h"
#include "common/base/plain_text.h"
#include "common/net/rpc/reflect.h"
#include "common/sys/daemon.h"

enum { STATUS_EXIT_BASE = 64 };

typedef struct call_arguments {
    const char *endpoint;
    const char *method;
    const char *request;
    uint64_t timeout_ms;
    bool list;
    aq_json_form json;
    uint64_t shard; /* 0: the learner, or it does not matter */
} call_arguments;

static const aq_option option_rows[] = {
    {"list", 'l', NULL, "list all methods, each with a template of its request",
     AQ_TO_FLAG(call_arguments, list)},
    AQ_SHARD_OPTION_ROW(call_arguments, shard),
    AQ_CALL_TIMEOUT_OPTION_ROW(call_arguments, timeout_ms),
    AQ_JSON_OPTION_ROW(call_arguments, json, "the list, or the answer"),
    AQ_CREDENTIAL_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq call",
    .usage = "ENDPOINT METHOD [REQUEST] [options]",
    .summary =
        "Calls one method of a daemon and prints its answer as JSON. ENDPOINT is its URL, or "
        "the folder of a live run for the run's learner; METHOD is Service/Method; REQUEST is "
        "a JSON object ({} where none is given).",
    .details =
        "Examples:\n"
        "  actorq call --list\n"
        "  actorq call tcp://learner:5550 Operations/Status\n"
        "  actorq call runs/first Operations/Stop '{\"reason\": \"good enough\"}'\n"
        "\n"
        "Exit status: 0 when it was answered, 1 when the arguments are wrong or nobody could "
        "be\nreached, 64 plus the status code (gRPC's) when the answer was an error: 69 is\n"
        "NOT_FOUND, 76 UNIMPLEMENTED, 78 UNAVAILABLE.\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPTIONAL_OPERAND("ENDPOINT", call_arguments, endpoint),
                 AQ_OPTIONAL_OPERAND("METHOD", call_arguments, method),
                 AQ_OPTIONAL_OPERAND("REQUEST", call_arguments, request)},
};

/* ---- listing -------------------------------------------------------------------------------- */

static int print_list(aq_error *error)
{
    size_t i;
    const json_t *row;
    json_t *catalog = aq_rpc_catalog_json();
    if (!catalog) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    json_array_foreach(json_object_get(catalog, "methods"), i, row)
    {
        char *request = json_dumps(json_object_get(row, "request"), 0);
        (void)printf("%s '%s'\n", json_string_value(json_object_get(row, "method")),
                     request ? request : "{}");
        free(request);
    }
    json_decref(catalog);
    return 0;
}

/* ---- calling -------------------------------------------------------------------------------- */

static int make_request(const char *text, const ProtobufCMessageDescriptor *descriptor,
                        ProtobufCMessage **ret_request, aq_error *error)
{
    json_error_t where;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    if (!json) {
        return aq_fail(error, AQ_E_INVALID, "the request is not JSON: %s (line %d, column %d)",
                       where.text, where.line, where.column);
    }
    int rc = aq_reflect_from_json(descriptor, json, ret_request, error);
    json_decref(json);
    return rc != 0 ? aq_fail_context(error, rc, "the request") : 0;
}

/* 0, or a failure: AQ_E_PEER when the answer was the error in *ret_status. */
static int call(const call_arguments *arguments, json_t **ret_reply, aq_rpc_status *ret_status,
                aq_error *error)
{
    aq_caller_method method;
    ProtobufCMessage *request = NULL;
    ProtobufCMessage *reply = NULL;
    int rc = aq_rpc_catalog_find(arguments->method, &method, error);
    if (rc == 0) {
        rc = make_request(arguments->request ? arguments->request : "{}",
                          aq_rpc_catalog_method(method)->input, &request, error);
    }
    if (rc == 0) {
        /* What was meant for one must not be done by the other; looking does nothing. */
        const bool looks = strcmp(aq_rpc_catalog_method(method)->name, "Status") == 0;
        const enum aq_access_role role = arguments->shard != 0 ? AQ_ACCESS_REPLAY
                                         : looks               ? AQ_ACCESS_NONE
                                                               : AQ_ACCESS_LEARNER;
        rc = aq_operation_ask(arguments->endpoint, role, arguments->shard, method, request,
                              (uint32_t)arguments->timeout_ms, &reply, ret_status, error);
    }
    if (rc == 0) {
        *ret_reply = aq_reflect_to_json(reply);
    }
    if (reply) {
        protobuf_c_message_free_unpacked(reply, NULL);
    }
    if (request) {
        protobuf_c_message_free_unpacked(request, NULL);
    }
    return rc;
}

static const call_arguments defaults = {.timeout_ms = AQ_CALL_TIMEOUT_MS};

static int call_or_list(void *given, aq_error *error)
{
    const call_arguments *arguments = given;
    aq_rpc_status answer = {0};
    json_t *reply = NULL;
    if (arguments->list || (arguments->endpoint && !arguments->method)) {
        return arguments->json ? aq_print_json(aq_rpc_catalog_json(), arguments->json, error)
                               : print_list(error);
    }
    if (!arguments->endpoint) {
        return aq_fail(error, AQ_E_INVALID, "ENDPOINT and METHOD are missing; see --help");
    }
    int rc = call(arguments, &reply, &answer, error);
    if (rc == AQ_E_PEER) {
        aq_print_line(stderr, "%s: %s", aq_rpc_code_name(answer.code), answer.message);
        return STATUS_EXIT_BASE + (int)answer.code;
    }
    return rc == 0 ? aq_print_json(reply, arguments->json ? arguments->json : AQ_JSON_PRETTY, error)
                   : rc;
}

const aq_command aq_command_call = {
    .name = "call",
    .summary = "call any method of a daemon",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = call_or_list,
};
