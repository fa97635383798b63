/*
 * The daemon's side of remote calls, without any transport.
 */
#include "common/net/rpc/frame.h"
#include "common/net/rpc/rpc_envelope.h"
#include "proto/rpc.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/rpc_kit.h"

enum { CALLS_MAX = 4, REPLY_MAX = 65536, REPEATS_MAX = 262144 };

typedef struct fixture {
    aq_rpc_dispatcher *dispatcher;
    rpc_kit kit;
    rpc_box box;
    rpc_box others[CALLS_MAX];
    aq_buffer frame;
} fixture;

static fixture *open_fixture(void)
{
    static fixture fixed;
    memset(&fixed, 0, sizeof(fixed));
    rpc_kit_init(&fixed.kit);
    aq_buffer_init(&fixed.frame, 1 << 20);
    assert_int_equal(aq_rpc_dispatcher_create(CALLS_MAX, REPLY_MAX, REPEATS_MAX, &fixed.dispatcher),
                     0);
    rpc_kit_add_to(&fixed.kit, fixed.dispatcher);
    return &fixed;
}

static void close_fixture(fixture *f)
{
    aq_rpc_dispatcher_destroy(f->dispatcher);
    rpc_box_fini(&f->box);
    for (int i = 0; i < CALLS_MAX; i++) {
        rpc_box_fini(&f->others[i]);
    }
    aq_buffer_fini(&f->frame);
}

#define TEST_OF_FIXTURE(name) TEST_OF(name, fixture *f, open_fixture(), close_fixture)

/* Puts a request's frame into f->frame. */
static void pack(fixture *f, const char *method, uint64_t id, uint32_t timeout_ms,
                 const ProtobufCMessage *body)
{
    Actorq__V1__RpcRequest envelope = ACTORQ__V1__RPC_REQUEST__INIT;
    char text[512];
    strcpy(text, method);
    envelope.method = text;
    envelope.request_id = id;
    envelope.timeout_ms = timeout_ms;
    aq_buffer_clear(&f->frame);
    assert_int_equal(aq_envelope_pack(&f->frame, AQ_FRAME_RPC_REQUEST, &envelope.base, body), 0);
}

static void pack_stop(fixture *f, uint64_t id, const char *reason)
{
    Actorq__V1__StopRequest body = ACTORQ__V1__STOP_REQUEST__INIT;
    char text[64];
    strcpy(text, reason);
    body.reason = text;
    pack(f, "actorq.v1.Operations/Stop", id, 1000, &body.base);
}

static void pack_fetch(fixture *f, uint64_t id, uint32_t bytes)
{
    Actorq__V1__FetchPolicyRequest body = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;
    body.format = bytes;
    pack(f, "actorq.v1.Policy/Fetch", id, 1000, &body.base);
}

static void dispatch_to(fixture *f, rpc_box *box)
{
    aq_rpc_dispatch(f->dispatcher, f->frame.data, f->frame.size, "tcp://10.0.0.3:41234",
                    rpc_box_reply, box);
}

/* The status that it was answered with; of none when it was not. */
static uint32_t dispatch(fixture *f)
{
    dispatch_to(f, &f->box);
    return f->box.frame != NULL ? rpc_box_status(&f->box) : UINT32_MAX;
}

static aq_rpc_counters counters(const fixture *f)
{
    return aq_rpc_dispatcher_counters(f->dispatcher);
}

TEST_OF_FIXTURE(a_method_is_carried_out_and_answered)
{
    pack_stop(f, 42, "enough");
    dispatch(f);
    assert_int_equal(f->box.count, 1);
    assert_int_equal(rpc_box_status(&f->box), AQ_RPC_OK);
    assert_int_equal(rpc_box_request_id(&f->box), 42);
    assert_string_equal(f->kit.reason, "enough");
    assert_string_equal(f->kit.peer, "tcp://10.0.0.3:41234");
    assert_int_equal(f->kit.timeout_ms, 1000);
    assert_int_equal(counters(f).calls, 1);
    assert_int_equal(counters(f).failures, 0);
}

