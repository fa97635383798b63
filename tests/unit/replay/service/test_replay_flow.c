/*
 * Credit calls over a dispatcher: long polls, restarts, limits, and how often they are answered.
 */
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "tests/support/test.h"
#include "tests/unit/replay/service_kit.h"

static kit_answer ask(service_kit *kit, uint64_t known_acknowledged, uint64_t known_granted)
{
    kit_answer answer;
    Actorq__V1__CreditRequest request = kit_credit_request(known_acknowledged, known_granted, 0);
    kit_credit(kit, &request, &answer);
    kit_pass(kit, 2);
    assert_true(answer.done);
    assert_int_equal(answer.status.code, AQ_RPC_OK);
    return answer;
}

TEST_WITH(the_first_call_is_answered_with_a_grant_at_the_next_tick, service_kit_setup,
          service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer answer;
    Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 5000);
    kit_credit(kit, &request, &answer);
    assert_false(answer.done);
    kit_pass(kit, 2);
    assert_true(answer.done);
    assert_int_equal(answer.status.code, AQ_RPC_OK);
    assert_int_equal(answer.credit.granted, 60); /* minimum 20 and tolerance 40 */
    assert_int_equal(answer.credit.acknowledged, 0);
    assert_int_equal(answer.credit.expected, 1);
    assert_int_equal(answer.shard_incarnation, KIT_SHARD_INCARNATION);
}

TEST_WITH(a_call_without_news_is_held_until_its_time_is_over, service_kit_setup,
          service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer first = ask(kit, 0, 0);
    kit_answer answer;
    Actorq__V1__CreditRequest request = kit_credit_request(0, first.credit.granted, 100);
    kit_credit(kit, &request, &answer);
    kit_pass(kit, 98);
    assert_false(answer.done);
    kit_pass(kit, 2);
    assert_true(answer.done);
    assert_int_equal(answer.credit.granted, first.credit.granted);
}

TEST_WITH(a_call_is_never_held_so_long_that_its_actor_seems_dead, service_kit_setup,
          service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer first = ask(kit, 0, 0);
    kit_answer answer;
    Actorq__V1__CreditRequest request = kit_credit_request(0, first.credit.granted, 10000);
    kit_credit(kit, &request, &answer);
    kit_pass(kit, 800);
    assert_true(answer.done);
}

TEST_WITH(a_call_is_answered_before_its_own_deadline, service_kit_setup, service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer first = ask(kit, 0, 0);
    kit_answer answer;
    Actorq__V1__CreditRequest request = kit_credit_request(0, first.credit.granted, 500);
    kit->flow.timeout_ms = 80;
    kit_credit(kit, &request, &answer);
    kit_pass(kit, 70);
    assert_true(answer.done);
}

TEST_WITH(a_stored_message_wakes_the_call, service_kit_setup, service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer first = ask(kit, 0, 0);
    kit_answer answer;
    Actorq__V1__CreditRequest request = kit_credit_request(0, first.credit.granted, 500);
    kit_credit(kit, &request, &answer);
    kit_pass(kit, 50);
    assert_false(answer.done);
    kit_insert(kit, 1, 10);
    kit_pass(kit, 2);
    assert_true(answer.done);
    assert_int_equal(answer.credit.acknowledged, 1);
    assert_int_equal(answer.credit.expected, 2);
}

TEST_WITH(a_gap_wakes_the_call, service_kit_setup, service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer first = ask(kit, 0, 0);
    kit_answer answer;
    Actorq__V1__CreditRequest request = kit_credit_request(0, first.credit.granted, 500);
    kit_credit(kit, &request, &answer);
    aq_experience message = kit_message(1, 3, 0, 0, 8);
    kit_receive(kit, &message);
    kit_pass(kit, 4);
    assert_true(answer.done);
    assert_int_equal(answer.credit.gaps, 1);
    assert_int_equal(answer.credit.expected, 1);
}

TEST_WITH(samples_make_credit, service_kit_setup, service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer first = ask(kit, 0, 0);
    kit_insert(kit, 1, 60);
    kit_answer second = ask(kit, 0, first.credit.granted);
    assert_int_equal(second.credit.granted, first.credit.granted);
    kit_answer answer, sample;
    Actorq__V1__CreditRequest request = kit_credit_request(1, first.credit.granted, 500);
    kit_credit(kit, &request, &answer);
    kit_pass(kit, 50);
    assert_false(answer.done);
    Actorq__V1__SampleRequest draw = kit_sample_request(16, 1, 0);
    for (int i = 0; i < 2; i++) {
        kit_sample(kit, &draw, &sample);
        assert_int_equal(sample.status.code, AQ_RPC_OK);
        kit_answer_fini(&sample);
    }
    kit_pass(kit, 2);
    assert_true(answer.done);
    assert_int_equal(answer.credit.granted, 60 + 8);
}

