/*
 * Joining: what is asked, how refusals differ from troubles, and how the pauses grow.
 */
#include "tests/support/test.h"
#include "tests/unit/common/member/member_fake.h"

TEST_OF_MEMBER(a_member_asks_to_join_at_its_first_tick)
{
    fake->seen_version = 31;
    fake_pass(fake, 0);
    Actorq__V1__JoinRequest *request = (Actorq__V1__JoinRequest *)fake_request(
        fake, "Join", &actorq__v1__join_request__descriptor);
    assert_int_equal(request->role, ACTORQ__V1__ROLE__ROLE_ACTOR);
    assert_true(request->incarnation == FAKE_INCARNATION);
    assert_true(request->member == 0);
    assert_true(request->run_id == 0);
    assert_true(request->version == 31);
    assert_string_equal(request->host, "worker-3");
    assert_int_equal(request->pid, 4711);
    assert_string_equal(request->software, AQ_VERSION);
    assert_string_equal(request->rpc_url, "tcp://*:6000");
    assert_string_equal(request->push_url, "tcp://*:6001");
    assert_int_equal(fake->timeout_ms, 2000);
}

TEST_OF_MEMBER(the_owner_is_told_of_the_run)
{
    fake_pass(fake, 0);
    fake_reply(fake, &fake->join.reply.base);
    assert_int_equal(fake->joined, 1);
    assert_int_equal(fake->again, 0);
    assert_int_equal(fake->view.state, AQ_MEMBER_JOINED);
    assert_int_equal(fake->view.run_state, AQ_RUN_RUNNING);
    assert_true(fake->view.run_id == FAKE_RUN);
    assert_true(fake->view.member == 7);
    assert_int_equal(fake->view.slot, 2);
    assert_string_equal(fake->view.policy_url, "tcp://*:5551");
    assert_memory_equal(&fake->view.settings, &fake->join.settings, sizeof(fake->join.settings));
    assert_memory_equal(aq_member_look(fake->member), &fake->view, sizeof(fake->view));
}

TEST_OF_MEMBER(one_call_is_out_at_a_time)
{
    fake_pass(fake, 0);
    for (int i = 0; i < 100; i++) {
        fake_pass(fake, 1000);
    }
    assert_int_equal(fake->sends, 1);
}

TEST_OF_MEMBER(while_a_call_is_out_a_tick_is_due_soon)
{
    fake_pass(fake, 0);
    assert_true(fake->next_ns > fake->now_ns);
    assert_true(fake->next_ns <= fake->now_ns + 100 * INT64_C(1000000));
}

/* Each pause lies between half its bound and its bound; the bound doubles from 100 ms to 2 s. */
TEST_OF_MEMBER(pauses_double_up_to_two_seconds)
{
    int64_t bound_ms = 50;
    fake_pass(fake, 0);
    for (uint32_t i = 1; i <= 12; i++) {
        fake_status(fake, AQ_RPC_UNAVAILABLE, "not yet");
        assert_int_equal(fake->trouble, i);
        bound_ms = bound_ms * 2 < 2000 ? bound_ms * 2 : 2000;
        int64_t pause_ms = fake_wait_for_call(fake, 2001);
        assert_true(pause_ms >= bound_ms / 2);
        assert_true(pause_ms <= bound_ms);
    }
    assert_int_equal(fake->ended, 0);
}

TEST(two_members_do_not_come_back_in_step)
{
    member_fake fakes[2];
    int64_t waited_ms[2] = {0, 0};
    for (uint64_t i = 0; i < 2; i++) {
        assert_int_equal(fake_open(&fakes[i], i), 0);
        fake_pass(&fakes[i], 0);
        for (int failures = 0; failures < 5; failures++) {
            fake_status(&fakes[i], AQ_RPC_UNAVAILABLE, "restarting");
            waited_ms[i] += fake_wait_for_call(&fakes[i], 2001);
        }
        fake_close(&fakes[i]);
    }
    assert_true(waited_ms[0] != waited_ms[1]);
}

TEST_OF_MEMBER(a_pause_begins_when_the_failure_is_known)
{
    fake_pass(fake, 0);
    fake_pass(fake, 1990); /* the learner hangs */
    fake_lose(fake, AQ_E_TIMEOUT);
    assert_says(fake->reason, "DEADLINE_EXCEEDED");
    assert_true(fake_wait_for_call(fake, 2000) >= 50);
}

TEST_OF_MEMBER(a_request_that_cannot_be_sent_is_tried_again)
{
    fake->send_error = AQ_E_FULL;
    fake_pass(fake, 0);
    assert_int_equal(fake->trouble, 1);
    assert_true(fake->next_ns >= fake->now_ns + 50 * INT64_C(1000000));
    fake->send_error = 0;
    int64_t pause_ms = fake_wait_for_call(fake, 200);
    assert_in_range(pause_ms, 50, 100);
}

