/*
 * The daemon's side of remote calls: from the frame of a request to the method, and from the
 * method's answer to the frame of the reply. See rpc.h; loop thread only.
 *
 * A call lives from its dispatch to its answer, however late that is; its request message lives as
 * long. NNG sends a request again when a connection is lost, so the same id may come while the call
 * is in progress: then it is not carried out twice, and the answer goes to both who asked.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/nearest.h"
#include "common/net/frame.h"
#include "common/net/id_map.h"
#include "common/net/rpc.h"
#include "common/net/rpc_envelope.h"
#include "common/net/rpc_repeats.h"
#include "proto/rpc.pb-c.h"

enum {
    SERVICES_MAX = 16,
    PEER_MAX = 128,
    ASKERS_MAX = 2,            /* the last connection and the one before */
    STATUS_REPLY_BYTES = 4096, /* what a reply without a body always fits in */
};

typedef struct asker {
    aq_rpc_reply_fn reply;
    void *user;
} asker;

typedef struct aq_rpc_call {
    aq_id_node node; /* first: the table of calls hands it back */
    aq_rpc_dispatcher *dispatcher;
    uint32_t request_crc;
    uint32_t timeout_ms;
    const ProtobufCMethodDescriptor *method;
    ProtobufCMessage *input;
    asker askers[ASKERS_MAX]; /* the newest first */
    size_t asker_count;
    bool in_method; /* the method's code is still running */
    bool answered;
    char peer[PEER_MAX];
} aq_rpc_call;

struct aq_rpc_dispatcher {
    ProtobufCService *services[SERVICES_MAX];
    size_t service_count;
    aq_id_map calls; /* in progress */
    aq_rpc_repeats *repeats;
    aq_buffer reply; /* the frame that is being answered with */
    bool replying;
    aq_rpc_counters counters;
};

/* A request that came in a good envelope. */
typedef struct request {
    const Actorq__V1__RpcRequest *envelope;
    const uint8_t *body;
    size_t body_size;
    uint32_t crc;
    const char *peer;
    asker asker;
} request;

/* ---- life ---------------------------------------------------------------------------------- */

int aq_rpc_dispatcher_create(size_t calls_max, size_t reply_bytes_max, size_t repeat_bytes_max,
                             aq_rpc_dispatcher **ret_dispatcher)
{
    aq_rpc_dispatcher *dispatcher;
    uint8_t *room;
    int rc;

    AQ_ASSERT(calls_max > 0);
    dispatcher = aq_alloc(1, sizeof(*dispatcher));
    if (dispatcher == NULL) {
        return AQ_E_NOMEM;
    }
    aq_buffer_init(&dispatcher->reply,
                   reply_bytes_max < STATUS_REPLY_BYTES ? STATUS_REPLY_BYTES : reply_bytes_max);
    rc = aq_buffer_extend(&dispatcher->reply, STATUS_REPLY_BYTES, &room);
    if (rc < 0) {
        goto fail;
    }
    rc = aq_id_map_init(&dispatcher->calls, calls_max);
    if (rc < 0) {
        goto fail;
    }
    rc = aq_rpc_repeats_create(repeat_bytes_max, &dispatcher->repeats);
    if (rc < 0) {
        goto fail;
    }
    *ret_dispatcher = dispatcher;
    return 0;

fail:
    aq_rpc_dispatcher_destroy(dispatcher);
    return rc;
}

void aq_rpc_dispatcher_destroy(aq_rpc_dispatcher *dispatcher)
{
    if (dispatcher == NULL) {
        return;
    }
    AQ_ASSERT(dispatcher->calls.count == 0);
    aq_rpc_repeats_destroy(dispatcher->repeats);
    aq_id_map_fini(&dispatcher->calls);
    aq_buffer_fini(&dispatcher->reply);
    aq_free(dispatcher);
}

int aq_rpc_dispatcher_add(aq_rpc_dispatcher *dispatcher, ProtobufCService *service)
{
    if (dispatcher->service_count == SERVICES_MAX) {
        return AQ_E_FULL;
    }
    dispatcher->services[dispatcher->service_count++] = service;
    return 0;
}

size_t aq_rpc_dispatcher_reply_bytes_max(const aq_rpc_dispatcher *dispatcher)
{
    return dispatcher->reply.size_max;
}

aq_rpc_counters aq_rpc_dispatcher_counters(const aq_rpc_dispatcher *dispatcher)
{
    return dispatcher->counters;
}

