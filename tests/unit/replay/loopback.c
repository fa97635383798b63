/*
 * A list of calls under way, each with its frames.
 */
#include "tests/unit/replay/loopback.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

static uint8_t *copy_of(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = aq_alloc(size, 1);
    AQ_ASSERT(copy != NULL);
    memcpy(copy, bytes, size);
    return copy;
}

static int loopback_send(aq_rpc_channel *channel, const uint8_t *frame, size_t size,
                         uint32_t timeout_ms, aq_rpc_answer_fn answer, void *user)
{
    loopback *loop = (loopback *)channel;
    loopback_passage *passage = aq_alloc(1, sizeof(*passage));
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
    aq_free(passage->request);
    aq_free(passage->reply);
    aq_free(passage);
}

void loopback_pump(loopback *loop)
{
    for (loopback_passage *passage = loop->passages; passage != NULL; passage = passage->next) {
        if (!passage->dispatched) {
            passage->dispatched = 1;
            aq_rpc_dispatch(loop->dispatcher, passage->request, passage->request_size,
                            "tcp://10.0.0.9:4711", on_reply, passage);
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

size_t loopback_waiting(const loopback *loop)
{
    size_t count = 0;
    for (const loopback_passage *passage = loop->passages; passage != NULL;
         passage = passage->next) {
        count++;
    }
    return count;
}

void loopback_fini(loopback *loop)
{
    AQ_ASSERT(loop->passages == NULL);
}
