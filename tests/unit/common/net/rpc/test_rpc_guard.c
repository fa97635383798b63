/*
 * Guarded calls: from a stub that signs, over a wire that somebody records, to a dispatcher that
 * asks who is there.
 */
#include "common/net/rpc/frame.h"
#include "common/net/rpc/rpc_envelope.h"
#include "common/net/rpc/rpc_guard.h"
#include "tests/support/must.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/rpc_kit.h"
#include "tests/unit/common/net/secure_kit.h"

enum { CALLS_MAX = 4, REPLY_MAX = 65536, REPEATS_MAX = 262144, REFUSED_WORDS_MAX = 256 };

static const uint8_t master[AQ_TOKEN_KEY_BYTES] = "a run's master secret, 32 bytes";

/* The newest call that was turned away. */
typedef struct turned_away {
    unsigned count;
    enum aq_access_role role;
    char words[REFUSED_WORDS_MAX];
} turned_away;

typedef struct fixture {
    aq_token *learner;
    aq_token *operator_token;
    aq_token *actor;
    aq_rpc_dispatcher *dispatcher;
    rpc_kit kit;
    rpc_wire wire;
    rpc_box box;
    rpc_result result;
    aq_rpc_stub operations;
    turned_away refused;
} fixture;

static void on_refused(void *user, const char *peer, enum aq_access_role role, const char *method,
                       const char *why)
{
    turned_away *refused = user;
    assert_string_equal(peer, "tcp://10.0.0.3:41234");
    assert_says(method, "actorq.v1.");
    refused->count++;
    refused->role = role;
    snprintf(refused->words, sizeof(refused->words), "%s", why);
}

static void open_dispatcher(fixture *f)
{
    assert_int_equal(aq_rpc_dispatcher_create(CALLS_MAX, REPLY_MAX, REPEATS_MAX, &f->dispatcher),
                     0);
    rpc_kit_add_to(&f->kit, f->dispatcher);
    aq_rpc_dispatcher_name(f->dispatcher, AQ_ACCESS_LEARNER, 0);
    assert_int_equal(aq_rpc_dispatcher_guard(f->dispatcher, f->learner), 0);
    aq_rpc_dispatcher_on_refused(f->dispatcher, on_refused, &f->refused);
}

static fixture *open_fixture(void)
{
    static fixture fixed;
    fixture *f = &fixed;
    memset(f, 0, sizeof(*f));
    f->learner = secure_kit_token(master, AQ_ACCESS_LEARNER);
    f->operator_token = secure_kit_token(master, AQ_ACCESS_OPERATOR);
    f->actor = secure_kit_token(master, AQ_ACCESS_ACTOR);
    rpc_kit_init(&f->kit);
    open_dispatcher(f);
    rpc_wire_init(&f->wire, 1 << 20);
    f->wire.channel.token = f->operator_token;
    aq_rpc_stub_init(&f->operations, &f->wire.channel, &actorq__v1__operations__descriptor, 120000);
    return f;
}

static void close_fixture(fixture *f)
{
    aq_rpc_dispatcher_destroy(f->dispatcher);
    rpc_wire_fini(&f->wire);
    rpc_box_fini(&f->box);
}

#define TEST_OF_FIXTURE(name) TEST_OF(name, fixture *f, open_fixture(), close_fixture)

static void call_stop(fixture *f)
{
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    char reason[] = "enough";
    request.reason = reason;
    f->result = (rpc_result){.stub = &f->operations};
    actorq__v1__operations__stop(&f->operations.base, &request, rpc_on_stopped, &f->result);
}

static void dispatch(fixture *f, const uint8_t *frame, size_t size)
{
    aq_rpc_dispatch(f->dispatcher, frame, size, "tcp://10.0.0.3:41234", rpc_box_reply, &f->box);
}

/* Takes what is on the wire to the daemon, and its answer back. */
static void carry(fixture *f)
{
    aq_rpc_answer_fn answer = f->wire.answer;
    void *user = f->wire.user;
    dispatch(f, f->wire.frame, f->wire.size);
    f->wire.answer = NULL;
    answer(user, 0, f->box.frame, f->box.size);
}

/* Makes a call, and carries until it is answered. */
static void call_and_carry(fixture *f)
{
    call_stop(f);
    while (f->result.count == 0) {
        assert_non_null(f->wire.answer);
        carry(f);
    }
}

typedef struct recording {
    uint8_t *frame;
    size_t size;
} recording;

/* What somebody keeps of a call that was carried out. */
static recording record_call(fixture *f)
{
    call_and_carry(f);
    const recording recorded = {f->wire.frame, f->wire.size};
    f->wire.frame = NULL;
    at_end(aq_free, recorded.frame);
    return recorded;
}

/* As a daemon that was started anew. */
static void restart(fixture *f)
{
    aq_rpc_dispatcher_destroy(f->dispatcher);
    rpc_kit_init(&f->kit);
    open_dispatcher(f);
}

static aq_rpc_counters counters(const fixture *f)
{
    return aq_rpc_dispatcher_counters(f->dispatcher);
}

