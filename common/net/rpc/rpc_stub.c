/*
 * The caller's side of remote calls: a protobuf-c service whose methods travel. See rpc.h; loop
 * thread only.
 *
 * Whatever goes wrong between a call and its answer ends in one place, `finish`, as a status with
 * words that name the method.
 *
 * A channel with a token signs its calls. The daemon answers the first one, and one that it cannot
 * tell from a recording, with a challenge; then the call is made again under another id, within its
 * deadline. Nothing was carried out before.
 */
#include <stdarg.h>
#include <stdio.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/plain_text.h"
#include "common/base/rng.h"
#include "common/net/address/dial_tries.h"
#include "common/net/rpc/frame.h"
#include "common/net/rpc/rpc.h"
#include "common/net/rpc/rpc_envelope.h"
#include "common/net/rpc/rpc_guard.h"
#include "common/net/rpc/rpc_rights.h"
#include "proto/rpc.pb-c.h"

/* A call on its way. It holds all it needs: the stub may be gone when the answer comes. */
typedef struct pending {
    aq_rpc_channel *channel;
    char name[AQ_RPC_METHOD_MAX + 1]; /* "package.Service/Method" */
    const ProtobufCMethodDescriptor *method;
    ProtobufCClosure closure;
    void *closure_data;
    uint64_t id;
    uint32_t timeout_ms;
    /* With a token: */
    aq_buffer body; /* of the request, to sign it again */
    int64_t deadline_ns;
    unsigned signings;
} pending;

enum { SIGNINGS_MAX = 4 };

void aq_rpc_channel_init(aq_rpc_channel *channel, size_t frame_bytes_max, uint64_t seed)
{
    aq_rng rng;

    AQ_ASSERT(frame_bytes_max > AQ_FRAME_HEADER_BYTES);
    aq_rng_init(&rng, seed, 0);
    channel->write_unreached = NULL;
    channel->status = NULL;
    channel->caller = aq_rng_next(&rng) >> 32;
    channel->next_call = aq_rng_next(&rng) >> 32;
    channel->frame_bytes_max = frame_bytes_max;
    channel->timeout_ms_min = 0;
    channel->token = NULL;
    channel->peer = (aq_token_peer){0};
    channel->expected = (aq_token_peer){0};
}

void aq_rpc_channel_expect(aq_rpc_channel *channel, enum aq_access_role role, uint64_t instance)
{
    channel->expected = (aq_token_peer){.role = role, .instance = instance};
    channel->peer = (aq_token_peer){0};
}

/* Both halves start at random, so that even two callers with the same upper half do not meet. 0 is
 * left out: it stands for a request that could not be read. */
static uint64_t next_id(aq_rpc_channel *channel)
{
    uint64_t id;

    do {
        id = channel->caller << 32 | (channel->next_call++ & UINT32_MAX);
    } while (id == 0);
    return id;
}

static void set_status(aq_rpc_status *status, uint32_t code, const char *format, ...)
    AQ_PRINTF(3, 4);

static void set_status(aq_rpc_status *status, uint32_t code, const char *format, ...)
{
    va_list args;

    status->code = code;
    va_start(args, format);
    vsnprintf(status->message, sizeof(status->message), format, args);
    va_end(args);
}

/* Runs the closure; one closure may make a call that fails at once, and so run another. */
static void finish(const pending *call, const ProtobufCMessage *reply, const aq_rpc_status *status)
{
    aq_rpc_channel *channel = call->channel;
    const aq_rpc_status *outer = channel->status;

    AQ_ASSERT((reply != NULL) == (status->code == AQ_RPC_OK));
    channel->status = status;
    call->closure(reply, call->closure_data);
    channel->status = outer;
}

