/*
 * actorq drain: has members of a run finish, leave and exit, and waits until they have.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/operate/drain_choice.h"
#include "cli/operate/operation.h"
#include "cli/text/command.h"
#include "common/base/clock.h"
#include "common/net/rpc/rpc.h"
#include "common/sys/daemon.h"
#include "common/wire/wire_frame.h"

enum { TIMEOUT_MS_DEFAULT = 30000, LOOK_MS = 200 };

typedef struct drain_arguments {
    const char *endpoint;
    const char *member;
    const char *reason;
    uint64_t timeout_ms;
} drain_arguments;

static const aq_option option_rows[] = {
    {"reason", 0, "TEXT", "why, for the log", AQ_TO_TEXT(drain_arguments, reason)},
    {"timeout-ms", 0, "MS",
     "how long to wait until they have left, 1 to 600000 (default 30000); they leave in any case",
     AQ_TO_NUMBER(drain_arguments, timeout_ms, 1, AQ_RPC_TIMEOUT_MS_MAX)},
    AQ_CREDENTIAL_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq drain",
    .usage = "RUN MEMBER [options]",
    .summary = "Has a member of a run finish what is under way, leave and exit with 0, and waits "
               "until it has. RUN is the URL of the learner, or the folder of a live run. MEMBER "
               "is actor-3 or replay-0, as 'actorq status' and the logs count them, a member "
               "number, or actor, evaluator or replay for all of that role.",
    .details = "An actor sends what it holds and waits until it is acknowledged; a shard writes "
               "what it holds,\nwhich comes back when it is started again with its folder. "
               "Whoever restarts daemons that exit\nwith 0 undoes it.\n"
               "\n"
               "Examples:\n"
               "  actorq drain runs/first actor-1\n"
               "  actorq drain tcp://learner:5550 actor --reason \"moving the machine\"\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("RUN", drain_arguments, endpoint),
                 AQ_OPERAND("MEMBER", drain_arguments, member)},
};

/* How long the next call may take, so that none outlasts the whole by much. */
static uint32_t call_ms(int64_t end_ns)
{
    int64_t left_ms = (end_ns - aq_clock_monotonic_ns()) / AQ_NS_PER_MS;
    if (left_ms < LOOK_MS) {
        return LOOK_MS;
    }
    return left_ms < AQ_CALL_TIMEOUT_MS ? (uint32_t)left_ms : AQ_CALL_TIMEOUT_MS;
}

static int look(const drain_arguments *arguments, int64_t end_ns,
                Actorq__V1__StatusReply **ret_status, aq_error *error)
{
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    ProtobufCMessage *answer = NULL;
    int rc = aq_operation_call(arguments->endpoint, AQ_ACCESS_LEARNER, 0, "Operations/Status",
                               &request.base, call_ms(end_ns), &answer, error);
    if (rc == 0) {
        *ret_status = (Actorq__V1__StatusReply *)answer;
    }
    return rc;
}

static int ask_one(const drain_arguments *arguments, uint64_t member, int64_t end_ns,
                   aq_error *error)
{
    Actorq__V1__DrainRequest request = ACTORQ__V1__DRAIN_REQUEST__INIT;
    ProtobufCMessage *answer = NULL;
    request.member = member;
    request.reason = aq_wire_text(arguments->reason);
    int rc = aq_operation_call(arguments->endpoint, AQ_ACCESS_LEARNER, 0, "Operations/Drain",
                               &request.base, call_ms(end_ns), &answer, error);
    if (rc == 0) {
        protobuf_c_message_free_unpacked(answer, NULL);
    }
    return rc == AQ_E_NOT_FOUND ? 0 : rc; /* it has left by itself meanwhile */
}

static int ask_all(const drain_arguments *arguments, const aq_drain_choice *choice, int64_t end_ns,
                   aq_error *error)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < choice->count; i++) {
        rc = ask_one(arguments, choice->members[i].member, end_ns, error);
    }
    return rc;
}

/* A learner that is gone meanwhile is an error: nobody can tell who has left. */
static int wait_for_all(const drain_arguments *arguments, const aq_drain_choice *choice,
                        int64_t end_ns, aq_error *error)
{
    for (;;) {
        Actorq__V1__StatusReply *status = NULL;
        int rc = look(arguments, end_ns, &status, error);
        if (rc != 0) {
            return rc;
        }
        size_t left = aq_drain_choice_left(choice, status);
        actorq__v1__status_reply__free_unpacked(status, NULL);
        if (left == 0) {
            return 0;
        }
        if (aq_clock_monotonic_ns() >= end_ns) {
            return aq_fail(error, AQ_E_TIMEOUT,
                           "%zu of %zu have not left within %" PRIu64
                           " ms; they were asked to, and 'actorq status' shows them as leaving",
                           left, choice->count, arguments->timeout_ms);
        }
        aq_clock_wait_until(aq_clock_monotonic_ns() + LOOK_MS * AQ_NS_PER_MS);
    }
}

static const drain_arguments defaults = {
    .reason = "actorq drain",
    .timeout_ms = TIMEOUT_MS_DEFAULT,
};

static int drain(void *given, aq_error *error)
{
    const drain_arguments *arguments = given;
    int64_t end_ns = aq_clock_monotonic_ns() + (int64_t)arguments->timeout_ms * AQ_NS_PER_MS;
    aq_drain_choice choice;
    Actorq__V1__StatusReply *status = NULL;
    int rc = look(arguments, end_ns, &status, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_drain_choice_make(&choice, arguments->member, status, error);
    actorq__v1__status_reply__free_unpacked(status, NULL);
    if (rc == 0) {
        rc = ask_all(arguments, &choice, end_ns, error);
    }
    if (rc == 0) {
        rc = wait_for_all(arguments, &choice, end_ns, error);
    }
    for (size_t i = 0; rc == 0 && i < choice.count; i++) {
        (void)printf("%s has left (member %" PRIu64 ")\n", choice.members[i].name,
                     choice.members[i].member);
    }
    aq_drain_choice_fini(&choice);
    return rc;
}

const aq_command aq_command_drain = {
    .name = "drain",
    .summary = "have a member of a run finish and leave",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = drain,
};
