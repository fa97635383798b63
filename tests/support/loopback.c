/*
 * A list of calls under way, each with its frames.
 */
#include "tests/support/loopback.h"

#include "common/base/assert.h"
#include "tests/support/test.h"

static uint8_t *copy_of(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = test_malloc(size);
    AQ_ASSERT(copy != NULL);
    memcpy(copy, bytes, size);
    return copy;
}

static int loopback_send(aq_rpc_channel *channel, const uint8_t *frame, size_t size,
                         uint32_t timeout_ms, aq_rpc_answer_fn answer, void *user)
{
    loopback *loop = (loopback *)channel;
    loopback_passage *passage = test_malloc(sizeof(*passage));
    loopback_passage **end = &loop->passages;
    (void)timeout_ms;
    AQ_ASSERT(passage != NULL);
    *passage = (loopback_passage){
        .request = copy_of(frame, size), .request_size = size, .answer = answer, .user = user};
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = passage;
    return 0;
}

void loopback_init(loopback *loop, aq_rpc_dispatcher *dispatcher)
{
    memset(loop, 0, sizeof(*loop));
    aq_rpc_channel_init(&loop->channel, LOOPBACK_FRAME_BYTES_MAX, 1);
    loop->channel.send = loopback_send;
    loop->dispatcher = dispatcher;
    snprintf(loop->peer, sizeof(loop->peer), "tcp://10.0.0.9:4711");
}

static void on_reply(void *user, const uint8_t *frame, size_t size)
{
    loopback_passage *passage = user;
    AQ_ASSERT(passage->reply == NULL);
    passage->reply = copy_of(frame, size);
    passage->reply_size = size;
}

static void free_passage(loopback_passage *passage)
{
    test_free(passage->request);
    test_free(passage->reply);
    test_free(passage);
}

void loopback_pump(loopback *loop)
{
    for (loopback_passage *passage = loop->passages; passage != NULL; passage = passage->next) {
        if (!passage->dispatched) {
            passage->dispatched = 1;
            aq_rpc_dispatch(loop->dispatcher, passage->request, passage->request_size, loop->peer,
                            on_reply, passage);
        }
    }
    loopback_passage **at = &loop->passages;
    while (*at != NULL) {
        loopback_passage *passage = *at;
        if (passage->reply == NULL) {
            at = &passage->next;
            continue;
        }
        *at = passage->next;
        passage->answer(passage->user, 0, passage->reply, passage->reply_size);
        free_passage(passage);
    }
}

ProtobufCMessage *loopback_copy(const ProtobufCMessage *message)
{
    const size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = test_malloc(size + 1);
    protobuf_c_message_pack(message, bytes);
    ProtobufCMessage *copy = protobuf_c_message_unpack(message->descriptor, NULL, size, bytes);
    test_free(bytes);
    assert_non_null(copy);
    return copy;
}

void loopback_fini(loopback *loop)
{
    AQ_ASSERT(loop->passages == NULL);
}
