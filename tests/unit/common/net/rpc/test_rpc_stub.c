/*
 * The caller's side of remote calls: what is sent, and what each way of failing becomes.
 */
#include "common/net/rpc/frame.h"
#include "common/net/rpc/rpc_envelope.h"
#include "proto/rpc.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/rpc_kit.h"

enum { FRAME_MAX = 65536, TIMEOUT_MS = 1234 };

typedef struct fixture {
    rpc_wire wire;
    aq_rpc_stub stub;
    rpc_result result;
    aq_buffer reply;
} fixture;

static fixture *open_fixture(void)
{
    static fixture fixed;
    memset(&fixed, 0, sizeof(fixed));
    rpc_wire_init(&fixed.wire, FRAME_MAX);
    aq_rpc_stub_init(&fixed.stub, &fixed.wire.channel, &actorq__v1__policy__descriptor, TIMEOUT_MS);
    fixed.result.stub = &fixed.stub;
    aq_buffer_init(&fixed.reply, 1 << 20);
    return &fixed;
}

static void close_fixture(fixture *f)
{
    rpc_wire_fini(&f->wire);
    aq_buffer_fini(&f->reply);
}

#define TEST_OF_FIXTURE(name) TEST_OF(name, fixture *f, open_fixture(), close_fixture)

static void fetch(fixture *f, uint32_t bytes)
{
    Actorq__V1__FetchPolicyRequest request = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;
    request.format = bytes;
    actorq__v1__policy__fetch(&f->stub.base, &request, rpc_on_fetched, &f->result);
}

/* What the wire was given. */
static Actorq__V1__RpcRequest *sent_request(const fixture *f)
{
    const uint8_t *payload = NULL;
    size_t size = 0;
    assert_int_equal(
        aq_frame_check(f->wire.frame, f->wire.size, AQ_FRAME_RPC_REQUEST, &payload, &size, NULL),
        0);
    Actorq__V1__RpcRequest *request = actorq__v1__rpc_request__unpack(NULL, size, payload);
    assert_non_null(request);
    return request;
}

static uint64_t sent_id(const fixture *f)
{
    Actorq__V1__RpcRequest *request = sent_request(f);
    uint64_t id = request->request_id;
    actorq__v1__rpc_request__free_unpacked(request, NULL);
    return id;
}

static void answer(fixture *f, uint64_t id, uint32_t status, const char *message,
                   const ProtobufCMessage *body)
{
    Actorq__V1__RpcReply envelope = ACTORQ__V1__RPC_REPLY__INIT;
    char text[4096];
    snprintf(text, sizeof(text), "%s", message);
    envelope.request_id = id;
    envelope.status = status;
    envelope.message = text;
    aq_buffer_clear(&f->reply);
    assert_int_equal(aq_envelope_pack(&f->reply, AQ_FRAME_RPC_REPLY, &envelope.base, body), 0);
    f->wire.answer(f->wire.user, 0, f->reply.data, f->reply.size);
}

static void expect_failure(const fixture *f, uint32_t code, const char *word)
{
    assert_int_equal(f->result.count, 1);
    assert_false(f->result.ok);
    assert_int_equal(f->result.code, code);
    assert_says(f->result.message, word);
    assert_null(aq_rpc_stub_status(&f->stub));
}

TEST_OF_FIXTURE(a_call_names_its_method_and_deadline)
{
    fetch(f, 5);
    Actorq__V1__RpcRequest *request = sent_request(f);
    assert_string_equal(request->method, "actorq.v1.Policy/Fetch");
    assert_int_equal(request->timeout_ms, TIMEOUT_MS);
    assert_int_equal(f->wire.timeout_ms, TIMEOUT_MS);
    Actorq__V1__FetchPolicyRequest *body =
        actorq__v1__fetch_policy_request__unpack(NULL, request->body.len, request->body.data);
    assert_non_null(body);
    assert_int_equal(body->format, 5);
    actorq__v1__fetch_policy_request__free_unpacked(body, NULL);
    actorq__v1__rpc_request__free_unpacked(request, NULL);
    f->wire.answer(f->wire.user, AQ_E_CLOSED, NULL, 0);
}

TEST_OF_FIXTURE(request_ids_differ)
{
    fetch(f, 1);
    uint64_t first = sent_id(f);
    f->wire.answer(f->wire.user, AQ_E_CLOSED, NULL, 0);
    fetch(f, 1);
    uint64_t second = sent_id(f);
    f->wire.answer(f->wire.user, AQ_E_CLOSED, NULL, 0);
    assert_true(first != second);
    assert_true(first >> 32 == second >> 32);
    assert_true(first != 0 && second != 0);
}

