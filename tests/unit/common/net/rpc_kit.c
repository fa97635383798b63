/*
 * See rpc_kit.h.
 */
#include "tests/unit/common/net/rpc_kit.h"

#include "common/net/rpc/frame.h"
#include "proto/rpc.pb-c.h"
#include "tests/support/test.h"

enum { PATTERN_BYTES = 1 << 16 }; /* then it comes again */

static uint8_t pattern(size_t i)
{
    return (uint8_t)(i * 31 + (i >> 8));
}

/* True when bytes[size] is what Fetch answers for `size`. */
static bool is_fetched(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != pattern(i)) {
            return false;
        }
    }
    return true;
}

/* What is there is doubled: many megabytes are asked for under sanitizers. */
static void fill(uint8_t *bytes, size_t size)
{
    size_t done = 0;
    while (done < size && done < PATTERN_BYTES) {
        bytes[done] = pattern(done);
        done++;
    }
    while (done < size) {
        const size_t more = done < size - done ? done : size - done;
        memcpy(bytes + done, bytes, more);
        done += more;
    }
}

static void note(rpc_kit *kit, const void *call)
{
    kit->carried_out++;
    kit->timeout_ms = aq_rpc_call_timeout_ms(call);
    snprintf(kit->peer, sizeof(kit->peer), "%s", aq_rpc_call_peer(call));
}

static void on_fetch(Actorq__V1__Policy_Service *service,
                     const Actorq__V1__FetchPolicyRequest *input,
                     Actorq__V1__FetchPolicyReply_Closure closure, void *call)
{
    rpc_kit *kit = (rpc_kit *)((char *)service - offsetof(rpc_kit, policy));
    Actorq__V1__FetchPolicyReply reply = ACTORQ__V1__FETCH_POLICY_REPLY__INIT;
    note(kit, call);
    reply.frame.len = input->format;
    reply.frame.data = aq_alloc(input->format, 1);
    assert_non_null(reply.frame.data);
    fill(reply.frame.data, reply.frame.len);
    closure(&reply, call);
    /* The request is still there after the answer, while the method runs. */
    assert_int_equal(reply.frame.len, input->format);
    aq_free(reply.frame.data);
}

static void on_stop(Actorq__V1__Operations_Service *service, const Actorq__V1__StopRequest *input,
                    Actorq__V1__StopReply_Closure closure, void *call)
{
    rpc_kit *kit = (rpc_kit *)((char *)service - offsetof(rpc_kit, operations));
    Actorq__V1__StopReply reply = ACTORQ__V1__STOP_REPLY__INIT;
    note(kit, call);
    snprintf(kit->reason, sizeof(kit->reason), "%s", input->reason);
    if (kit->hold) {
        assert_true(kit->held_count < RPC_KIT_HELD_MAX);
        kit->held_closures[kit->held_count] = closure;
        kit->held_calls[kit->held_count++] = call;
    } else if (kit->fail) {
        aq_rpc_fail(call, AQ_RPC_NOT_FOUND, "nobody is called %s", input->reason);
    } else {
        closure(&reply, call);
    }
}

void rpc_kit_answer_held(rpc_kit *kit)
{
    Actorq__V1__StopReply reply = ACTORQ__V1__STOP_REPLY__INIT;
    size_t count = kit->held_count;
    kit->held_count = 0;
    for (size_t i = 0; i < count; i++) {
        kit->held_closures[i](&reply, kit->held_calls[i]);
    }
}

void rpc_kit_init(rpc_kit *kit)
{
    *kit = (rpc_kit){.hold = false};
    actorq__v1__policy__init(&kit->policy, NULL);
    actorq__v1__operations__init(&kit->operations, NULL);
    kit->policy.fetch = on_fetch;
    kit->operations.stop = on_stop;
}

void rpc_kit_add_to(rpc_kit *kit, aq_rpc_dispatcher *dispatcher)
{
    assert_int_equal(aq_rpc_dispatcher_add(dispatcher, &kit->policy.base), 0);
    assert_int_equal(aq_rpc_dispatcher_add(dispatcher, &kit->operations.base), 0);
}

