/*
 * The daemon's side of remote calls: from the frame of a request to the method, and from the
 * method's answer to the frame of the reply. See rpc.h; loop thread only.
 *
 * A call lives from its dispatch to its answer, however late that is; its request message lives as
 * long. NNG sends a request again when a connection is lost, so the same id may come while the call
 * is in progress: then it is not carried out twice, and the answer goes to both who asked.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/nearest.h"
#include "common/net/rpc/frame.h"
#include "common/net/rpc/rpc.h"
#include "common/net/rpc/rpc_call.h"
#include "common/net/rpc/rpc_envelope.h"
#include "common/net/rpc/rpc_rights.h"

/* ---- life ---------------------------------------------------------------------------------- */

int aq_rpc_dispatcher_create(size_t calls_max, size_t reply_bytes_max, size_t repeat_bytes_max,
                             aq_rpc_dispatcher **ret_dispatcher)
{
    uint8_t *room;

    AQ_ASSERT(calls_max > 0);
    aq_rpc_dispatcher *dispatcher = aq_alloc(1, sizeof(*dispatcher));
    if (dispatcher == NULL) {
        return AQ_E_NOMEM;
    }
    aq_buffer_init(&dispatcher->reply, reply_bytes_max < AQ_RPC_STATUS_REPLY_BYTES
                                           ? AQ_RPC_STATUS_REPLY_BYTES
                                           : reply_bytes_max);
    int rc = aq_buffer_extend(&dispatcher->reply, AQ_RPC_STATUS_REPLY_BYTES, &room);
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
    aq_rpc_guard_destroy(dispatcher->guard);
    aq_rpc_repeats_destroy(dispatcher->repeats);
    aq_id_map_fini(&dispatcher->calls);
    aq_buffer_fini(&dispatcher->reply);
    aq_free(dispatcher);
}

int aq_rpc_dispatcher_add(aq_rpc_dispatcher *dispatcher, ProtobufCService *service)
{
    if (dispatcher->service_count == AQ_RPC_SERVICES_MAX) {
        return AQ_E_FULL;
    }
    dispatcher->services[dispatcher->service_count++] = service;
    return 0;
}

void aq_rpc_dispatcher_name(aq_rpc_dispatcher *dispatcher, enum aq_access_role role,
                            uint64_t instance)
{
    AQ_ASSERT(dispatcher->guard == NULL);
    dispatcher->role = role;
    dispatcher->instance = instance;
}

int aq_rpc_dispatcher_guard(aq_rpc_dispatcher *dispatcher, const aq_token *token)
{
    AQ_ASSERT(dispatcher->guard == NULL);
    return aq_rpc_guard_create(token, dispatcher->role, dispatcher->instance, &dispatcher->guard);
}

void aq_rpc_dispatcher_on_refused(aq_rpc_dispatcher *dispatcher, aq_rpc_refused_fn refused,
                                  void *user)
{
    dispatcher->refused = refused;
    dispatcher->refused_user = user;
}

void aq_rpc_dispatcher_keep(aq_rpc_dispatcher *dispatcher, size_t reply_bytes)
{
    aq_rpc_repeats_allow(dispatcher->repeats, reply_bytes);
}

size_t aq_rpc_dispatcher_reply_bytes_max(const aq_rpc_dispatcher *dispatcher)
{
    return dispatcher->reply.size_max;
}

aq_rpc_counters aq_rpc_dispatcher_counters(const aq_rpc_dispatcher *dispatcher)
{
    return dispatcher->counters;
}

/* ---- requests ------------------------------------------------------------------------------ */

/* A frame that holds no request, or none that there is memory for. */
static void refuse_frame(aq_rpc_dispatcher *dispatcher, aq_rpc_asker from, enum aq_rpc_code code,
                         const char *why)
{
    dispatcher->counters.refused_frames++;
    aq_rpc_reply_status(dispatcher, from, 0, code, why, NULL);
}

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