/* ---- replies ------------------------------------------------------------------------------- */

static void send_reply(aq_rpc_dispatcher *dispatcher, asker to, const uint8_t *frame, size_t size)
{
    AQ_ASSERT(!dispatcher->replying); /* a transport must not dispatch from within reply */
    dispatcher->replying = true;
    to.reply(to.user, frame, size);
    dispatcher->replying = false;
}

/* Fills dispatcher->reply. A reply that holds no body always fits. */
static void pack_status(aq_rpc_dispatcher *dispatcher, uint64_t id, uint32_t code,
                        const char *message)
{
    Actorq__V1__RpcReply envelope = ACTORQ__V1__RPC_REPLY__INIT;
    char text[AQ_RPC_MESSAGE_MAX];
    int rc;

    snprintf(text, sizeof(text), "%s", message);
    envelope.request_id = id;
    envelope.status = code;
    envelope.message = text;
    aq_buffer_clear(&dispatcher->reply);
    rc = aq_envelope_pack(&dispatcher->reply, AQ_FRAME_RPC_REPLY, &envelope.base, NULL);
    AQ_ASSERT(rc == 0);
}

static void reply_status(aq_rpc_dispatcher *dispatcher, asker to, uint64_t id, uint32_t code,
                         const char *message)
{
    pack_status(dispatcher, id, code, message);
    send_reply(dispatcher, to, dispatcher->reply.data, dispatcher->reply.size);
}

/* Refuses a request before it has become a call. */
static void refuse(aq_rpc_dispatcher *dispatcher, const request *from, enum aq_rpc_code code,
                   const char *format, ...) AQ_PRINTF(4, 5);