TEST_OF_FIXTURE(callers_with_other_seeds_have_other_ids)
{
    aq_rpc_channel other = {0};
    aq_rpc_channel_init(&other, FRAME_MAX, 2);
    assert_true(other.caller != f->wire.channel.caller);
    assert_true(other.next_call != f->wire.channel.next_call);
}

TEST_OF_FIXTURE(the_counter_of_ids_wraps_and_leaves_out_zero)
{
    f->wire.channel.caller = 0;
    f->wire.channel.next_call = UINT32_MAX;
    fetch(f, 1);
    assert_int_equal(sent_id(f), UINT32_MAX);
    f->wire.answer(f->wire.user, AQ_E_CLOSED, NULL, 0);
    fetch(f, 1);
    assert_int_equal(sent_id(f), 1);
    f->wire.answer(f->wire.user, AQ_E_CLOSED, NULL, 0);
}

TEST_OF_FIXTURE(an_answer_reaches_the_closure)
{
    Actorq__V1__FetchPolicyReply reply = ACTORQ__V1__FETCH_POLICY_REPLY__INIT;
    uint8_t bytes[] = {0, 31, 62};
    reply.frame = (ProtobufCBinaryData){.len = sizeof(bytes), .data = bytes};
    fetch(f, 3);
    assert_int_equal(f->result.count, 0);
    answer(f, sent_id(f), AQ_RPC_OK, "", &reply.base);
    assert_int_equal(f->result.count, 1);
    assert_true(f->result.ok);
    assert_int_equal(f->result.bytes, 3);
    assert_null(aq_rpc_stub_status(&f->stub));
}

/* To the request itself, to the one after it, or to none. */
enum { ITSELF, ANOTHER, NONE };

TEST_OF_FIXTURE(what_a_reply_says_reaches_the_closure)
{
    static const struct {
        int to;
        uint32_t status, code;
        const char *said, *words;
    } rows[] = {
        {ITSELF, AQ_RPC_FAILED_PRECONDITION, AQ_RPC_FAILED_PRECONDITION, "another run",
         "another run"},
        {ITSELF, 17, AQ_RPC_UNKNOWN, "from the future", "from the future"}, /* no such status */
        {ITSELF, AQ_RPC_INTERNAL, AQ_RPC_INTERNAL,
         "\x1b[2J\n\x7f"
         "end",
         "?[2J??end"}, /* it cannot drive a terminal */
        {ANOTHER, AQ_RPC_OK, AQ_RPC_INTERNAL, "", "belongs to another request"},
        {NONE, AQ_RPC_OK, AQ_RPC_INTERNAL, "", "belongs to another request"},
        /* Of one that could not read the request. */
        {NONE, AQ_RPC_INVALID_ARGUMENT, AQ_RPC_INVALID_ARGUMENT, "of protocol version 1",
         "protocol version 1"},
    };
    EACH_ROW(i, rows) {
        f->result.count = 0;
        fetch(f, 3);
        answer(f, rows[i].to == NONE ? 0 : sent_id(f) + (rows[i].to == ANOTHER), rows[i].status,
               rows[i].said, NULL);
        expect_failure(f, rows[i].code, rows[i].words);
    }
}

TEST_OF_FIXTURE(words_that_are_too_long_are_cut)
{
    char words[3000];
    memset(words, 'w', sizeof(words) - 1);
    words[sizeof(words) - 1] = '\0';
    fetch(f, 3);
    answer(f, sent_id(f), AQ_RPC_INTERNAL, words, NULL);
    expect_failure(f, AQ_RPC_INTERNAL, "www");
    assert_int_equal(strlen(f->result.message), AQ_RPC_MESSAGE_MAX - 1);
}

TEST_OF_FIXTURE(what_a_channel_says_in_place_of_a_reply_is_a_status_in_words)
{
    static const struct {
        int rc;
        uint32_t code;
        const char *words;
    } rows[] = {
        {AQ_E_TIMEOUT, AQ_RPC_DEADLINE_EXCEEDED,
         "actorq.v1.Policy/Fetch: no answer within 1234 ms"},
        {AQ_E_CLOSED, AQ_RPC_CANCELLED, "actorq.v1.Policy/Fetch"},
        {AQ_E_IO, AQ_RPC_UNAVAILABLE, "actorq.v1.Policy/Fetch"},
    };
    EACH_ROW(i, rows) {
        f->result.count = 0;
        fetch(f, 3);
        f->wire.answer(f->wire.user, rows[i].rc, NULL, 0);
        expect_failure(f, rows[i].code, rows[i].words);
    }
}