TEST_WITH(after_a_restart_marks_and_grants_go_on, service_kit_setup, service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer answer = ask(kit, 41, 5000);
    assert_int_equal(answer.credit.acknowledged, 41);
    assert_int_equal(answer.credit.expected, 42);
    assert_int_equal(answer.credit.granted, 5060);
}

TEST_WITH(a_foreign_run_is_refused, service_kit_setup, service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer answer;
    Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 0);
    request.run_id = 78;
    kit_credit(kit, &request, &answer);
    assert_int_equal(answer.status.code, AQ_RPC_FAILED_PRECONDITION);
    assert_non_null(strstr(answer.status.message, "000000000000004d"));
}

TEST_WITH(impossible_requests_are_refused_in_words, service_kit_setup, service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer answer;
    Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 10001);
    kit_credit(kit, &request, &answer);
    assert_int_equal(answer.status.code, AQ_RPC_INVALID_ARGUMENT);
    assert_non_null(strstr(answer.status.message, "10001"));
    request = kit_credit_request(UINT64_MAX, 0, 0);
    kit_credit(kit, &request, &answer);
    assert_int_equal(answer.status.code, AQ_RPC_INVALID_ARGUMENT);
    request = kit_credit_request(0, UINT64_MAX, 0);
    kit_credit(kit, &request, &answer);
    assert_int_equal(answer.status.code, AQ_RPC_INVALID_ARGUMENT);
}

TEST_WITH(more_calls_than_can_be_held_are_answered_at_once, service_kit_setup, service_kit_teardown)
{
    service_kit *kit = *state;
    static kit_answer answers[AQ_REPLAY_HELD_CREDITS_MAX];
    Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 500);
    for (size_t i = 0; i < AQ_REPLAY_HELD_CREDITS_MAX; i++) {
        kit_credit(kit, &request, &answers[i]);
        assert_false(answers[i].done);
    }
    kit_answer more;
    kit_credit(kit, &request, &more);
    assert_true(more.done);
    assert_int_equal(more.status.code, AQ_RPC_OK);
    kit_pass(kit, 500);
    for (size_t i = 0; i < AQ_REPLAY_HELD_CREDITS_MAX; i++) {
        assert_true(answers[i].done);
    }
}

TEST_WITH(more_actors_than_can_be_tracked_are_refused, service_kit_setup, service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer answer;
    for (uint64_t i = 0; i <= 8192; i++) {
        Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 0);
        request.actor = i;
        kit_credit(kit, &request, &answer);
        if (i < 8192) {
            kit_pass(kit, 2);
        }
    }
    assert_int_equal(answer.status.code, AQ_RPC_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(answer.status.message, "actor 8192"));
}

TEST_WITH(a_busy_actor_gets_at_most_500_answers_a_second, service_kit_setup, service_kit_teardown)
{
    service_kit *kit = *state;
    int answers = 0;
    uint64_t seq = 0, acknowledged = 0, granted = 0;
    kit_answer answer = {.done = true};
    Actorq__V1__SampleRequest draw = kit_sample_request(16, 1, 0);
    for (int ms = 0; ms < 1000; ms += 2) {
        if (answer.done) {
            answers += ms > 0;
            acknowledged = answer.credit.acknowledged;
            granted = answer.credit.granted;
            Actorq__V1__CreditRequest request = kit_credit_request(acknowledged, granted, 500);
            kit_credit(kit, &request, &answer);
        }
        for (int i = 0; i < 3; i++) {
            kit_insert(kit, ++seq, 4);
        }
        for (bool allowed = true; allowed;) {
            kit_answer sample;
            kit_sample(kit, &draw, &sample);
            allowed = sample.status.code == AQ_RPC_OK;
            kit_answer_fini(&sample);
        }
        kit_pass(kit, 2);
    }
    assert_in_range(answers, 100, 500);
    assert_true(acknowledged + 10 > seq);
    kit_pass(kit, 800);
}

TEST_WITH(the_end_of_the_run_releases_held_calls, service_kit_setup, service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer first = ask(kit, 0, 0);
    kit_answer answer;
    Actorq__V1__CreditRequest request = kit_credit_request(0, first.credit.granted, 500);
    kit_credit(kit, &request, &answer);
    aq_replay_service_end(kit->service, "another run begins");
    loopback_pump(&kit->loop);
    assert_int_equal(answer.status.code, AQ_RPC_UNAVAILABLE);
    assert_string_equal(answer.status.message, "another run begins");
}

TEST_WITH(without_a_run_calls_are_unavailable, service_kit_setup_without_run, service_kit_teardown)
{
    service_kit *kit = *state;
    kit_answer answer;
    Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 0);
    kit_credit(kit, &request, &answer);
    assert_int_equal(answer.status.code, AQ_RPC_UNAVAILABLE);
    assert_string_equal(answer.status.message, "this shard has not joined a run yet");
}
