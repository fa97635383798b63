/*
 * Requests of a fuzz target, and their answers.
 */
#include "tests/fuzz/fuzz_desk.h"

#include "common/base/assert.h"
#include "tests/fuzz/fuzz_frame.h"
#include "tests/support/must.h"

enum { CALLS_MAX = 16, REPLY_BYTES_MAX = 1 << 22, REPEAT_BYTES_MAX = 1 << 16 };

static const char peer[] = "tcp://10.0.0.9:4711";

void fuzz_desk_init(fuzz_desk *desk)
{
    *desk = (fuzz_desk){0};
    int rc =
        aq_rpc_dispatcher_create(CALLS_MAX, REPLY_BYTES_MAX, REPEAT_BYTES_MAX, &desk->dispatcher);
    AQ_ASSERT(rc == 0);
}

static void on_reply(void *user, const uint8_t *frame, size_t size)
{
    size_t *answers = user;
    const uint8_t *payload;
    size_t payload_size;
    must(aq_frame_check(frame, size, AQ_FRAME_RPC_REPLY, &payload, &payload_size, NULL));
    AQ_ASSERT(*answers == 0);
    (*answers)++;
}

void fuzz_desk_bytes(fuzz_desk *desk, const uint8_t *bytes, size_t size)
{
    AQ_ASSERT(desk->request_count < FUZZ_STREAM_STEPS_MAX);
    aq_rpc_dispatch(desk->dispatcher, bytes, size, peer, on_reply,
                    &desk->requests[desk->request_count++].answers);
}

void fuzz_desk_request(fuzz_desk *desk, const uint8_t *payload, size_t size)
{
    aq_buffer frame;
    fuzz_frame_wrap(payload, size, AQ_FRAME_RPC_REQUEST, &frame);
    fuzz_desk_bytes(desk, frame.data, frame.size);
    aq_buffer_fini(&frame);
}

void fuzz_desk_fini(fuzz_desk *desk)
{
    for (size_t i = 0; i < desk->request_count; i++) {
        AQ_ASSERT(desk->requests[i].answers == 1);
    }
    aq_rpc_dispatcher_destroy(desk->dispatcher);
}