static void expect_turned_away(fixture *f, uint32_t code, const char *words)
{
    call_and_carry(f);
    assert_false(f->result.ok);
    assert_int_equal(f->result.code, code);
    assert_says(f->result.message, words);
    assert_int_equal(f->kit.carried_out, 0);
    assert_int_equal(counters(f).turned_away, 1);
}

TEST_OF_FIXTURE(a_caller_is_challenged_once_and_served)
{
    call_and_carry(f);
    assert_true(f->result.ok);
    assert_int_equal(f->wire.sent, 2);
    assert_int_equal(f->kit.carried_out, 1);
    assert_int_equal(counters(f).calls, 1);
    call_and_carry(f);
    assert_true(f->result.ok);
    assert_int_equal(f->wire.sent, 3);
    assert_int_equal(f->kit.carried_out, 2);
    assert_int_equal(counters(f).turned_away, 0);
}

TEST_OF_FIXTURE(a_caller_without_a_token_is_told_what_to_do)
{
    f->wire.channel.token = NULL;
    expect_turned_away(f, AQ_RPC_UNAUTHENTICATED, "--token-file");
    assert_int_equal(f->refused.count, 1);
    assert_int_equal(f->refused.role, AQ_ACCESS_NONE);
}

TEST_OF_FIXTURE(a_role_may_not_do_what_is_anothers)
{
    f->wire.channel.token = f->actor;
    expect_turned_away(f, AQ_RPC_PERMISSION_DENIED,
                       "the role actor may not call actorq.v1.Operations/Stop");
    assert_int_equal(f->refused.role, AQ_ACCESS_ACTOR);
}

TEST_OF_FIXTURE(a_token_of_another_run_is_refused)
{
    aq_token *foreign = NULL;
    assert_int_equal(aq_token_parse("correct horse battery staple", 28, &foreign, NULL), 0);
    f->wire.channel.token = foreign;
    expect_turned_away(f, AQ_RPC_UNAUTHENTICATED, "not of this run");
    aq_token_destroy(foreign);
}

TEST_OF_FIXTURE(a_recorded_call_is_answered_and_not_carried_out_again)
{
    const recording recorded = record_call(f);
    dispatch(f, recorded.frame, recorded.size);
    assert_int_equal(f->kit.carried_out, 1);
    assert_int_equal(counters(f).repeats, 1);
}

/* A dispatcher that keeps nothing: only the guard remembers. */
TEST_OF_FIXTURE(a_recorded_call_whose_answer_is_forgotten_is_not_carried_out_again)
{
    aq_rpc_dispatcher_destroy(f->dispatcher);
    assert_int_equal(aq_rpc_dispatcher_create(CALLS_MAX, REPLY_MAX, 0, &f->dispatcher), 0);
    rpc_kit_init(&f->kit);
    rpc_kit_add_to(&f->kit, f->dispatcher);
    aq_rpc_dispatcher_name(f->dispatcher, AQ_ACCESS_LEARNER, 0);
    assert_int_equal(aq_rpc_dispatcher_guard(f->dispatcher, f->learner), 0);
    const recording recorded = record_call(f);
    dispatch(f, recorded.frame, recorded.size);
    assert_int_equal(f->kit.carried_out, 1);
    assert_int_equal(rpc_box_status(&f->box), AQ_RPC_UNAUTHENTICATED);
    assert_int_equal(counters(f).turned_away, 0); /* but to be signed anew */
}

TEST_OF_FIXTURE(a_call_recorded_before_a_restart_is_worth_nothing)
{
    const recording recorded = record_call(f);
    restart(f);
    dispatch(f, recorded.frame, recorded.size);
    assert_int_equal(f->kit.carried_out, 0);
    assert_int_equal(rpc_box_status(&f->box), AQ_RPC_UNAUTHENTICATED);
}

TEST_OF_FIXTURE(a_caller_does_not_notice_a_restart)
{
    call_and_carry(f);
    restart(f);
    call_and_carry(f);
    assert_true(f->result.ok);
    assert_int_equal(f->kit.carried_out, 1);
    assert_int_equal(counters(f).turned_away, 0);
}

TEST_OF_FIXTURE(a_changed_call_is_refused)
{
    const uint8_t *payload;
    size_t payload_size;
    aq_envelope envelope;
    call_stop(f);
    carry(f); /* the challenge; what is on the wire now is signed */
    assert_int_equal(aq_frame_check(f->wire.frame, f->wire.size, AQ_FRAME_RPC_REQUEST, &payload,
                                    &payload_size, NULL),
                     0);
    assert_int_equal(
        aq_envelope_unpack(&actorq__v1__rpc_request__descriptor, payload, payload_size, &envelope),
        0);
    Actorq__V1__RpcRequest *request = (Actorq__V1__RpcRequest *)envelope.message;
    request->body = (ProtobufCBinaryData){.len = 0};
    aq_buffer *changed = buffer_up_to(1 << 20);
    assert_int_equal(aq_envelope_pack(changed, AQ_FRAME_RPC_REQUEST, &request->base, NULL), 0);
    dispatch(f, changed->data, changed->size);
    assert_int_equal(rpc_box_status(&f->box), AQ_RPC_UNAUTHENTICATED);
    assert_int_equal(f->kit.carried_out, 0);
    assert_int_equal(counters(f).turned_away, 1);
    aq_message_free(envelope.message);
    carry(f);
    assert_true(f->result.ok);
}