/* ---- the wire ------------------------------------------------------------------------------ */

static uint8_t *copy(const uint8_t *bytes, size_t size)
{
    uint8_t *block = aq_alloc(size, 1);
    assert_non_null(block);
    memcpy(block, bytes, size);
    return block;
}

static int wire_send(aq_rpc_channel *channel, const uint8_t *frame, size_t size,
                     uint32_t timeout_ms, aq_rpc_answer_fn answer, void *user)
{
    rpc_wire *wire = (rpc_wire *)channel;
    if (wire->send_result < 0) {
        return wire->send_result;
    }
    aq_free(wire->frame);
    wire->frame = copy(frame, size);
    wire->size = size;
    wire->timeout_ms = timeout_ms;
    wire->answer = answer;
    wire->user = user;
    wire->sent++;
    return 0;
}

void rpc_wire_init(rpc_wire *wire, size_t frame_bytes_max)
{
    *wire = (rpc_wire){.send_result = 0};
    aq_rpc_channel_init(&wire->channel, frame_bytes_max, 1);
    wire->channel.send = wire_send;
}

void rpc_wire_fini(rpc_wire *wire)
{
    aq_free(wire->frame);
    wire->frame = NULL;
}

/* ---- the box ------------------------------------------------------------------------------- */

void rpc_box_reply(void *user, const uint8_t *frame, size_t size)
{
    rpc_box *box = user;
    aq_free(box->frame);
    box->frame = copy(frame, size);
    box->size = size;
    box->count++;
}

void rpc_box_fini(rpc_box *box)
{
    aq_free(box->frame);
    *box = (rpc_box){.count = 0};
}

static Actorq__V1__RpcReply *open_box(const rpc_box *box)
{
    const uint8_t *payload = NULL;
    size_t size = 0;
    assert_int_equal(
        aq_frame_check(box->frame, box->size, AQ_FRAME_RPC_REPLY, &payload, &size, NULL), 0);
    Actorq__V1__RpcReply *reply = actorq__v1__rpc_reply__unpack(NULL, size, payload);
    assert_non_null(reply);
    return reply;
}

uint32_t rpc_box_status(const rpc_box *box)
{
    Actorq__V1__RpcReply *reply = open_box(box);
    uint32_t status = reply->status;
    actorq__v1__rpc_reply__free_unpacked(reply, NULL);
    return status;
}

uint64_t rpc_box_request_id(const rpc_box *box)
{
    Actorq__V1__RpcReply *reply = open_box(box);
    uint64_t id = reply->request_id;
    actorq__v1__rpc_reply__free_unpacked(reply, NULL);
    return id;
}

const char *rpc_box_message(const rpc_box *box)
{
    static char message[AQ_RPC_MESSAGE_MAX];
    Actorq__V1__RpcReply *reply = open_box(box);
    snprintf(message, sizeof(message), "%s", reply->message);
    actorq__v1__rpc_reply__free_unpacked(reply, NULL);
    return message;
}

/* ---- results ------------------------------------------------------------------------------- */

static void note_result(rpc_result *result, bool ok)
{
    const aq_rpc_status *status = aq_rpc_stub_status(result->stub);
    assert_non_null(status);
    assert_true(ok == (status->code == AQ_RPC_OK));
    result->count++;
    result->ok = ok;
    result->code = status->code;
    memcpy(result->message, status->message, sizeof(result->message));
}

void rpc_on_fetched(const Actorq__V1__FetchPolicyReply *reply, void *user)
{
    rpc_result *result = user;
    note_result(result, reply != NULL);
    if (reply != NULL) {
        result->bytes =
            is_fetched(reply->frame.data, reply->frame.len) ? reply->frame.len : SIZE_MAX;
    }
}

void rpc_on_stopped(const Actorq__V1__StopReply *reply, void *user)
{
    note_result(user, reply != NULL);
}
