/*
 * What a guard remembers: a call is new once, and for a while.
 */
#include "common/net/rpc/rpc_guard.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/secure_kit.h"

static const uint8_t master[AQ_TOKEN_KEY_BYTES] = "a run's master secret, 32 bytes";

/* A guard, and a caller that knows it as of now. */
typedef struct scene {
    aq_rpc_guard *guard;
    aq_token *operator_token;
    aq_token_peer peer;
    int64_t now_ns;
} scene;

typedef struct signed_request {
    Actorq__V1__RpcRequest message;
    uint8_t proof[AQ_GUARD_PROOF_BYTES];
} signed_request;

static char stop_method[] = "actorq.v1.Operations/Stop";

static void scene_setup(scene *s)
{
    Actorq__V1__RpcChallenge challenge;
    s->operator_token = secure_kit_token(master, AQ_ACCESS_OPERATOR);
    s->now_ns = aq_clock_monotonic_ns() + AQ_NS_PER_S;
    assert_int_equal(aq_rpc_guard_create(secure_kit_token(master, AQ_ACCESS_LEARNER),
                                         AQ_ACCESS_LEARNER, 0, &s->guard),
                     0);
    aq_rpc_guard_challenge(s->guard, s->now_ns, &challenge);
    aq_guard_peer_take(&s->peer, &challenge, s->now_ns);
}

static void scene_teardown(scene *s)
{
    aq_rpc_guard_destroy(s->guard);
}

#define TEST_OF_SCENE(name) TEST_IN(scene, s, name)

static void sign(const scene *s, int64_t now_ns, uint64_t id, signed_request *ret_request)
{
    aq_token_call call = {.request_id = id, .timeout_ms = 1000, .method = stop_method};
    ret_request->message = (Actorq__V1__RpcRequest)ACTORQ__V1__RPC_REQUEST__INIT;
    ret_request->message.method = stop_method;
    ret_request->message.request_id = id;
    ret_request->message.timeout_ms = 1000;
    ret_request->message.token.data = ret_request->proof;
    assert_int_equal(aq_guard_peer_sign(&s->peer, s->operator_token, now_ns, &call,
                                        ret_request->proof, &ret_request->message.token.len),
                     0);
}

TEST_OF_SCENE(a_call_is_new_once_and_for_a_minute)
{
    const int64_t now_ns = s->now_ns, minute_ns = AQ_GUARD_WINDOW_MS * AQ_NS_PER_MS;
    signed_request early, late;
    sign(s, now_ns, 1, &early);
    sign(s, now_ns, 2, &late);
    assert_true(aq_rpc_guard_is_new(s->guard, &early.message, now_ns));
    assert_false(aq_rpc_guard_is_new(s->guard, &early.message, now_ns));
    assert_false(aq_rpc_guard_is_new(s->guard, &early.message, now_ns + minute_ns / 2));
    assert_false(aq_rpc_guard_is_new(s->guard, &early.message, now_ns + 2 * minute_ns));
    assert_false(aq_rpc_guard_is_new(s->guard, &late.message, now_ns + minute_ns + AQ_NS_PER_S));
}

TEST_OF_SCENE(a_call_from_the_future_is_not_taken)
{
    signed_request ahead;
    const int64_t ahead_ns = 52 * AQ_NS_PER_MS; /* 50 ms, and both clocks are rounded */
    sign(s, s->now_ns + ahead_ns, 1, &ahead);
    assert_false(aq_rpc_guard_is_new(s->guard, &ahead.message, s->now_ns));
    assert_true(aq_rpc_guard_is_new(s->guard, &ahead.message, s->now_ns + 4 * AQ_NS_PER_MS));
}

TEST_OF_SCENE(what_is_forgotten_is_too_old_to_be_taken_again)
{
    int64_t now_ns = s->now_ns;
    signed_request first, other;
    sign(s, now_ns, 1, &first);
    assert_true(aq_rpc_guard_is_new(s->guard, &first.message, now_ns));
    for (uint64_t id = 2; id <= AQ_GUARD_REMEMBERED + 1; id++) {
        now_ns += AQ_NS_PER_MS;
        sign(s, now_ns, id, &other);
        assert_true(aq_rpc_guard_is_new(s->guard, &other.message, now_ns));
    }
    assert_false(aq_rpc_guard_is_new(s->guard, &first.message, now_ns));
}

/* As far ahead as is taken, more often than a second's calls can be remembered. */
TEST_OF_SCENE(a_caller_that_signs_ahead_makes_nobody_elses_calls_too_old)
{
    enum { CALLS = 2 * AQ_GUARD_REMEMBERED };
    const int64_t began_ns = s->now_ns;
    signed_request other;
    int64_t now_ns = began_ns, ahead_ns = 52 * AQ_NS_PER_MS;
    do {
        ahead_ns -= AQ_NS_PER_MS;
        sign(s, began_ns + ahead_ns, CALLS, &other);
    } while (!aq_rpc_guard_is_new(s->guard, &other.message, began_ns));
    ahead_ns -= AQ_NS_PER_MS; /* both clocks are rounded */
    for (uint64_t id = 0; id < CALLS; id++) {
        now_ns = began_ns + (int64_t)id * AQ_NS_PER_S / CALLS;
        sign(s, now_ns + ahead_ns, id, &other);
        assert_true(aq_rpc_guard_is_new(s->guard, &other.message, now_ns));
    }
    sign(s, now_ns, CALLS + 1, &other);
    assert_true(aq_rpc_guard_is_new(s->guard, &other.message, now_ns));
}

TEST(a_guard_without_memory_is_not_made)
{
    const aq_token *learner = secure_kit_token(master, AQ_ACCESS_LEARNER);
    aq_rpc_guard *guard;
    assert_made_despite_failures(guard, aq_rpc_guard_create(learner, AQ_ACCESS_LEARNER, 0, &guard));
    aq_rpc_guard_destroy(guard);
}