TEST_OF_FIXTURE(a_failure_carries_its_code_and_words)
{
    f->kit.fail = true;
    pack_stop(f, 1, "godot");
    assert_int_equal(dispatch(f), AQ_RPC_NOT_FOUND);
    assert_string_equal(rpc_box_message(&f->box), "nobody is called godot");
    assert_int_equal(counters(f).failures, 1);
}

TEST_OF_FIXTURE(an_answer_may_be_held_back)
{
    f->kit.hold = true;
    pack_stop(f, 1, "later");
    dispatch(f);
    assert_int_equal(f->box.count, 0);
    rpc_kit_answer_held(&f->kit);
    assert_int_equal(f->box.count, 1);
    assert_int_equal(rpc_box_status(&f->box), AQ_RPC_OK);
}

TEST_OF_FIXTURE(an_unknown_method_is_answered_with_the_nearest)
{
    pack(f, "actorq.v1.Operations/Stpo", 1, 1000, NULL);
    assert_int_equal(dispatch(f), AQ_RPC_UNIMPLEMENTED);
    assert_says(rpc_box_message(&f->box), "did you mean actorq.v1.Operations/Stop?");
    pack(f, "Stop", 2, 1000, NULL);
    assert_int_equal(dispatch(f), AQ_RPC_UNIMPLEMENTED);
    pack(f, "", 3, 1000, NULL);
    assert_int_equal(dispatch(f), AQ_RPC_UNIMPLEMENTED);
    assert_int_equal(f->kit.carried_out, 0);
    assert_int_equal(counters(f).failures, 3);
}

TEST_OF_FIXTURE(a_body_that_does_not_unpack_is_an_invalid_argument)
{
    Actorq__V1__RpcRequest envelope = ACTORQ__V1__RPC_REQUEST__INIT;
    char method[] = "actorq.v1.Operations/Stop";
    uint8_t junk[] = {0x0a, 0x7f, 0x01};
    envelope.method = method;
    envelope.request_id = 1;
    envelope.timeout_ms = 1000;
    envelope.body = (ProtobufCBinaryData){.len = sizeof(junk), .data = junk};
    assert_int_equal(aq_envelope_pack(&f->frame, AQ_FRAME_RPC_REQUEST, &envelope.base, NULL), 0);
    assert_int_equal(dispatch(f), AQ_RPC_INVALID_ARGUMENT);
    assert_says(rpc_box_message(&f->box), "actorq.v1.StopRequest");
    assert_int_equal(f->kit.carried_out, 0);
}

TEST_OF_FIXTURE(a_deadline_out_of_range_is_refused)
{
    pack(f, "actorq.v1.Operations/Stop", 1, 0, NULL);
    assert_int_equal(dispatch(f), AQ_RPC_INVALID_ARGUMENT);
    pack(f, "actorq.v1.Operations/Stop", 2, AQ_RPC_TIMEOUT_MS_MAX + 1, NULL);
    assert_int_equal(dispatch(f), AQ_RPC_INVALID_ARGUMENT);
    pack(f, "actorq.v1.Operations/Stop", 3, AQ_RPC_TIMEOUT_MS_MAX, NULL);
    assert_int_equal(dispatch(f), AQ_RPC_OK);
}

TEST_OF_FIXTURE(what_is_no_request_is_refused_and_counted)
{
    static const char json[] = "{\"version\": 7}";
    aq_rpc_dispatch(f->dispatcher, (const uint8_t *)json, sizeof(json) - 1, "tcp://1.2.3.4:5",
                    rpc_box_reply, &f->box);
    assert_int_equal(rpc_box_status(&f->box), AQ_RPC_INVALID_ARGUMENT);
    assert_int_equal(rpc_box_request_id(&f->box), 0);
    assert_says(rpc_box_message(&f->box), "looks like JSON");
    aq_rpc_dispatch(f->dispatcher, NULL, 0, "ipc", rpc_box_reply, &f->box);
    assert_int_equal(rpc_box_status(&f->box), AQ_RPC_INVALID_ARGUMENT);
    assert_int_equal(counters(f).refused_frames, 2);
    assert_int_equal(counters(f).calls, 0);
}