TEST_OF_MEMBER(ticking_only_when_told_is_enough)
{
    fake_pass(fake, 0);
    fake_status(fake, AQ_RPC_UNAVAILABLE, "not yet");
    for (int i = 0; i < 5 && fake->sends < 2; i++) {
        fake->now_ns = fake->next_ns;
        fake_pass(fake, 0);
    }
    assert_int_equal(fake->sends, 2);
    fake_reply(fake, &fake->join.reply.base);
    for (int i = 0; i < 5 && fake->sends < 3; i++) {
        fake->now_ns = fake->next_ns;
        fake_pass(fake, 0);
    }
    assert_int_equal(fake->sends, 3);
}

TEST(what_cannot_be_mended_refuses_for_good)
{
    const enum aq_rpc_code codes[] = {AQ_RPC_INVALID_ARGUMENT, AQ_RPC_FAILED_PRECONDITION,
                                      AQ_RPC_UNIMPLEMENTED, AQ_RPC_PERMISSION_DENIED,
                                      AQ_RPC_UNAUTHENTICATED};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        member_fake fake;
        assert_int_equal(fake_open(&fake, i), 0);
        fake_pass(&fake, 0);
        fake_status(&fake, codes[i], "your shard holds another run");
        assert_int_equal(fake.ended, 1);
        assert_int_equal(fake.trouble, 0);
        assert_int_equal(fake.view.state, AQ_MEMBER_REFUSED);
        assert_says(fake.reason, aq_rpc_code_name(codes[i]));
        assert_says(fake.reason, "your shard holds another run");
        fake_pass(&fake, 100000);
        assert_int_equal(fake.sends, 1);
        assert_true(fake.next_ns == INT64_MAX);
        fake_close(&fake);
    }
}

TEST_OF_MEMBER(what_may_pass_is_tried_again)
{
    const enum aq_rpc_code codes[] = {
        AQ_RPC_CANCELLED, AQ_RPC_UNKNOWN,  AQ_RPC_DEADLINE_EXCEEDED, AQ_RPC_RESOURCE_EXHAUSTED,
        AQ_RPC_ABORTED,   AQ_RPC_INTERNAL, AQ_RPC_UNAVAILABLE,       AQ_RPC_DATA_LOSS};
    fake_pass(fake, 0);
    for (uint32_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        fake_status(fake, codes[i], "busy");
        assert_int_equal(fake->trouble, i + 1);
        fake_wait_for_call(fake, 2001);
    }
    assert_int_equal(fake->ended, 0);
}

TEST(a_run_that_is_over_is_not_joined)
{
    const Actorq__V1__RunState states[] = {ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED,
                                           ACTORQ__V1__RUN_STATE__RUN_STATE_BUDGET,
                                           ACTORQ__V1__RUN_STATE__RUN_STATE_STOPPED};
    const char *const words[] = {"solved", "limit", "stopped"};
    for (size_t i = 0; i < 3; i++) {
        member_fake fake;
        assert_int_equal(fake_open(&fake, i), 0);
        fake.join.reply.state = states[i];
        fake_pass(&fake, 0);
        fake_reply(&fake, &fake.join.reply.base);
        assert_int_equal(fake.joined, 0);
        assert_int_equal(fake.ended, 1);
        assert_int_equal(fake.view.state, AQ_MEMBER_ENDED);
        assert_int_equal(fake.view.run_state, states[i]);
        assert_says(fake.reason, words[i]);
        fake_pass(&fake, 100000);
        assert_int_equal(fake.sends, 1);
        fake_close(&fake);
    }
}

/* By an answer that no retry can make better; then the member is a new one. */
static void assert_join_refused(member_fake *fake, const char *words)
{
    fake_pass(fake, 0);
    fake_reply(fake, &fake->join.reply.base);
    assert_says(fake->reason, words);
    assert_int_equal(fake->joined, 0);
    assert_int_equal(fake->ended, 1);
    assert_int_equal(aq_member_look(fake->member)->state, AQ_MEMBER_REFUSED);
    fake_close(fake);
    assert_int_equal(fake_open(fake, 99), 0);
}

TEST_OF_MEMBER(an_answer_that_cannot_be_is_refused)
{
    char url[AQ_URL_MAX + 1];
    fake->join.settings.config.net.heartbeat_ms = 0;
    aq_wire_settings_to(&fake->join.settings, &fake->join.view);
    assert_join_refused(fake, "net.heartbeat_ms: '0' is out of bounds");
    fake->join.reply.settings = NULL;
    assert_join_refused(fake, "settings are missing");
    fake->join.reply.run_id = 0;
    assert_join_refused(fake, "of run 0");
    memset(url, 'u', AQ_URL_MAX);
    url[AQ_URL_MAX] = '\0';
    fake->join.reply.policy_url = url;
    assert_join_refused(fake, "policy_url is longer than 255 bytes");
    fake->join.reply.state = (Actorq__V1__RunState)9;
    assert_join_refused(fake, "state 9");
}

TEST(a_member_there_is_no_memory_for_is_not_made)
{
    member_fake fake;
    assert_fails_without_memory(fake_open(&fake, 1));
    assert_null(fake.member);
    aq_member_destroy(NULL);
}
