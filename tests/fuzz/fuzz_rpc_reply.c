/*
 * A caller whom anything is answered: the reply to a call that it made is refused in words, or is a
 * message whose content is refused in words, or good. The first byte of the input says which call.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/member/member_read.h"
#include "common/net/rpc/reflect.h"
#include "common/net/rpc/rpc.h"
#include "common/wire/wire_run.h"
#include "common/wire/wire_sample.h"
#include "proto/exchange.pb-c.h"
#include "proto/experience.pb-c.h"
#include "proto/membership.pb-c.h"
#include "proto/operations.pb-c.h"
#include "proto/policy.pb-c.h"
#include "proto/sampling.pb-c.h"
#include "tests/fuzz/fuzz_frame.h"
#include "tests/support/must.h"

enum { ROWS_MAX = 64, STEPS = 3, CHUNK_LENGTH = 8, TIMEOUT_MS = 1000 };

/* The request's number is the same each time, so that a recorded reply fits. */
enum { CALLER = 1 };

typedef struct wire {
    aq_rpc_channel channel; /* first */
    aq_rpc_answer_fn answer;
    void *user;
} wire;

/* ---- what is done with a reply -------------------------------------------------------------- */

static void read_sample(const ProtobufCMessage *reply)
{
    static const float low[2] = {-1.0f, -1.0f}, high[2] = {1.0f, 1.0f};
    aq_schema schema;
    aq_layout layout;
    aq_batch *batches[2];
    aq_space_init_box(&schema.obs, 2, low, high);
    aq_space_init_discrete(&schema.action, 2);
    must(aq_layout_init(&schema, STEPS, CHUNK_LENGTH, &layout, NULL));
    must(aq_batch_create(&layout, 0, ROWS_MAX, &batches[0]));
    must(aq_batch_create(&layout, STEPS, ROWS_MAX, &batches[1]));
    for (int i = 0; i < 2; i++) {
        aq_error error = {0};
        int rc = aq_wire_sample_read((const Actorq__V1__SampleReply *)(const void *)reply,
                                     batches[i], &error);
        AQ_ASSERT(error.code == rc);
        AQ_ASSERT(batches[i]->rows <= ROWS_MAX);
        AQ_ASSERT((rc == 0) == (batches[i]->rows > 0));
        aq_batch_destroy(batches[i]);
    }
}

/* What was believed is within its bounds, and says the same when it is told on. */
static void check_settings(const aq_run_settings *settings)
{
    static aq_wire_settings_view view;
    aq_run_settings again;
    AQ_ASSERT(aq_run_settings_validate(settings, NULL) == 0);
    aq_wire_settings_to(settings, &view);
    AQ_ASSERT(aq_wire_settings_from(&view.message, &again, NULL) == 0);
    AQ_ASSERT(memcmp(&again.config, &settings->config, sizeof(again.config)) == 0);
}

static void read_join(const ProtobufCMessage *reply)
{
    aq_member_view view = {0};
    aq_error error = {0};
    int rc = aq_member_read_join((const Actorq__V1__JoinReply *)(const void *)reply, &view, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        check_settings(&view.settings);
    }
}

static void read_heartbeat(const ProtobufCMessage *reply)
{
    aq_member_view view = {0};
    aq_error error = {0};
    int rc = aq_member_read_heartbeat((const Actorq__V1__HeartbeatReply *)(const void *)reply,
                                      &view, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        AQ_ASSERT(view.shard_count <= AQ_MEMBER_SHARDS_MAX);
    }
}

/* `actorq call` and `actorq status --json` show whatever came. */
static void show(const ProtobufCMessage *reply)
{
    json_t *json = aq_reflect_to_json(reply);
    AQ_ASSERT(json != NULL);
    char *text = json_dumps(json, 0);
    AQ_ASSERT(text != NULL);
    free(text);
    json_decref(json);
}

/* ---- calls ---------------------------------------------------------------------------------- */

static const struct {
    const ProtobufCServiceDescriptor *service;
    const char *method;
    void (*read)(const ProtobufCMessage *reply);
} calls[] = {
    {&actorq__v1__sampling__descriptor, "Sample", read_sample},
    {&actorq__v1__membership__descriptor, "Join", read_join},
    {&actorq__v1__membership__descriptor, "Heartbeat", read_heartbeat},
    {&actorq__v1__operations__descriptor, "Status", show},
    {&actorq__v1__exchange__descriptor, "Export", show},
    {&actorq__v1__flow__descriptor, "Credit", show},
    {&actorq__v1__policy__descriptor, "Fetch", show},
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static int keep(aq_rpc_channel *channel, const uint8_t *frame, size_t size, uint32_t timeout_ms,
                aq_rpc_answer_fn answer, void *user)
{
    wire *to = (wire *)(void *)channel;
    AQ_ASSERT(frame != NULL);
    AQ_ASSERT(size > AQ_FRAME_HEADER_BYTES);
    AQ_ASSERT(timeout_ms == TIMEOUT_MS);
    to->answer = answer;
    to->user = user;
    return 0;
}

typedef struct result {
    size_t count;
    void (*read)(const ProtobufCMessage *reply);
    const aq_rpc_stub *stub;
} result;

static void on_result(const ProtobufCMessage *reply, void *user)
{
    result *to = user;
    const aq_rpc_status *status = aq_rpc_stub_status(to->stub);
    to->count++;
    AQ_ASSERT((reply != NULL) == (status->code == AQ_RPC_OK));
    AQ_ASSERT(memchr(status->message, '\0', sizeof(status->message)) != NULL);
    if (reply != NULL) {
        show(reply);
        to->read(reply);
    }
}

static void call(size_t index, const uint8_t *frame, size_t size)
{
    const ProtobufCServiceDescriptor *service = calls[index].service;
    const ProtobufCMethodDescriptor *method =
        protobuf_c_service_descriptor_get_method_by_name(service, calls[index].method);
    ProtobufCMessage *request = calloc(1, method->input->sizeof_message);
    wire line = {0};
    aq_rpc_stub stub;
    result got = {.read = calls[index].read, .stub = &stub};
    AQ_ASSERT(request != NULL);
    protobuf_c_message_init(method->input, request);
    aq_rpc_channel_init(&line.channel, FUZZ_FRAME_BYTES_MAX, CALLER);
    line.channel.send = keep;
    aq_rpc_stub_init(&stub, &line.channel, service, TIMEOUT_MS);
    stub.base.invoke(&stub.base, (unsigned)(method - service->methods), request, on_result, &got);
    AQ_ASSERT(got.count == 0);
    line.answer(line.user, 0, frame, size);
    AQ_ASSERT(got.count == 1);
    free(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    aq_buffer frame;
    if (size == 0 || size > FUZZ_FRAME_BYTES_MAX) {
        return 0;
    }
    size_t index = fuzz_choice(data[0], CALLS);
    call(index, data + 1, size - 1);
    fuzz_frame_wrap(data + 1, size - 1, AQ_FRAME_RPC_REPLY, &frame);
    call(index, frame.data, frame.size);
    aq_buffer_fini(&frame);
    return 0;
}