TEST_OF_FIXTURE(a_channel_may_give_calls_more_time_and_that_is_what_failures_name)
{
    f->wire.channel.timeout_ms_min = 120000;
    fetch(f, 3);
    assert_int_equal(f->wire.timeout_ms, 120000);
    f->wire.answer(f->wire.user, AQ_E_TIMEOUT, NULL, 0);
    expect_failure(f, AQ_RPC_DEADLINE_EXCEEDED, "no answer within 120000 ms");
}

TEST_OF_FIXTURE(a_send_that_is_refused_fails_at_once)
{
    f->wire.send_result = AQ_E_FULL;
    fetch(f, 3);
    expect_failure(f, AQ_RPC_RESOURCE_EXHAUSTED, "cannot be sent");
}

TEST_OF_FIXTURE(a_request_larger_than_the_channel_takes_fails_at_once)
{
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    static char reason[FRAME_MAX + 1];
    memset(reason, 'r', sizeof(reason) - 1);
    request.reason = reason;
    aq_rpc_stub_init(&f->stub, &f->wire.channel, &actorq__v1__operations__descriptor, TIMEOUT_MS);
    actorq__v1__operations__stop(&f->stub.base, &request, rpc_on_stopped, &f->result);
    expect_failure(f, AQ_RPC_RESOURCE_EXHAUSTED, "limit 65536");
    assert_int_equal(f->wire.sent, 0);
}

TEST_OF_FIXTURE(a_reply_that_is_no_frame_is_said_in_words)
{
    static const char json[] = "{\"version\": 7}";
    fetch(f, 3);
    f->wire.answer(f->wire.user, 0, (const uint8_t *)json, sizeof(json) - 1);
    expect_failure(f, AQ_RPC_INVALID_ARGUMENT, "looks like JSON");
}

TEST_OF_FIXTURE(a_reply_that_was_damaged_is_data_loss)
{
    fetch(f, 3);
    answer(f, sent_id(f), AQ_RPC_OK, "", NULL);
    f->result.count = 0;
    fetch(f, 3);
    f->reply.data[f->reply.size - 1] ^= 1;
    f->wire.answer(f->wire.user, 0, f->reply.data, f->reply.size);
    expect_failure(f, AQ_RPC_DATA_LOSS, "checksum");
}

TEST_OF_FIXTURE(a_body_of_another_type_is_internal)
{
    Actorq__V1__RpcReply envelope = ACTORQ__V1__RPC_REPLY__INIT;
    uint8_t number[] = {0x08, 0x01}; /* field 1 holds bytes in Fetch's reply */
    fetch(f, 3);
    envelope.request_id = sent_id(f);
    envelope.body = (ProtobufCBinaryData){.len = sizeof(number), .data = number};
    assert_int_equal(aq_envelope_pack(&f->reply, AQ_FRAME_RPC_REPLY, &envelope.base, NULL), 0);
    f->wire.answer(f->wire.user, 0, f->reply.data, f->reply.size);
    expect_failure(f, AQ_RPC_INTERNAL, "FetchPolicyReply");
}

/* A closure that makes another call, which fails at once. */
static void on_fetched_call_again(const Actorq__V1__FetchPolicyReply *reply, void *user)
{
    fixture *f = user;
    assert_null(reply);
    assert_int_equal(aq_rpc_stub_status(&f->stub)->code, AQ_RPC_DEADLINE_EXCEEDED);
    f->wire.send_result = AQ_E_CLOSED;
    fetch(f, 1);
    assert_int_equal(f->result.code, AQ_RPC_CANCELLED);
    assert_int_equal(aq_rpc_stub_status(&f->stub)->code, AQ_RPC_DEADLINE_EXCEEDED);
}

TEST_OF_FIXTURE(calls_within_closures_keep_their_statuses_apart)
{
    Actorq__V1__FetchPolicyRequest request = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;
    actorq__v1__policy__fetch(&f->stub.base, &request, on_fetched_call_again, f);
    f->wire.answer(f->wire.user, AQ_E_TIMEOUT, NULL, 0);
    assert_int_equal(f->result.count, 1);
    assert_null(aq_rpc_stub_status(&f->stub));
}

TEST_OF_FIXTURE(without_memory_the_closure_still_runs_once)
{
    for (uint64_t nth = 1; nth <= 2; nth++) { /* the call, the frame */
        f->result.count = 0;
        aq_memory_fail_at(nth, 0);
        fetch(f, 3);
        aq_memory_fail_at(0, 0);
        expect_failure(f, AQ_RPC_RESOURCE_EXHAUSTED, "out of memory");
    }
    fetch(f, 3);
    f->result.count = 0;
    aq_memory_fail_at(1, 1);
    f->wire.answer(f->wire.user, 0, f->wire.frame, 0);
    aq_memory_fail_at(0, 0);
    assert_int_equal(f->result.count, 1);
}