/* The status of a failure of the transport or of the reply's envelope. */
static void failure_status(const pending *call, int error, const char *words, aq_rpc_status *status)
{
    char why[AQ_DIAL_WORDS_MAX] = "";

    if (error == AQ_E_TIMEOUT) {
        if (call->channel->write_unreached != NULL) {
            call->channel->write_unreached(call->channel, why, sizeof(why));
        }
        set_status(status, AQ_RPC_DEADLINE_EXCEEDED, "%s: no answer within %u ms%s%s", call->name,
                   call->timeout_ms, why[0] != '\0' ? ": " : "", why);
    } else if (error == AQ_E_CLOSED) {
        set_status(status, AQ_RPC_CANCELLED, "%s: the connection was closed here", call->name);
    } else {
        set_status(status, error == AQ_E_IO ? AQ_RPC_UNAVAILABLE : aq_rpc_code_from_error(error),
                   "%s: %s", call->name, words);
    }
}

/* ---- the answer ---------------------------------------------------------------------------- */

/* Fills `status`, and `*ret_reply` when it is OK. */
static void read_reply(const pending *call, const aq_envelope *envelope, aq_rpc_status *status,
                       ProtobufCMessage **ret_reply)
{
    const Actorq__V1__RpcReply *reply = (const Actorq__V1__RpcReply *)envelope->message;

    /* A server that could not read the request cannot name it either. */
    if (reply->request_id != call->id && (reply->request_id != 0 || reply->status == AQ_RPC_OK)) {
        set_status(status, AQ_RPC_INTERNAL, "%s: the reply belongs to another request", call->name);
        return;
    }
    if (reply->status != AQ_RPC_OK) {
        status->code = reply->status > AQ_RPC_UNAUTHENTICATED ? AQ_RPC_UNKNOWN : reply->status;
        /* The words come from a peer and go to terminals and logs. */
        (void)aq_plain_text(status->message, sizeof(status->message), reply->message);
        return;
    }
    int rc =
        aq_message_unpack(call->method->output, envelope->body, envelope->body_size, ret_reply);
    if (rc < 0) {
        set_status(status, AQ_RPC_INTERNAL, "%s: the reply's body is not a %s: %s", call->name,
                   call->method->output->name, aq_error_text(rc));
        return;
    }
    *status = (aq_rpc_status){.code = AQ_RPC_OK};
}

static int open_reply(const uint8_t *frame, size_t size, aq_envelope *ret_envelope, aq_error *error)
{
    const uint8_t *payload = NULL;
    size_t payload_size = 0;

    int rc = aq_frame_check(frame, size, AQ_FRAME_RPC_REPLY, &payload, &payload_size, error);
    if (rc < 0) {
        return rc;
    }
    rc =
        aq_envelope_unpack(&actorq__v1__rpc_reply__descriptor, payload, payload_size, ret_envelope);
    return rc < 0 ? aq_fail(error, rc, "the frame holds no RpcReply") : 0;
}

static int send_signed(pending *call, aq_error *error);

/* Whether the daemon that asks for a signature is the one that was called. Another start of it may
 * be heard of before the call is tried again. */
static bool is_expected(const pending *call, const Actorq__V1__RpcChallenge *challenge,
                        aq_rpc_status *status)
{
    const aq_token_peer *expected = &call->channel->expected;
    enum aq_access_role role = aq_rpc_listener_of(call->name);

    role = role != AQ_ACCESS_NONE ? role : expected->role;
    if (role != AQ_ACCESS_NONE && challenge->role != role) {
        set_status(status, AQ_RPC_UNAUTHENTICATED, "%s: the daemon there is of the role %s, not %s",
                   call->name, aq_access_role_name((enum aq_access_role)challenge->role),
                   aq_access_role_name(role));
        return false;
    }
    if (expected->instance != 0 && challenge->instance != expected->instance) {
        set_status(status, AQ_RPC_UNAVAILABLE,
                   "%s: another daemon, or another start of it, is there", call->name);
        return false;
    }
    return true;
}

