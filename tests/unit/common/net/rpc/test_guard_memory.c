/*
 * What a guard remembers: a call is new once, and for a while.
 */
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/rpc/rpc_guard.h"
#include "tests/support/test.h"

static const uint8_t master[AQ_TOKEN_KEY_BYTES] = "a run's master secret, 32 bytes";

typedef struct fixture {
    aq_token *learner;
    aq_token *operator_token;
} fixture;

static aq_token *role_token(enum aq_access_role role)
{
    aq_token *token = NULL;
    aq_buffer text;

    aq_buffer_init(&text, AQ_TOKEN_TEXT_MAX);
    assert_int_equal(aq_token_write_role(master, role, &text), 0);
    assert_int_equal(aq_token_parse((const char *)text.data, text.size, &token, NULL), 0);
    aq_buffer_fini(&text);
    return token;
}

static fixture *open_fixture(void)
{
    static fixture fixed;

    fixed = (fixture){role_token(AQ_ACCESS_LEARNER), role_token(AQ_ACCESS_OPERATOR)};
    return &fixed;
}

static void close_fixture(fixture *f)
{
    aq_token_destroy(f->learner);
    aq_token_destroy(f->operator_token);
}

#define TEST_OF_FIXTURE(name) TEST_OF(name, fixture *f, open_fixture(), close_fixture)

typedef struct signed_request {
    Actorq__V1__RpcRequest message;
    uint8_t proof[AQ_GUARD_PROOF_BYTES];
} signed_request;

static char stop_method[] = "actorq.v1.Operations/Stop";

static void sign(const fixture *f, const aq_token_peer *peer, int64_t now_ns, uint64_t id,
                 signed_request *ret_request)
{
    aq_token_call call = {.request_id = id, .timeout_ms = 1000, .method = stop_method};

    ret_request->message = (Actorq__V1__RpcRequest)ACTORQ__V1__RPC_REQUEST__INIT;
    ret_request->message.method = stop_method;
    ret_request->message.request_id = id;
    ret_request->message.timeout_ms = 1000;
    ret_request->message.token.data = ret_request->proof;
    assert_int_equal(aq_guard_peer_sign(peer, f->operator_token, now_ns, &call, ret_request->proof,
                                        &ret_request->message.token.len),
                     0);
}

/* A guard, and a caller that knows it as of now. */
static aq_rpc_guard *meet(const fixture *f, int64_t now_ns, aq_token_peer *ret_peer)
{
    Actorq__V1__RpcChallenge challenge;
    aq_rpc_guard *guard = NULL;

    assert_int_equal(aq_rpc_guard_create(f->learner, &guard), 0);
    aq_rpc_guard_challenge(guard, now_ns, &challenge);
    *ret_peer = (aq_token_peer){0};
    aq_guard_peer_take(ret_peer, &challenge, now_ns);
    return guard;
}

TEST_OF_FIXTURE(a_call_is_new_once_and_for_a_minute)
{
    int64_t now_ns = aq_clock_monotonic_ns() + AQ_NS_PER_S;
    int64_t minute_ns = AQ_GUARD_WINDOW_MS * AQ_NS_PER_MS;
    signed_request early, late;
    aq_token_peer peer;
    aq_rpc_guard *guard = meet(f, now_ns, &peer);

    sign(f, &peer, now_ns, 1, &early);
    sign(f, &peer, now_ns, 2, &late);
    assert_true(aq_rpc_guard_is_new(guard, &early.message, now_ns));
    assert_false(aq_rpc_guard_is_new(guard, &early.message, now_ns));
    assert_false(aq_rpc_guard_is_new(guard, &early.message, now_ns + minute_ns / 2));
    assert_false(aq_rpc_guard_is_new(guard, &early.message, now_ns + 2 * minute_ns));
    assert_false(aq_rpc_guard_is_new(guard, &late.message, now_ns + minute_ns + AQ_NS_PER_S));
    aq_rpc_guard_destroy(guard);
}

TEST_OF_FIXTURE(a_call_from_the_future_is_not_taken)
{
    int64_t now_ns = aq_clock_monotonic_ns() + AQ_NS_PER_S;
    signed_request ahead;
    aq_token_peer peer;
    aq_rpc_guard *guard = meet(f, now_ns, &peer);

    sign(f, &peer, now_ns + 10 * AQ_NS_PER_S, 1, &ahead);
    assert_false(aq_rpc_guard_is_new(guard, &ahead.message, now_ns));
    assert_true(aq_rpc_guard_is_new(guard, &ahead.message, now_ns + 10 * AQ_NS_PER_S));
    aq_rpc_guard_destroy(guard);
}

TEST_OF_FIXTURE(what_is_forgotten_is_too_old_to_be_taken_again)
{
    int64_t now_ns = aq_clock_monotonic_ns() + AQ_NS_PER_S;
    signed_request first, other;
    aq_token_peer peer;
    aq_rpc_guard *guard = meet(f, now_ns, &peer);

    sign(f, &peer, now_ns, 1, &first);
    assert_true(aq_rpc_guard_is_new(guard, &first.message, now_ns));
    for (uint64_t id = 2; id <= AQ_GUARD_REMEMBERED + 1; id++) {
        now_ns += AQ_NS_PER_MS;
        sign(f, &peer, now_ns, id, &other);
        assert_true(aq_rpc_guard_is_new(guard, &other.message, now_ns));
    }
    assert_false(aq_rpc_guard_is_new(guard, &first.message, now_ns));
    aq_rpc_guard_destroy(guard);
}

TEST_OF_FIXTURE(a_guard_without_memory_is_not_made)
{
    aq_rpc_guard *guard = NULL;

    for (uint64_t nth = 1; nth <= 2; nth++) {
        aq_memory_fail_at(nth, 0);
        assert_int_equal(aq_rpc_guard_create(f->learner, &guard), AQ_E_NOMEM);
        aq_memory_fail_at(0, 0);
        assert_null(guard);
    }
}
