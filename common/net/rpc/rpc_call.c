/*
 * Calls and their answers: see rpc_call.h.
 */
#include "common/net/rpc/rpc_call.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/net/rpc/rpc_envelope.h"

void aq_rpc_send_reply(aq_rpc_dispatcher *dispatcher, aq_rpc_asker to, const uint8_t *frame,
                       size_t size)
{
    AQ_ASSERT(!dispatcher->replying); /* a transport must not dispatch from within reply */
    dispatcher->replying = true;
    to.reply(to.user, frame, size);
    dispatcher->replying = false;
}

/* Fills dispatcher->reply. A reply that holds no body always fits. */
static void pack_status(aq_rpc_dispatcher *dispatcher, uint64_t id, uint32_t code,
                        const char *message, Actorq__V1__RpcChallenge *challenge)
{
    Actorq__V1__RpcReply envelope = ACTORQ__V1__RPC_REPLY__INIT;
    char text[AQ_RPC_MESSAGE_MAX];

    snprintf(text, sizeof(text), "%s", message);
    envelope.request_id = id;
    envelope.status = code;
    envelope.message = text;
    envelope.challenge = challenge;
    aq_buffer_clear(&dispatcher->reply);
    int rc = aq_envelope_pack(&dispatcher->reply, AQ_FRAME_RPC_REPLY, &envelope.base, NULL);
    AQ_ASSERT(rc == 0);
}

void aq_rpc_reply_status(aq_rpc_dispatcher *dispatcher, aq_rpc_asker to, uint64_t id, uint32_t code,
                         const char *message, Actorq__V1__RpcChallenge *challenge)
{
    pack_status(dispatcher, id, code, message, challenge);
    aq_rpc_send_reply(dispatcher, to, dispatcher->reply.data, dispatcher->reply.size);
}

void aq_rpc_refuse(aq_rpc_dispatcher *dispatcher, const aq_rpc_request *from, enum aq_rpc_code code,
                   const char *format, ...)
{
    char message[AQ_RPC_MESSAGE_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    dispatcher->counters.calls++;
    dispatcher->counters.failures++;
    aq_rpc_reply_status(dispatcher, from->asker, from->envelope->request_id, code, message, NULL);
}

void aq_rpc_call_free(aq_rpc_call *call)
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
        aq_rpc_send_reply(dispatcher, call->askers[i], reply->data, reply->size);
    }
    if (!call->in_method) { /* else the method may yet look at its request */
        aq_rpc_call_free(call);
    }
}

static void fail_call(aq_rpc_call *call, uint32_t code, const char *message)
{
    call->dispatcher->counters.failures++;
    pack_status(call->dispatcher, call->node.id, code, message, NULL);
    finish(call);
}

void aq_rpc_answer(const ProtobufCMessage *output, void *closure_data)
{
    aq_rpc_call *call = closure_data;
    aq_rpc_dispatcher *dispatcher = call->dispatcher;
    Actorq__V1__RpcReply envelope = ACTORQ__V1__RPC_REPLY__INIT;
    char text[AQ_RPC_MESSAGE_MAX];

    AQ_ASSERT(output != NULL);
    AQ_ASSERT(output->descriptor == call->method->output);
    AQ_ASSERT(!dispatcher->replying);
    envelope.request_id = call->node.id;
    aq_buffer_clear(&dispatcher->reply);
    int rc = aq_envelope_pack(&dispatcher->reply, AQ_FRAME_RPC_REPLY, &envelope.base, output);
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

enum aq_access_role aq_rpc_call_role(const void *closure_data)
{
    return ((const aq_rpc_call *)closure_data)->role;
}

const char *aq_rpc_call_peer(const void *closure_data)
{
    return ((const aq_rpc_call *)closure_data)->peer;
}

uint32_t aq_rpc_call_timeout_ms(const void *closure_data)
{
    return ((const aq_rpc_call *)closure_data)->timeout_ms;
}