/* True when the call is under way again. */
static bool answer_challenge(pending *call, const aq_envelope *envelope, aq_rpc_status *status)
{
    const Actorq__V1__RpcReply *reply = (const Actorq__V1__RpcReply *)envelope->message;
    int64_t now_ns = aq_clock_monotonic_ns();
    aq_error error = {0};

    if (reply->challenge == NULL || reply->status != AQ_RPC_UNAUTHENTICATED ||
        reply->request_id != call->id || call->signings == 0) {
        return false;
    }
    if (call->signings == SIGNINGS_MAX) { /* it is started again and again: worth another try */
        set_status(status, AQ_RPC_UNAVAILABLE,
                   "%s: the daemon asks for one signature after the other", call->name);
        return false;
    }
    if (!is_expected(call, reply->challenge, status)) {
        return false;
    }
    aq_guard_peer_take(&call->channel->peer, reply->challenge, now_ns);
    int rc = send_signed(call, &error);
    if (rc < 0) {
        failure_status(call, rc, error.text, status);
    }
    return rc == 0;
}

static void on_answer(void *user, int error_code, const uint8_t *frame, size_t size)
{
    pending *call = user;
    ProtobufCMessage *reply = NULL;
    aq_envelope envelope = {0};
    aq_rpc_status status;
    aq_error error = {0};
    int rc;

    if (error_code < 0) {
        failure_status(call, error_code, aq_error_text(error_code), &status);
    } else {
        rc = open_reply(frame, size, &envelope, &error);
        if (rc < 0) {
            failure_status(call, rc, error.text, &status);
        } else {
            read_reply(call, &envelope, &status, &reply);
            if (answer_challenge(call, &envelope, &status)) {
                aq_message_free(envelope.message);
                return;
            }
        }
    }
    finish(call, reply, &status);
    aq_message_free(reply);
    aq_message_free(envelope.message);
    aq_buffer_fini(&call->body);
    aq_free(call);
}

/* ---- the request --------------------------------------------------------------------------- */

/* Packs and sends the request, whose body is `input` or lies in the envelope. */
static int send_envelope(pending *call, Actorq__V1__RpcRequest *envelope,
                         const ProtobufCMessage *input, aq_error *error)
{
    aq_rpc_channel *channel = call->channel;
    aq_buffer frame;

    aq_buffer_init(&frame, channel->frame_bytes_max);
    int rc = aq_envelope_pack(&frame, AQ_FRAME_RPC_REQUEST, &envelope->base, input);
    if (rc < 0) {
        rc = aq_fail(error, rc, "the request of %zu bytes cannot be sent: %s (limit %zu)",
                     input == NULL ? envelope->body.len : protobuf_c_message_get_packed_size(input),
                     aq_error_text(rc), channel->frame_bytes_max);
    } else {
        rc = channel->send(channel, frame.data, frame.size, envelope->timeout_ms, on_answer, call);
        if (rc < 0) {
            rc = aq_fail(error, rc, "the request cannot be sent: %s", aq_error_text(rc));
        }
    }
    aq_buffer_fini(&frame);
    return rc;
}

/* Signs the kept body under a new id, and sends it for the time that is left. */
static int send_signed(pending *call, aq_error *error)
{
    Actorq__V1__RpcRequest envelope = ACTORQ__V1__RPC_REQUEST__INIT;
    const int64_t now_ns = aq_clock_monotonic_ns();
    const int64_t left_ns = call->deadline_ns - now_ns;
    uint8_t proof[AQ_GUARD_PROOF_BYTES];
    aq_token_call facts = {.request_id = next_id(call->channel),
                           .timeout_ms = left_ns > 0 ? (uint32_t)(left_ns / AQ_NS_PER_MS) : 0,
                           .method = call->name,
                           .body = call->body.data,
                           .body_size = call->body.size};

    if (facts.timeout_ms == 0) {
        return aq_fail(error, AQ_E_TIMEOUT, "it came to its deadline before it was sent");
    }
    call->signings++;
    call->id = facts.request_id;
    envelope.method = call->name;
    envelope.request_id = facts.request_id;
    envelope.timeout_ms = facts.timeout_ms;
    envelope.body = (ProtobufCBinaryData){call->body.size, call->body.data};
    envelope.token.data = proof;
    int rc = aq_guard_peer_sign(&call->channel->peer, call->channel->token, now_ns, &facts, proof,
                                &envelope.token.len);
    if (rc < 0) {
        return aq_fail(error, rc, "the request cannot be signed: %s", aq_error_text(rc));
    }
    return send_envelope(call, &envelope, NULL, error);
}