static void refuse_method(aq_rpc_dispatcher *dispatcher, const aq_rpc_request *from)
{
    const char *method = from->envelope->method;
    char offered[AQ_RPC_METHOD_MAX];
    aq_nearest nearest;

    aq_nearest_init(&nearest, method);
    for (size_t i = 0; i < dispatcher->service_count; i++) {
        const ProtobufCServiceDescriptor *service = dispatcher->services[i]->descriptor;

        for (unsigned k = 0; k < service->n_methods; k++) {
            snprintf(offered, sizeof(offered), "%s/%s", service->name, service->methods[k].name);
            (void)aq_nearest_offer(&nearest, offered);
        }
    }
    const char *near = aq_nearest_name(&nearest);
    aq_rpc_refuse(dispatcher, from, AQ_RPC_UNIMPLEMENTED, "no method %.*s here%s%s%s",
                  AQ_RPC_METHOD_MAX, method, near != NULL ? "; did you mean " : "",
                  near != NULL ? near : "", near != NULL ? "?" : "");
}

/* The same request again, while its call is in progress: the answer will go to the newest who
 * asked and to the one before, and the oldest gives way. */
static void add_asker(aq_rpc_dispatcher *dispatcher, aq_rpc_call *call, aq_rpc_asker newest)
{
    aq_rpc_asker oldest = call->askers[AQ_RPC_ASKERS_MAX - 1];
    bool full = call->asker_count == AQ_RPC_ASKERS_MAX;

    memmove(&call->askers[1], &call->askers[0], (AQ_RPC_ASKERS_MAX - 1) * sizeof(aq_rpc_asker));
    call->askers[0] = newest;
    if (!full) {
        call->asker_count++;
        return;
    }
    aq_rpc_reply_status(dispatcher, oldest, call->node.id, AQ_RPC_ABORTED,
                        "asked again over a newer connection", NULL);
}

/* True when the request has been dealt with as a repeat. */
static bool is_repeat(aq_rpc_dispatcher *dispatcher, const aq_rpc_request *from)
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
        aq_rpc_refuse(dispatcher, from, AQ_RPC_INVALID_ARGUMENT,
                      "request id %llu was given to another request", (unsigned long long)id);
        return true;
    }
    dispatcher->counters.repeats++;
    if (call == NULL) {
        aq_rpc_send_reply(dispatcher, from->asker, reply, size);
    } else {
        add_asker(dispatcher, call, from->asker);
    }
    return true;
}

