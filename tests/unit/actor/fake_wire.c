/*
 * Channel and dispatcher, joined.
 */
#include "tests/unit/actor/fake_wire.h"

#include <string.h>

#include "common/base/memory.h"
#include "tests/support/must.h"

static void free_call(fake_call *call)
{
    aq_free(call->frame);
    aq_free(call);
}

static void on_reply(void *user, const uint8_t *frame, size_t size)
{
    fake_call *call = user;
    if (call->is_abandoned) {
        free_call(call);
        return;
    }
    call->frame = must_alloc(1, size);
    memcpy(call->frame, frame, size);
    call->size = size;
    call->is_ready = true;
}

static int send_call(aq_rpc_channel *channel, const uint8_t *frame, size_t size,
                     uint32_t timeout_ms, aq_rpc_answer_fn answer, void *user)
{
    fake_wire *wire = (fake_wire *)channel;
    (void)timeout_ms;
    wire->sent++;
    for (int i = 0; i < FAKE_CALLS_MAX; i++) {
        if (wire->calls[i] == NULL) {
            fake_call *call = must_alloc(1, sizeof(*call));
            *call = (fake_call){.answer = answer, .user = user};
            wire->calls[i] = call;
            if (wire->is_cut) {
                call->error = AQ_E_TIMEOUT;
                call->is_ready = true;
            } else {
                aq_rpc_dispatch(wire->dispatcher, frame, size, "tcp://127.0.0.1:1", on_reply, call);
            }
            return 0;
        }
    }
    return AQ_E_FULL;
}

void fake_wire_init(fake_wire *wire, aq_rpc_dispatcher *dispatcher)
{
    static uint64_t seed;
    memset(wire, 0, sizeof(*wire));
    aq_rpc_channel_init(&wire->channel, 1 << 20, ++seed);
    wire->channel.send = send_call;
    wire->dispatcher = dispatcher;
}

int fake_wire_deliver(fake_wire *wire)
{
    int delivered = 0;
    for (int i = 0; i < FAKE_CALLS_MAX; i++) {
        fake_call *call = wire->calls[i];
        if (call != NULL && call->is_ready) {
            wire->calls[i] = NULL;
            call->answer(call->user, call->error, call->frame, call->size);
            free_call(call);
            delivered++;
        }
    }
    return delivered;
}

void fake_wire_close(fake_wire *wire)
{
    for (int i = 0; i < FAKE_CALLS_MAX; i++) {
        fake_call *call = wire->calls[i];
        if (call != NULL) {
            wire->calls[i] = NULL;
            call->answer(call->user, AQ_E_CLOSED, NULL, 0);
            if (call->is_ready) {
                free_call(call);
            } else {
                call->is_abandoned = true;
            }
        }
    }
}
