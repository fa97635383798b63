/*
 * actorq stop: ends a run for everybody, or one replay shard, in good order.
 */

#include "cli/operate/operation.h"
#include "cli/text/command.h"
#include "common/sys/daemon.h"
#include "common/wire/wire_frame.h"
#include "proto/operations.pb-c.h"

typedef struct stop_arguments {
    const char *endpoint;
    const char *reason;
    uint64_t timeout_ms;
    uint64_t shard; /* 0: the learner */
} stop_arguments;

static const aq_option option_rows[] = {
    {"shard", 0, "NAME",
     "what is at the URL is a replay shard, which ends alone, and which one: its incarnation in "
     "actorq status RUN --json; no other is stopped",
     AQ_TO_NUMBER(stop_arguments, shard, 1, UINT64_MAX)},
    {"reason", 0, "TEXT", "why, for the log", AQ_TO_TEXT(stop_arguments, reason)},
    AQ_CALL_TIMEOUT_OPTION_ROW(stop_arguments, timeout_ms),
    AQ_CREDENTIAL_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq stop",
    .usage = "RUN [options]",
    .summary = "Ends a run for everybody, as one that was stopped: the learner writes its last "
               "checkpoint and policy, its members hear of the end with their next heartbeat, and "
               "all exit with 0. RUN is the URL of its learner, or the folder of a live run; "
               "with --shard, the URL of a replay shard.",
    .details = "A learner that gets SIGTERM ends, too, but not the run: it can be resumed.\n"
               "\n"
               "Examples:\n"
               "  actorq stop runs/first --reason \"good enough\"\n"
               "  actorq stop tcp://learner:5550\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("RUN", stop_arguments, endpoint)},
};

static const stop_arguments defaults = {
    .reason = "actorq stop",
    .timeout_ms = AQ_CALL_TIMEOUT_MS,
};

static int stop(void *given, aq_error *error)
{
    const stop_arguments *arguments = given;
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    ProtobufCMessage *answer = NULL;
    request.reason = aq_wire_text(arguments->reason);
    int rc = aq_operation_call(arguments->endpoint,
                               arguments->shard != 0 ? AQ_ACCESS_REPLAY : AQ_ACCESS_LEARNER,
                               arguments->shard, "Operations/Stop", &request.base,
                               (uint32_t)arguments->timeout_ms, &answer, error);
    if (rc == 0) {
        protobuf_c_message_free_unpacked(answer, NULL);
    }
    return rc;
}

const aq_command aq_command_stop = {
    .name = "stop",
    .summary = "end a run for everybody",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = stop,
};