static int send_unsigned(pending *call, const ProtobufCMessage *input, aq_error *error)
{
    Actorq__V1__RpcRequest envelope = ACTORQ__V1__RPC_REQUEST__INIT;

    call->id = next_id(call->channel);
    envelope.method = call->name;
    envelope.request_id = call->id;
    envelope.timeout_ms = call->timeout_ms;
    return send_envelope(call, &envelope, input, error);
}

static int send_request(pending *call, const ProtobufCMessage *input, aq_error *error)
{
    if (call->channel->token == NULL) {
        return send_unsigned(call, input, error);
    }
    call->deadline_ns =
        aq_clock_monotonic_ns() + call->timeout_ms * AQ_NS_PER_MS + AQ_NS_PER_MS - 1;
    int rc = aq_message_append(input, &call->body);
    if (rc < 0) {
        return aq_fail(error, rc, "the request of %zu bytes cannot be sent: %s (limit %zu)",
                       protobuf_c_message_get_packed_size(input), aq_error_text(rc),
                       call->channel->frame_bytes_max);
    }
    return send_signed(call, error);
}

static void invoke(ProtobufCService *service, unsigned method_index, const ProtobufCMessage *input,
                   ProtobufCClosure closure, void *closure_data)
{
    aq_rpc_stub *stub = (aq_rpc_stub *)service;
    const uint32_t least_ms = stub->channel->timeout_ms_min;
    pending call = {.channel = stub->channel,
                    .method = &service->descriptor->methods[method_index],
                    .closure = closure,
                    .closure_data = closure_data,
                    .timeout_ms = stub->timeout_ms > least_ms ? stub->timeout_ms : least_ms};
    aq_rpc_status status;
    aq_error error = {.text = "out of memory"};
    int rc = AQ_E_NOMEM;

    AQ_ASSERT(method_index < service->descriptor->n_methods);
    AQ_ASSERT(input->descriptor == call.method->input);
    snprintf(call.name, sizeof(call.name), "%s/%s", service->descriptor->name, call.method->name);
    aq_buffer_init(&call.body, stub->channel->frame_bytes_max);
    pending *sent = aq_alloc(1, sizeof(*sent));
    if (sent != NULL) {
        *sent = call;
        rc = send_request(sent, input, &error);
    }
    if (rc < 0) {
        if (sent != NULL) {
            aq_buffer_fini(&sent->body);
        }
        aq_free(sent);
        failure_status(&call, rc, error.text, &status);
        finish(&call, NULL, &status);
    }
}

void aq_rpc_stub_init(aq_rpc_stub *stub, aq_rpc_channel *channel,
                      const ProtobufCServiceDescriptor *descriptor, uint32_t timeout_ms)
{
    AQ_ASSERT(timeout_ms >= 1);
    AQ_ASSERT(timeout_ms <= AQ_RPC_TIMEOUT_MS_MAX);
    *stub = (aq_rpc_stub){.base = {.descriptor = descriptor, .invoke = invoke},
                          .channel = channel,
                          .timeout_ms = timeout_ms};
}

const aq_rpc_status *aq_rpc_stub_status(const aq_rpc_stub *stub)
{
    return stub->channel->status;
}
