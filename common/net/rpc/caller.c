/*
 * Caller: see caller.h.
 */
#include "common/net/rpc/caller.h"

#include <stdbool.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/address/dial_tries.h"
#include "common/net/address/url.h"
#include "common/net/rpc/rpc_client.h"
#include "common/net/security/security.h"

enum { RECONNECT_MIN_MS = 10, RECONNECT_MAX_MS = 250, SLOW_MS = 1000 };

struct aq_caller {
    uv_loop_t loop;
    aq_rpc_client *client;
    aq_security *security;
    uv_timer_t patience; /* runs while a call is waited for, if somebody wants to know */
    aq_caller_slow_fn *slow;
    char url[AQ_URL_MAX];
};

/* The call that is waited for. */
typedef struct pending_call {
    const aq_rpc_stub *stub;
    bool answered;
    int rc;
    aq_rpc_status status;
    ProtobufCMessage *reply;
} pending_call;

int aq_caller_open(const char *url, aq_caller **ret_caller, aq_error *error)
{
    aq_net_limits limits = {
        .message_bytes_max = AQ_CALLER_ANSWER_BYTES_MAX,
        .reconnect_min_ms = RECONNECT_MIN_MS,
        .reconnect_max_ms = RECONNECT_MAX_MS,
    };
    int rc = aq_url_validate(url, error);
    if (rc != 0) {
        return rc;
    }
    aq_caller *caller = aq_alloc(1, sizeof(*caller));
    if (!caller) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    rc = aq_text_set(caller->url, sizeof(caller->url), url);
    AQ_ASSERT(rc == 0); /* a valid url fits */
    if (uv_loop_init(&caller->loop)) {
        aq_free(caller);
        return aq_fail(error, AQ_E_NOMEM, "an event loop could not be made");
    }
    rc = uv_timer_init(&caller->loop, &caller->patience);
    AQ_ASSERT(rc == 0);
    caller->patience.data = caller;
    rc = aq_security_from_environment(&caller->security, error);
    if (rc == 0) {
        limits.security = caller->security;
        rc = aq_rpc_client_create(&caller->loop, url, &limits, 1, &caller->client, error);
    }
    if (rc != 0) {
        aq_caller_close(caller);
        return rc;
    }
    *ret_caller = caller;
    return 0;
}

void aq_caller_close(aq_caller *caller)
{
    if (!caller) {
        return;
    }
    aq_rpc_client_close(caller->client);
    uv_close((uv_handle_t *)&caller->patience, NULL);
    int left = uv_run(&caller->loop, UV_RUN_DEFAULT);
    AQ_ASSERT(left == 0);
    int rc = uv_loop_close(&caller->loop);
    AQ_ASSERT(rc == 0);
    aq_security_destroy(caller->security);
    aq_free(caller);
}

void aq_caller_expect(aq_caller *caller, enum aq_access_role role, uint64_t instance)
{
    aq_rpc_channel_expect(aq_rpc_client_channel(caller->client), role, instance);
}

void aq_caller_on_slow(aq_caller *caller, aq_caller_slow_fn *slow)
{
    caller->slow = slow;
}

static void on_slow(uv_timer_t *timer)
{
    aq_caller *caller = timer->data;
    const aq_rpc_channel *channel = aq_rpc_client_channel(caller->client);
    char why[AQ_DIAL_WORDS_MAX];

    if (!aq_rpc_client_connected(caller->client)) {
        channel->write_unreached(channel, why, sizeof(why));
        caller->slow(caller->url, why);
        caller->slow = NULL;
    }
}

/* protobuf-c copies a message by packing it and reading it back. */
static ProtobufCMessage *copy_message(const ProtobufCMessage *message)
{
    size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = aq_alloc_unset(size, 1);
    if (!bytes) {
        return NULL;
    }
    (void)protobuf_c_message_pack(message, bytes);
    ProtobufCMessage *copy = protobuf_c_message_unpack(message->descriptor, NULL, size, bytes);
    aq_free(bytes);
    return copy;
}

static void on_reply(const ProtobufCMessage *reply, void *user)
{
    pending_call *call = user;
    call->answered = true;
    call->status = *aq_rpc_stub_status(call->stub);
    if (reply) {
        call->reply = copy_message(reply);
        call->rc = call->reply ? 0 : AQ_E_NOMEM;
    } else {
        call->rc = AQ_E_PEER;
    }
}

static int fail_unreached(const aq_caller *caller, uint32_t timeout_ms, aq_error *error)
{
    const aq_rpc_channel *channel = aq_rpc_client_channel(caller->client);
    char why[AQ_DIAL_WORDS_MAX];

    channel->write_unreached(channel, why, sizeof(why));
    return aq_fail(error, AQ_E_TIMEOUT, "%s could not be reached within %u ms%s%s", caller->url,
                   (unsigned)timeout_ms, why[0] != '\0' ? ": " : "", why);
}

int aq_caller_call(aq_caller *caller, aq_caller_method method, const ProtobufCMessage *request,
                   uint32_t timeout_ms, ProtobufCMessage **ret_reply, aq_rpc_status *ret_status,
                   aq_error *error)
{
    aq_rpc_stub stub;
    pending_call call = {.stub = &stub};
    aq_rpc_stub_init(&stub, aq_rpc_client_channel(caller->client), method.service, timeout_ms);
    stub.base.invoke(&stub.base, method.index, request, on_reply, &call);
    if (caller->slow != NULL) {
        uv_update_time(&caller->loop); /* which stood still outside of calls */
        int rc = uv_timer_start(&caller->patience, on_slow, SLOW_MS, 0);
        AQ_ASSERT(rc == 0);
    }
    while (!call.answered) {
        (void)uv_run(&caller->loop, UV_RUN_ONCE);
    }
    (void)uv_timer_stop(&caller->patience);
    if (call.rc == 0) {
        *ret_reply = call.reply;
        return 0;
    }
    if (call.rc == AQ_E_NOMEM) {
        return aq_fail(error, call.rc, "no memory for the answer of %s", caller->url);
    }
    if (call.status.code == AQ_RPC_DEADLINE_EXCEEDED && !aq_rpc_client_connected(caller->client)) {
        return fail_unreached(caller, timeout_ms, error);
    }
    *ret_status = call.status;
    return aq_fail(error, AQ_E_PEER, "%s: %s: %s", caller->url, aq_rpc_code_name(call.status.code),
                   call.status.message);
}
