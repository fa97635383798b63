/*
 * A call is answered, refused or given up in time, and each is told from the others.
 */
#include "cli/operate/rpc_catalog.h"
#include "proto/operations.pb-c.h"
#include "proto/policy.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/cli/fake_daemon.h"

enum { PATIENT_MS = 120000, SHORT_MS = 150 };

#define TEST_OF_DAEMON(name)                                                                       \
    TEST_OF(name, fake_daemon *daemon, fake_daemon_start("tcp://127.0.0.1:0"), fake_daemon_stop)

/* What a call came to. */
typedef struct outcome {
    int rc;
    ProtobufCMessage *reply;
    aq_rpc_status status;
    aq_error error;
} outcome;

static outcome call(aq_caller *caller, const char *name, const ProtobufCMessage *request,
                    uint32_t timeout_ms)
{
    outcome result = {0};
    aq_caller_method method;
    assert_int_equal(aq_rpc_catalog_find(name, &method, NULL), 0);
    result.rc = aq_caller_call(caller, method, request, timeout_ms, &result.reply, &result.status,
                               &result.error);
    return result;
}

static outcome call_once(const char *url, const char *name, const ProtobufCMessage *request,
                         uint32_t timeout_ms)
{
    aq_caller *caller = NULL;
    assert_int_equal(aq_caller_open(url, &caller, NULL), 0);
    outcome result = call(caller, name, request, timeout_ms);
    aq_caller_close(caller);
    return result;
}

TEST_OF_DAEMON(an_answer_outlives_its_caller)
{
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    outcome result =
        call_once(fake_daemon_url(daemon), "Operations/Status", &request.base, PATIENT_MS);
    assert_int_equal(result.rc, 0);
    const Actorq__V1__StatusReply *reply = (const Actorq__V1__StatusReply *)result.reply;
    assert_string_equal(reply->task, "gym:CartPole-v1");
    assert_int_equal(reply->learner->env_steps, 12345);
    assert_int_equal(reply->n_members, 4);
    protobuf_c_message_free_unpacked(result.reply, NULL);
}

TEST_OF_DAEMON(one_connection_serves_many_calls)
{
    aq_caller *caller = NULL;
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    assert_int_equal(aq_caller_open(fake_daemon_url(daemon), &caller, NULL), 0);
    for (int i = 0; i < 20; i++) {
        outcome result = call(caller, "Operations/Status", &request.base, PATIENT_MS);
        assert_int_equal(result.rc, 0);
        protobuf_c_message_free_unpacked(result.reply, NULL);
    }
    aq_caller_close(caller);
    fake_daemon_wait_asked(daemon, 20);
}

TEST_OF_DAEMON(an_error_is_the_daemons_words_made_plain)
{
    Actorq__V1__CheckpointRequest request = ACTORQ__V1__CHECKPOINT_REQUEST__INIT;
    outcome result =
        call_once(fake_daemon_url(daemon), "Operations/Checkpoint", &request.base, PATIENT_MS);
    assert_int_equal(result.rc, AQ_E_PEER);
    assert_int_equal(result.status.code, AQ_RPC_UNIMPLEMENTED);
    assert_string_equal(result.status.message, "nothing to keep?[2J");
    assert_says(result.error.text, fake_daemon_url(daemon));
    assert_says(result.error.text, "UNIMPLEMENTED: nothing to keep");
}

TEST_OF_DAEMON(a_method_that_the_daemon_has_not_is_unimplemented)
{
    Actorq__V1__FetchPolicyRequest request = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;
    outcome result = call_once(fake_daemon_url(daemon), "Policy/Fetch", &request.base, PATIENT_MS);
    assert_int_equal(result.rc, AQ_E_PEER);
    assert_int_equal(result.status.code, AQ_RPC_UNIMPLEMENTED);
}

TEST_OF_DAEMON(a_daemon_that_holds_its_answer_back_exceeds_the_deadline)
{
    char reason[] = "hold";
    aq_caller *caller = NULL;
    Actorq__V1__CheckpointRequest first = ACTORQ__V1__CHECKPOINT_REQUEST__INIT;
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    request.reason = reason;
    assert_int_equal(aq_caller_open(fake_daemon_url(daemon), &caller, NULL), 0);
    (void)call(caller, "Operations/Checkpoint", &first.base, PATIENT_MS); /* now it is reached */
    outcome result = call(caller, "Operations/Stop", &request.base, SHORT_MS);
    assert_int_equal(result.rc, AQ_E_PEER);
    assert_int_equal(result.status.code, AQ_RPC_DEADLINE_EXCEEDED);
    aq_caller_close(caller);
}

TEST(an_unreachable_daemon_is_named_with_the_time_waited)
{
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    int64_t started_ns = aq_clock_monotonic_ns();
    outcome result =
        call_once("ipc:///nonexistent/actorq.sock", "Operations/Status", &request.base, SHORT_MS);
    assert_int_equal(result.rc, AQ_E_TIMEOUT);
    assert_string_equal(result.error.text,
                        "ipc:///nonexistent/actorq.sock could not be reached within 150 ms");
    assert_true(aq_clock_monotonic_ns() - started_ns >= SHORT_MS * AQ_NS_PER_MS);
}

static int slow_told;

static void note_slow(const char *url, const char *why)
{
    (void)why;
    assert_string_equal(url, "ipc:///nonexistent/actorq.sock");
    slow_told++;
}

TEST(a_call_says_once_that_it_waits_for_a_daemon)
{
    enum { A_SECOND_AND_MORE_MS = 1200 };
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    aq_caller *caller = NULL;
    slow_told = 0;
    const int64_t started_ns = aq_clock_monotonic_ns();
    assert_int_equal(aq_caller_open("ipc:///nonexistent/actorq.sock", &caller, NULL), 0);
    aq_caller_on_slow(caller, note_slow);
    (void)call(caller, "Operations/Status", &request.base, SHORT_MS);
    assert_true(slow_told == 0 || aq_clock_monotonic_ns() - started_ns >= AQ_NS_PER_S);
    for (int i = 0; i < 2; i++) {
        (void)call(caller, "Operations/Status", &request.base, A_SECOND_AND_MORE_MS);
        assert_int_equal(slow_told, 1);
    }
    aq_caller_close(caller);
}

TEST(a_daemon_that_starts_late_is_waited_for)
{
    char url[64];
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    aq_caller *caller = NULL;
    (void)snprintf(url, sizeof(url), "ipc:///tmp/aq-test-caller-%ld", (long)getpid());
    assert_int_equal(aq_caller_open(url, &caller, NULL), 0);
    outcome early = call(caller, "Operations/Status", &request.base, SHORT_MS);
    assert_int_equal(early.rc, AQ_E_TIMEOUT);
    fake_daemon *daemon = fake_daemon_start(url);
    outcome late = call(caller, "Operations/Status", &request.base, PATIENT_MS);
    assert_int_equal(late.rc, 0);
    protobuf_c_message_free_unpacked(late.reply, NULL);
    aq_caller_close(caller);
    fake_daemon_stop(daemon);
}

TEST(a_bad_url_is_refused)
{
    aq_caller *caller = NULL;
    assert_refused(aq_caller_open("tcp://nowhere", &caller, &refusal), AQ_E_INVALID,
                   "tcp://nowhere");
    assert_null(caller);
}

TEST(without_memory_nothing_is_opened)
{
    aq_caller *caller;
    assert_made_despite_failures(caller,
                                 aq_caller_open("ipc:///nonexistent/actorq.sock", &caller, NULL));
    aq_caller_close(caller);
}