TEST_OF_FIXTURE(a_frame_of_another_kind_or_content_is_refused)
{
    size_t start = 0;
    assert_int_equal(aq_frame_begin(&f->frame, &start), 0);
    aq_frame_end(&f->frame, start, AQ_FRAME_EXPERIENCE);
    assert_int_equal(dispatch(f), AQ_RPC_INVALID_ARGUMENT);
    aq_buffer_clear(&f->frame);
    assert_int_equal(aq_frame_begin(&f->frame, &start), 0);
    assert_int_equal(aq_buffer_append(&f->frame, "\xff\xff\xff", 3), 0);
    aq_frame_end(&f->frame, start, AQ_FRAME_RPC_REQUEST);
    assert_int_equal(dispatch(f), AQ_RPC_INVALID_ARGUMENT);
    assert_int_equal(counters(f).refused_frames, 2);
}

TEST_OF_FIXTURE(a_repeat_is_answered_again_and_not_carried_out_again)
{
    rpc_box *second = &f->others[0];
    pack_fetch(f, 7, 100);
    dispatch(f);
    dispatch_to(f, second);
    assert_int_equal(f->kit.carried_out, 1);
    assert_int_equal(second->count, 1);
    assert_int_equal(second->size, f->box.size);
    assert_memory_equal(second->frame, f->box.frame, second->size);
    assert_int_equal(counters(f).repeats, 1);
    assert_int_equal(counters(f).calls, 1);
}

TEST_OF_FIXTURE(a_failure_is_repeated_as_well)
{
    f->kit.fail = true;
    pack_stop(f, 7, "x");
    dispatch(f);
    f->kit.fail = false;
    dispatch(f);
    assert_int_equal(f->kit.carried_out, 1);
    assert_int_equal(rpc_box_status(&f->box), AQ_RPC_NOT_FOUND);
}

TEST_OF_FIXTURE(a_request_id_with_another_content_is_refused)
{
    pack_stop(f, 7, "x");
    dispatch(f);
    pack_stop(f, 7, "y");
    assert_int_equal(dispatch(f), AQ_RPC_INVALID_ARGUMENT);
    assert_says(rpc_box_message(&f->box), "request id 7");
    f->kit.hold = true;
    pack_stop(f, 8, "x");
    dispatch(f);
    pack_stop(f, 8, "y");
    assert_int_equal(dispatch(f), AQ_RPC_INVALID_ARGUMENT);
    rpc_kit_answer_held(&f->kit);
    assert_int_equal(f->kit.carried_out, 2);
}

TEST_OF_FIXTURE(a_repeat_of_a_call_in_progress_answers_both_who_asked)
{
    rpc_box *second = &f->others[0];
    f->kit.hold = true;
    pack_stop(f, 7, "x");
    dispatch(f);
    dispatch_to(f, second);
    assert_int_equal(f->kit.carried_out, 1);
    rpc_kit_answer_held(&f->kit);
    assert_int_equal(f->box.count, 1);
    assert_int_equal(second->count, 1);
    assert_int_equal(rpc_box_status(&f->box), AQ_RPC_OK);
    assert_int_equal(rpc_box_status(second), AQ_RPC_OK);
}

TEST_OF_FIXTURE(the_oldest_of_three_who_asked_is_told_aborted)
{
    rpc_box *boxes = f->others;
    f->kit.hold = true;
    pack_stop(f, 7, "x");
    for (int i = 0; i < 3; i++) {
        dispatch_to(f, &boxes[i]);
    }
    assert_int_equal(boxes[0].count, 1);
    assert_int_equal(rpc_box_status(&boxes[0]), AQ_RPC_ABORTED);
    assert_int_equal(boxes[1].count + boxes[2].count, 0);
    rpc_kit_answer_held(&f->kit);
    assert_int_equal(boxes[0].count, 1);
    assert_int_equal(rpc_box_status(&boxes[1]), AQ_RPC_OK);
    assert_int_equal(rpc_box_status(&boxes[2]), AQ_RPC_OK);
    assert_int_equal(counters(f).repeats, 2);
}