static void carry_out(aq_rpc_dispatcher *dispatcher, const aq_rpc_request *from,
                      ProtobufCService *service, const ProtobufCMethodDescriptor *method,
                      ProtobufCMessage *input)
{
    aq_rpc_call *call = aq_alloc(1, sizeof(*call));

    if (call == NULL) {
        aq_message_free(input);
        aq_rpc_refuse(dispatcher, from, AQ_RPC_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    call->node.id = from->envelope->request_id;
    call->dispatcher = dispatcher;
    call->request_crc = from->crc;
    call->timeout_ms = from->envelope->timeout_ms;
    call->role = from->role;
    call->method = method;
    call->input = input;
    call->askers[0] = from->asker;
    call->asker_count = 1;
    snprintf(call->peer, sizeof(call->peer), "%s", from->peer);
    aq_id_map_insert(&dispatcher->calls, &call->node);
    dispatcher->counters.calls++;
    call->in_method = true;
    service->invoke(service, (unsigned)(method - service->descriptor->methods), input,
                    aq_rpc_answer, call);
    call->in_method = false;
    if (call->answered) {
        aq_rpc_call_free(call);
    }
}

/* ---- who may call -------------------------------------------------------------------------- */

/* Nothing was carried out; the caller signs with this and calls again. */
static void challenge(aq_rpc_dispatcher *dispatcher, const aq_rpc_request *from)
{
    Actorq__V1__RpcChallenge what;

    aq_rpc_guard_challenge(dispatcher->guard, aq_clock_monotonic_ns(), &what);
    aq_rpc_reply_status(dispatcher, from->asker, from->envelope->request_id, AQ_RPC_UNAUTHENTICATED,
                        "sign the call for this daemon", &what);
}

static void turn_away(aq_rpc_dispatcher *dispatcher, const aq_rpc_request *from,
                      enum aq_rpc_code code, const char *why)
{
    dispatcher->counters.turned_away++;
    if (dispatcher->refused != NULL) { /* before its caller hears of it */
        dispatcher->refused(dispatcher->refused_user, from->peer, from->role,
                            from->envelope->method, why);
    }
    aq_rpc_refuse(dispatcher, from, code, "%s", why);
}

/* Finds out who calls. False when the request has been answered. */
static bool is_genuine(aq_rpc_dispatcher *dispatcher, aq_rpc_request *from)
{
    const char *why = "";

    switch (aq_rpc_guard_check(dispatcher->guard, from->envelope, from->body, from->body_size,
                               &from->role, &why)) {
    case AQ_GUARD_GENUINE:
        return true;
    case AQ_GUARD_CHALLENGE:
        challenge(dispatcher, from);
        return false;
    default:
        turn_away(dispatcher, from, AQ_RPC_UNAUTHENTICATED, why);
        return false;
    }
}

/* For a genuine request that is no repeat. False when it has been answered. */
static bool is_allowed(aq_rpc_dispatcher *dispatcher, const aq_rpc_request *from)
{
    char why[AQ_RPC_METHOD_MAX + 64];

    if (!aq_rpc_may_call(from->role, from->envelope->method)) {
        snprintf(why, sizeof(why), "the role %s may not call %.*s", aq_access_role_name(from->role),
                 AQ_RPC_METHOD_MAX, from->envelope->method);
        turn_away(dispatcher, from, AQ_RPC_PERMISSION_DENIED, why);
        return false;
    }
    if (!aq_rpc_guard_is_new(dispatcher->guard, from->envelope, aq_clock_monotonic_ns())) {
        challenge(dispatcher, from);
        return false;
    }
    return true;
}

static void dispatch_request(aq_rpc_dispatcher *dispatcher, aq_rpc_request *from)
{
    const Actorq__V1__RpcRequest *envelope = from->envelope;
    ProtobufCService *service = NULL;
    ProtobufCMessage *input = NULL;

    if (envelope->timeout_ms < 1 || envelope->timeout_ms > AQ_RPC_TIMEOUT_MS_MAX) {
        aq_rpc_refuse(dispatcher, from, AQ_RPC_INVALID_ARGUMENT,
                      "a deadline of %u ms is outside 1 to %d ms", envelope->timeout_ms,
                      AQ_RPC_TIMEOUT_MS_MAX);
        return;
    }
    if (dispatcher->guard != NULL && !is_genuine(dispatcher, from)) {
        return;
    }
    if (is_repeat(dispatcher, from) ||
        (dispatcher->guard != NULL && !is_allowed(dispatcher, from))) {
        return;
    }
    const ProtobufCMethodDescriptor *method = find_method(dispatcher, envelope->method, &service);
    if (method == NULL) {
        refuse_method(dispatcher, from);
        return;
    }
    if (dispatcher->calls.count == dispatcher->calls.count_max) {
        aq_rpc_refuse(dispatcher, from, AQ_RPC_RESOURCE_EXHAUSTED,
                      "%zu calls are in progress already", dispatcher->calls.count);
        return;
    }
    int rc = aq_message_unpack(method->input, from->body, from->body_size, &input);
    if (rc < 0) {
        aq_rpc_refuse(dispatcher, from,
                      rc == AQ_E_CORRUPT ? AQ_RPC_INVALID_ARGUMENT : aq_rpc_code_from_error(rc),
                      "%s: the request's body is not a %s: %s", envelope->method,
                      method->input->name, aq_error_text(rc));
        return;
    }
    carry_out(dispatcher, from, service, method, input);
}

void aq_rpc_dispatch(aq_rpc_dispatcher *dispatcher, const uint8_t *frame, size_t size,
                     const char *peer, aq_rpc_reply_fn reply, void *user)
{
    aq_rpc_request from = {.peer = peer, .asker = {reply, user}};
    const uint8_t *payload = NULL;
    size_t payload_size = 0;
    aq_envelope envelope;
    aq_error error = {0};

    AQ_ASSERT(reply != NULL);
    int rc = aq_frame_check(frame, size, AQ_FRAME_RPC_REQUEST, &payload, &payload_size, &error);
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