TEST_OF_FIXTURE(garbage_in_the_place_of_a_proof_is_refused)
{
    uint8_t garbage[AQ_GUARD_PROOF_BYTES + 1] = {AQ_ACCESS_OPERATOR};
    char method[] = "actorq.v1.Operations/Stop";
    aq_buffer *frame = buffer_up_to(1 << 20);
    for (size_t size = 0; size <= sizeof(garbage); size++) {
        Actorq__V1__RpcRequest request = ACTORQ__V1__RPC_REQUEST__INIT;
        request.method = method;
        request.request_id = 100 + size;
        request.timeout_ms = 1000;
        request.token = (ProtobufCBinaryData){size, garbage};
        aq_buffer_clear(frame);
        assert_int_equal(aq_envelope_pack(frame, AQ_FRAME_RPC_REQUEST, &request.base, NULL), 0);
        dispatch(f, frame->data, frame->size);
        assert_int_equal(rpc_box_status(&f->box), AQ_RPC_UNAUTHENTICATED);
    }
    assert_int_equal(f->kit.carried_out, 0);
    assert_int_equal(counters(f).turned_away, sizeof(garbage) - 1); /* but 1 and 49 bytes */
}

TEST_OF_FIXTURE(a_daemon_that_challenges_for_ever_is_given_up)
{
    call_stop(f);
    while (f->result.count == 0) {
        aq_rpc_dispatcher_destroy(f->dispatcher);
        open_dispatcher(f); /* another instance each time */
        carry(f);
    }
    assert_int_equal(f->result.code, AQ_RPC_UNAVAILABLE);
    assert_int_equal(f->wire.sent, 4);
}

TEST_OF_FIXTURE(a_call_that_fails_while_it_is_signed_anew_ends)
{
    call_stop(f);
    f->wire.send_result = AQ_E_FULL;
    carry(f);
    assert_int_equal(f->result.count, 1);
    assert_false(f->result.ok);
}

/* On a busy machine the time is over between two lines; here packing takes longer than it. */
TEST_OF_FIXTURE(a_call_that_comes_to_its_deadline_before_it_is_signed_ends)
{
    enum { LETTERS = 1 << 26 };
    f->wire.channel.frame_bytes_max = 2 * (size_t)LETTERS;
    f->operations.timeout_ms = 1;
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    request.reason = must_alloc(LETTERS, 1);
    at_end(aq_free, request.reason);
    memset(request.reason, 'a', LETTERS - 1);
    f->result = (rpc_result){.stub = &f->operations};
    actorq__v1__operations__stop(&f->operations.base, &request, rpc_on_stopped, &f->result);
    assert_int_equal(f->result.count, 1);
    assert_int_equal(f->result.code, AQ_RPC_DEADLINE_EXCEEDED);
    assert_int_equal(f->wire.sent, 0);
}

TEST_OF_FIXTURE(every_failing_allocation_of_a_signed_call_is_an_answer)
{
    uint64_t allocations = aq_memory_allocation_count();
    call_stop(f);
    allocations = aq_memory_allocation_count() - allocations - 1; /* the wire's own copy */
    while (f->result.count == 0) {
        carry(f);
    }
    assert_true(allocations >= 3);
    for (uint64_t nth = 1; nth <= allocations; nth++) {
        aq_memory_fail_at(nth, 0);
        call_stop(f);
        aq_memory_fail_at(0, 0);
        assert_int_equal(f->result.count, 1);
        assert_false(f->result.ok);
    }
}

/* ---- a challenge that somebody passes on ---------------------------------------------------- */

/* Who sits where a shard was called answers with the learner's challenge, to have the learner's end
 * signed. */
TEST_OF_FIXTURE(a_call_is_signed_for_nobody_else_than_was_called)
{
    static const struct {
        aq_token_peer expected;
        enum aq_rpc_code code;
        const char *words;
    } rows[] = {
        {{.role = AQ_ACCESS_REPLAY}, AQ_RPC_UNAUTHENTICATED, "of the role learner, not replay"},
        {{.role = AQ_ACCESS_LEARNER, .instance = 4711}, AQ_RPC_UNAVAILABLE, "another start"},
        {{.role = AQ_ACCESS_LEARNER}, AQ_RPC_OK, ""},
    };
    EACH_ROW(i, rows) {
        aq_rpc_channel_expect(&f->wire.channel, rows[i].expected.role, rows[i].expected.instance);
        call_and_carry(f);
        assert_int_equal(f->result.code, rows[i].code);
        assert_says(f->result.message, rows[i].words);
        assert_int_equal(f->kit.carried_out, rows[i].code == AQ_RPC_OK);
    }
}