static void refuse(aq_rpc_dispatcher *dispatcher, const request *from, enum aq_rpc_code code,
                   const char *format, ...)
{
    char message[AQ_RPC_MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    dispatcher->counters.calls++;
    dispatcher->counters.failures++;
    reply_status(dispatcher, from->asker, from->envelope->request_id, code, message);
}

/* A frame that holds no request, or none that there is memory for. */
static void refuse_frame(aq_rpc_dispatcher *dispatcher, asker from, enum aq_rpc_code code,
                         const char *why)
{
    dispatcher->counters.refused_frames++;
    reply_status(dispatcher, from, 0, code, why);
}

static void free_call(aq_rpc_call *call)
{
    aq_message_free(call->input);
    aq_free(call);
}

/* The reply frame is packed: sends it to all who asked and ends the call. */
static void finish(aq_rpc_call *call)
{
    aq_rpc_dispatcher *dispatcher = call->dispatcher;
    const aq_buffer *reply = &dispatcher->reply;

    AQ_ASSERT(!call->answered);
    call->answered = true;
    aq_id_map_remove(&dispatcher->calls, &call->node);
    aq_rpc_repeats_keep(dispatcher->repeats, call->node.id, call->request_crc, reply->data,
                        reply->size);
    for (size_t i = 0; i < call->asker_count; i++) {
        send_reply(dispatcher, call->askers[i], reply->data, reply->size);
    }
    if (!call->in_method) { /* else the method may yet look at its request */
        free_call(call);
    }
}

static void fail_call(aq_rpc_call *call, uint32_t code, const char *message)
{
    call->dispatcher->counters.failures++;
    pack_status(call->dispatcher, call->node.id, code, message);
    finish(call);
}

/* The closure that methods answer with. */
static void answer(const ProtobufCMessage *output, void *closure_data)
{
    aq_rpc_call *call = closure_data;
    aq_rpc_dispatcher *dispatcher = call->dispatcher;
    Actorq__V1__RpcReply envelope = ACTORQ__V1__RPC_REPLY__INIT;
    char text[AQ_RPC_MESSAGE_MAX];
    int rc;

    AQ_ASSERT(output != NULL);
    AQ_ASSERT(output->descriptor == call->method->output);
    AQ_ASSERT(!dispatcher->replying);
    envelope.request_id = call->node.id;
    aq_buffer_clear(&dispatcher->reply);
    rc = aq_envelope_pack(&dispatcher->reply, AQ_FRAME_RPC_REPLY, &envelope.base, output);
    if (rc == 0) {
        finish(call);
        return;
    }
    snprintf(text, sizeof(text), "%s: the reply of %zu bytes cannot be sent: %s (limit %zu)",
             call->method->name, protobuf_c_message_get_packed_size(output), aq_error_text(rc),
             dispatcher->reply.size_max);
    fail_call(call, aq_rpc_code_from_error(rc), text);
}

void aq_rpc_fail(void *closure_data, enum aq_rpc_code code, const char *format, ...)
{
    char message[AQ_RPC_MESSAGE_MAX];
    va_list args;

    AQ_ASSERT(code != AQ_RPC_OK);
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    fail_call(closure_data, code, message);
}

const char *aq_rpc_call_peer(const void *closure_data)
{
    return ((const aq_rpc_call *)closure_data)->peer;
}

uint32_t aq_rpc_call_timeout_ms(const void *closure_data)
{
    return ((const aq_rpc_call *)closure_data)->timeout_ms;
}

/* ---- requests ------------------------------------------------------------------------------ */

/* "package.Service/Method" to a service and one of its methods; NULL when there is none. */
static const ProtobufCMethodDescriptor *
find_method(const aq_rpc_dispatcher *dispatcher, const char *name, ProtobufCService **ret_service)
{
    const char *slash = strrchr(name, '/');

    for (size_t i = 0; slash != NULL && i < dispatcher->service_count; i++) {
        ProtobufCService *service = dispatcher->services[i];
        const char *service_name = service->descriptor->name;
        size_t length = (size_t)(slash - name);

        if (strlen(service_name) == length && memcmp(service_name, name, length) == 0) {
            *ret_service = service;
            return protobuf_c_service_descriptor_get_method_by_name(service->descriptor, slash + 1);
        }
    }
    return NULL;
}

static void refuse_method(aq_rpc_dispatcher *dispatcher, const request *from)
{
    char nearest_name[AQ_RPC_METHOD_MAX] = "";
    char name[AQ_RPC_METHOD_MAX];
    size_t distance = SIZE_MAX;

    for (size_t i = 0; i < dispatcher->service_count; i++) {
        const ProtobufCServiceDescriptor *service = dispatcher->services[i]->descriptor;

        for (unsigned k = 0; k < service->n_methods; k++) {
            aq_nearest nearest;

            snprintf(name, sizeof(name), "%s/%s", service->name, service->methods[k].name);
            aq_nearest_init(&nearest, from->envelope->method);
            aq_nearest_offer(&nearest, name);
            if (aq_nearest_name(&nearest) != NULL && nearest.distance < distance) {
                distance = nearest.distance;
                memcpy(nearest_name, name, sizeof(name));
            }
        }
    }
    refuse(dispatcher, from, AQ_RPC_UNIMPLEMENTED, "no method %.*s here%s%s%s", AQ_RPC_METHOD_MAX,
           from->envelope->method, distance == SIZE_MAX ? "" : "; did you mean ", nearest_name,
           distance == SIZE_MAX ? "" : "?");
}

/* The same request again, while its call is in progress: the answer will go to the newest who
 * asked and to the one before, and the oldest gives way. */
static void add_asker(aq_rpc_dispatcher *dispatcher, aq_rpc_call *call, asker newest)
{
    asker oldest = call->askers[ASKERS_MAX - 1];
    bool full = call->asker_count == ASKERS_MAX;

    memmove(&call->askers[1], &call->askers[0], (ASKERS_MAX - 1) * sizeof(asker));
    call->askers[0] = newest;
    if (!full) {
        call->asker_count++;
        return;
    }
    reply_status(dispatcher, oldest, call->node.id, AQ_RPC_ABORTED,
                 "asked again over a newer connection");
}

/* True when the request has been dealt with as a repeat. */
static bool is_repeat(aq_rpc_dispatcher *dispatcher, const request *from)
{
    uint64_t id = from->envelope->request_id;
    aq_rpc_call *call = (aq_rpc_call *)aq_id_map_find(&dispatcher->calls, id);
    const uint8_t *reply;
    size_t size;
    int rc;

    if (call == NULL) {
        rc = aq_rpc_repeats_find(dispatcher->repeats, id, from->crc, &reply, &size);
    } else {
        rc = call->request_crc == from->crc ? 0 : AQ_E_INVALID;
    }
    if (rc == AQ_E_NOT_FOUND) {
        return false;
    }
    if (rc < 0) {
        refuse(dispatcher, from, AQ_RPC_INVALID_ARGUMENT,
               "request id %llu was given to another request", (unsigned long long)id);
        return true;
    }
    dispatcher->counters.repeats++;
    if (call == NULL) {
        send_reply(dispatcher, from->asker, reply, size);
    } else {
        add_asker(dispatcher, call, from->asker);
    }
    return true;
}

static void carry_out(aq_rpc_dispatcher *dispatcher, const request *from, ProtobufCService *service,
                      const ProtobufCMethodDescriptor *method, ProtobufCMessage *input)
{
    aq_rpc_call *call = aq_alloc(1, sizeof(*call));

    if (call == NULL) {
        aq_message_free(input);
        refuse(dispatcher, from, AQ_RPC_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    call->node.id = from->envelope->request_id;
    call->dispatcher = dispatcher;
    call->request_crc = from->crc;
    call->timeout_ms = from->envelope->timeout_ms;
    call->method = method;
    call->input = input;
    call->askers[0] = from->asker;
    call->asker_count = 1;
    snprintf(call->peer, sizeof(call->peer), "%s", from->peer);
    aq_id_map_insert(&dispatcher->calls, &call->node);
    dispatcher->counters.calls++;
    call->in_method = true;
    service->invoke(service, (unsigned)(method - service->descriptor->methods), input, answer,
                    call);
    call->in_method = false;
    if (call->answered) {
        free_call(call);
    }
}

static void dispatch_request(aq_rpc_dispatcher *dispatcher, const request *from)
{
    const Actorq__V1__RpcRequest *envelope = from->envelope;
    const ProtobufCMethodDescriptor *method;
    ProtobufCService *service = NULL;
    ProtobufCMessage *input = NULL;
    int rc;

    if (envelope->timeout_ms < 1 || envelope->timeout_ms > AQ_RPC_TIMEOUT_MS_MAX) {
        refuse(dispatcher, from, AQ_RPC_INVALID_ARGUMENT,
               "a deadline of %u ms is outside 1 to %d ms", envelope->timeout_ms,
               AQ_RPC_TIMEOUT_MS_MAX);
        return;
    }
    if (is_repeat(dispatcher, from)) {
        return;
    }
    method = find_method(dispatcher, envelope->method, &service);
    if (method == NULL) {
        refuse_method(dispatcher, from);
        return;
    }
    if (dispatcher->calls.count == dispatcher->calls.count_max) {
        refuse(dispatcher, from, AQ_RPC_RESOURCE_EXHAUSTED, "%zu calls are in progress already",
               dispatcher->calls.count);
        return;
    }
    rc = aq_message_unpack(method->input, from->body, from->body_size, &input);
    if (rc < 0) {
        refuse(dispatcher, from,
               rc == AQ_E_CORRUPT ? AQ_RPC_INVALID_ARGUMENT : aq_rpc_code_from_error(rc),
               "%s: the request's body is not a %s: %s", envelope->method, method->input->name,
               aq_error_text(rc));
        return;
    }
    carry_out(dispatcher, from, service, method, input);
}

void aq_rpc_dispatch(aq_rpc_dispatcher *dispatcher, const uint8_t *frame, size_t size,
                     const char *peer, aq_rpc_reply_fn reply, void *user)
{
    request from = {.peer = peer, .asker = {reply, user}};
    const uint8_t *payload = NULL;
    size_t payload_size = 0;
    aq_envelope envelope;
    aq_error error = {0};
    uint32_t kind;
    int rc;

    AQ_ASSERT(reply != NULL);
    rc = aq_frame_check(frame, size, AQ_FRAME_RPC_REQUEST, &kind, &payload, &payload_size, &error);
    if (rc < 0) {
        refuse_frame(dispatcher, from.asker, AQ_RPC_INVALID_ARGUMENT, error.text);
        return;
    }
    rc = aq_envelope_unpack(&actorq__v1__rpc_request__descriptor, payload, payload_size, &envelope);
    if (rc == AQ_E_NOMEM) {
        refuse_frame(dispatcher, from.asker, AQ_RPC_RESOURCE_EXHAUSTED, aq_error_text(rc));
        return;
    }
    if (rc < 0) {
        refuse_frame(dispatcher, from.asker, AQ_RPC_INVALID_ARGUMENT,
                     "the frame holds no RpcRequest");
        return;
    }
    from.envelope = (const Actorq__V1__RpcRequest *)envelope.message;
    from.body = envelope.body;
    from.body_size = envelope.body_size;
    from.crc = aq_frame_crc(frame);
    dispatch_request(dispatcher, &from);
    aq_message_free(envelope.message);
}
