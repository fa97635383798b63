/*
 * actorq checkpoint: has a learner write a checkpoint, or a shard a snapshot, now.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "cli/operate/operation.h"
#include "cli/text/command.h"
#include "common/base/plain_text.h"
#include "common/net/rpc/reflect.h"
#include "common/net/rpc/rpc.h"
#include "common/sys/daemon.h"
#include "proto/operations.pb-c.h"

enum { TIMEOUT_MS_DEFAULT = 60000 };

typedef struct checkpoint_arguments {
    const char *endpoint;
    uint64_t timeout_ms;
    uint64_t shard; /* 0: the learner */
    aq_json_form json;
} checkpoint_arguments;

static const aq_option option_rows[] = {
    AQ_SHARD_OPTION_ROW(checkpoint_arguments, shard),
    {"timeout-ms", 0, "MS", "how long to wait until it is on the disk, 1 to 600000 (default 60000)",
     AQ_TO_NUMBER(checkpoint_arguments, timeout_ms, 1, AQ_RPC_TIMEOUT_MS_MAX)},
    AQ_JSON_OPTION_ROW(checkpoint_arguments, json, "the answer"),
    AQ_CREDENTIAL_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq checkpoint",
    .usage = "RUN [options]",
    .summary = "Writes a checkpoint now, and says where it is once it is on the disk. RUN is the "
               "URL of a learner, or the folder of a live run; with --shard, the URL of a replay "
               "shard, which writes a snapshot of its priorities and counts.",
    .details = "Examples:\n"
               "  actorq checkpoint runs/first\n"
               "  actorq checkpoint tcp://learner:5550 --json\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("RUN", checkpoint_arguments, endpoint)},
};

static const checkpoint_arguments defaults = {.timeout_ms = TIMEOUT_MS_DEFAULT};

static int checkpoint(void *given, aq_error *error)
{
    const checkpoint_arguments *arguments = given;
    Actorq__V1__CheckpointRequest request = ACTORQ__V1__CHECKPOINT_REQUEST__INIT;
    ProtobufCMessage *answer = NULL;
    int rc = aq_operation_call(arguments->endpoint,
                               arguments->shard != 0 ? AQ_ACCESS_REPLAY : AQ_ACCESS_LEARNER,
                               arguments->shard, "Operations/Checkpoint", &request.base,
                               (uint32_t)arguments->timeout_ms, &answer, error);
    if (rc != 0) {
        return rc;
    }
    const Actorq__V1__CheckpointReply *reply = (Actorq__V1__CheckpointReply *)answer;
    if (arguments->json) {
        rc = aq_print_json(aq_reflect_to_json(answer), arguments->json, error);
    } else {
        char path[PATH_MAX];
        (void)printf("%s", aq_plain_text(path, sizeof(path), reply->path));
        if (reply->learner_step > 0) {
            (void)printf(" (learner step %" PRIu64 ")", reply->learner_step);
        }
        (void)printf("\n");
    }
    protobuf_c_message_free_unpacked(answer, NULL);
    return rc;
}

const aq_command aq_command_checkpoint = {
    .name = "checkpoint",
    .summary = "write a checkpoint now",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = checkpoint,
};
