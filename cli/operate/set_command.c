/*
 * actorq set: changes settings of a running system, or shows those that can be changed.
 */
#include <stdio.h>

#include "cli/operate/operation.h"
#include "cli/text/command.h"
#include "common/base/plain_text.h"
#include "common/net/rpc/reflect.h"
#include "common/settings/settings.h"
#include "common/sys/daemon.h"
#include "common/wire/wire_frame.h"
#include "proto/operations.pb-c.h"

enum { SHOWN_BYTES = 512 };

typedef struct set_arguments {
    const char *endpoint;
    aq_settings_assignments assignments;
    uint64_t timeout_ms;
    aq_json_form json;
} set_arguments;

static int add_assignment(void *arguments, const char *value, aq_error *error)
{
    return aq_settings_assignments_add(&((set_arguments *)arguments)->assignments, value, error);
}

static const aq_option option_rows[] = {
    AQ_CALL_TIMEOUT_OPTION_ROW(set_arguments, timeout_ms),
    AQ_JSON_OPTION_ROW(set_arguments, json, "the answer"),
    AQ_CREDENTIAL_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq set",
    .usage = "RUN [KEY=VALUE...] [options]",
    .summary = "Changes settings of a running system: all that are given, or none. RUN is the URL "
               "of its learner, or the folder of a live run. Without KEY=VALUE it shows what can "
               "be changed, and how it stands.",
    .details = "The learner goes by the new values at once, the others within a heartbeat. They "
               "are kept in\nthe run folder, so that a run that is resumed goes on with them, and "
               "recorded in its log and\nmetrics.jsonl. Whatever cannot be changed while the run "
               "goes on is refused.\n"
               "\n"
               "Examples:\n"
               "  actorq set runs/first\n"
               "  actorq set runs/first actor.noise=0.1 quantizer.publish_period=50\n"
               "  actorq set tcp://learner:5550 limits.env_steps=2000000 log.level=debug\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("RUN", set_arguments, endpoint)},
    .more = add_assignment,
};

static void print_changes(const Actorq__V1__ConfigureReply *reply)
{
    char key[SHOWN_BYTES], before[SHOWN_BYTES], after[SHOWN_BYTES];
    for (size_t i = 0; i < reply->n_changes; i++) {
        const Actorq__V1__SettingChange *change = reply->changes[i];
        (void)printf("%s: %s -> %s\n", aq_plain_text(key, sizeof(key), change->key),
                     aq_plain_text(before, sizeof(before), change->before),
                     aq_plain_text(after, sizeof(after), change->after));
    }
    if (reply->n_changes == 0) {
        (void)puts("nothing changed: it is so already");
    }
}

static void print_values(const Actorq__V1__ConfigureReply *reply)
{
    char key[SHOWN_BYTES], value[SHOWN_BYTES];
    for (size_t i = 0; i < reply->n_live; i++) {
        (void)printf("%s=%s\n", aq_plain_text(key, sizeof(key), reply->live[i]->key),
                     aq_plain_text(value, sizeof(value), reply->live[i]->value));
    }
}

static const set_arguments defaults = {.timeout_ms = AQ_CALL_TIMEOUT_MS};

static int set(void *given, aq_error *error)
{
    const set_arguments *arguments = given;
    Actorq__V1__ConfigureRequest request = ACTORQ__V1__CONFIGURE_REQUEST__INIT;
    char *texts[AQ_SETTINGS_ASSIGNMENTS_MAX];
    ProtobufCMessage *answer = NULL;
    for (size_t i = 0; i < arguments->assignments.count; i++) {
        texts[i] = aq_wire_text(arguments->assignments.texts[i]);
    }
    request.n_assignments = arguments->assignments.count;
    request.assignments = texts;
    int rc = aq_operation_call(arguments->endpoint, AQ_ACCESS_LEARNER, 0, "Operations/Configure",
                               &request.base, (uint32_t)arguments->timeout_ms, &answer, error);
    if (rc != 0) {
        return rc;
    }
    const Actorq__V1__ConfigureReply *reply = (Actorq__V1__ConfigureReply *)answer;
    if (arguments->json) {
        rc = aq_print_json(aq_reflect_to_json(answer), arguments->json, error);
    } else if (request.n_assignments > 0) {
        print_changes(reply);
    } else {
        print_values(reply);
    }
    protobuf_c_message_free_unpacked(answer, NULL);
    return rc;
}

const aq_command aq_command_set = {
    .name = "set",
    .summary = "change settings of a running system",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = set,
};