TEST_OF_FIXTURE(calls_beyond_the_limit_are_refused_and_may_come_again)
{
    rpc_box *boxes = f->others;
    f->kit.hold = true;
    for (uint64_t i = 0; i < CALLS_MAX; i++) {
        pack_stop(f, 10 + i, "x");
        dispatch_to(f, &boxes[i]);
    }
    pack_stop(f, 99, "x");
    assert_int_equal(dispatch(f), AQ_RPC_RESOURCE_EXHAUSTED);
    rpc_kit_answer_held(&f->kit);
    f->kit.hold = false;
    assert_int_equal(dispatch(f), AQ_RPC_OK);
    for (int i = 0; i < CALLS_MAX; i++) {
        assert_int_equal(boxes[i].count, 1);
    }
}

TEST_OF_FIXTURE(a_reply_larger_than_the_limit_becomes_a_status)
{
    pack_fetch(f, 1, REPLY_MAX);
    assert_int_equal(dispatch(f), AQ_RPC_RESOURCE_EXHAUSTED);
    assert_says(rpc_box_message(&f->box), "65536");
    pack_fetch(f, 2, REPLY_MAX - 64);
    assert_int_equal(dispatch(f), AQ_RPC_OK);
    assert_int_equal(aq_rpc_dispatcher_reply_bytes_max(f->dispatcher), REPLY_MAX);
}

TEST_OF_FIXTURE(the_longest_words_fit_a_reply)
{
    char method[500];
    memset(method, 'm', sizeof(method) - 1);
    method[sizeof(method) - 1] = '\0';
    pack(f, method, 1, 1000, NULL);
    assert_int_equal(dispatch(f), AQ_RPC_UNIMPLEMENTED);
    f->kit.hold = true;
    pack_stop(f, 2, "x");
    dispatch(f);
    aq_rpc_fail(f->kit.held_calls[0], AQ_RPC_INTERNAL, "%02000d", 7);
    assert_int_equal(rpc_box_status(&f->box), AQ_RPC_INTERNAL);
    assert_int_equal(strlen(rpc_box_message(&f->box)), AQ_RPC_MESSAGE_MAX - 1);
}

TEST_OF_FIXTURE(services_are_limited)
{
    for (int i = 2; i < 16; i++) {
        assert_int_equal(aq_rpc_dispatcher_add(f->dispatcher, &f->kit.policy.base), 0);
    }
    assert_int_equal(aq_rpc_dispatcher_add(f->dispatcher, &f->kit.policy.base), AQ_E_FULL);
}

static void count_reply(void *user, const uint8_t *frame, size_t size)
{
    unsigned *count = user;
    const uint8_t *payload = NULL;
    size_t payload_size = 0;
    assert_int_equal(aq_frame_check(frame, size, AQ_FRAME_RPC_REPLY, &payload, &payload_size, NULL),
                     0);
    (*count)++;
}

TEST_OF_FIXTURE(without_memory_a_request_is_still_answered)
{
    unsigned count = 0;
    for (uint64_t nth = 1; nth <= 8; nth++) {
        pack_stop(f, nth, "a reason");
        aq_memory_fail_at(nth, 0);
        aq_rpc_dispatch(f->dispatcher, f->frame.data, f->frame.size, "ipc", count_reply, &count);
        aq_memory_fail_at(0, 0);
        assert_int_equal(count, nth);
    }
    assert_true(f->kit.carried_out > 0);
    assert_true(f->kit.carried_out < 8);
}

TEST(creating_without_memory_fails_cleanly)
{
    aq_rpc_dispatcher *dispatcher = NULL;
    assert_made_despite_failures(dispatcher, aq_rpc_dispatcher_create(4, 4096, 4096, &dispatcher));
    aq_rpc_dispatcher_destroy(dispatcher);
    aq_rpc_dispatcher_destroy(NULL);
}
