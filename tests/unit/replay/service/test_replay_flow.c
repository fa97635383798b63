/*
 * Credit calls over a dispatcher: long polls, restarts, limits, and how often they are answered.
 */
#include "tests/support/test.h"
#include "tests/unit/replay/service_kit.h"

/* A chunk of 8 in each of two environments: what a newcomer is granted. */
enum { NEWCOMERS = 16, LANES = 2 };

static const Actorq__V1__CreditReply *ask(service_kit *kit, uint64_t known_acknowledged,
                                          uint64_t known_granted)
{
    const loopback_answer *answer = kit_call(kit, known_acknowledged, known_granted, 0);
    kit_pass(kit, 2);
    loopback_assert_answered(answer, AQ_RPC_OK, "");
    return answer->credit;
}

TEST_IN(service_kit, kit, the_first_call_is_answered_with_a_grant_at_the_next_tick)
{
    const loopback_answer *answer = kit_call(kit, 0, 0, 5000);
    assert_false(answer->done);
    kit_pass(kit, 2);
    loopback_assert_answered(answer, AQ_RPC_OK, "");
    assert_int_equal(answer->credit->granted, NEWCOMERS);
    assert_int_equal(answer->credit->acknowledged, 0);
    assert_int_equal(answer->credit->expected, 1);
    assert_int_equal(answer->credit->shard_incarnation, KIT_SHARD_INCARNATION);
}

TEST_IN(service_kit, kit, a_call_without_news_is_held_until_its_time_is_over)
{
    const Actorq__V1__CreditReply *first = ask(kit, 0, 0);
    const loopback_answer *answer = kit_call(kit, 0, first->granted, 100);
    kit_pass(kit, 98);
    assert_false(answer->done);
    kit_pass(kit, 2);
    assert_true(answer->done);
    assert_int_equal(answer->credit->granted, first->granted);
}

TEST_IN(service_kit, kit, a_call_is_never_held_so_long_that_its_actor_seems_dead)
{
    const Actorq__V1__CreditReply *first = ask(kit, 0, 0);
    const loopback_answer *answer = kit_call(kit, 0, first->granted, 10000);
    kit_pass(kit, 800);
    assert_true(answer->done);
}

TEST_IN(service_kit, kit, a_call_is_answered_before_its_own_deadline)
{
    const Actorq__V1__CreditReply *first = ask(kit, 0, 0);
    Actorq__V1__CreditRequest request = kit_credit_request(0, first->granted, 500);
    kit->loop.timeout_ms = 80;
    const loopback_answer *answer = loopback_call(&kit->loop, &request.base);
    kit_pass(kit, 70);
    assert_true(answer->done);
}

TEST_IN(service_kit, kit, a_stored_message_wakes_the_call)
{
    const Actorq__V1__CreditReply *first = ask(kit, 0, 0);
    const loopback_answer *answer = kit_call(kit, 0, first->granted, 500);
    kit_pass(kit, 50);
    assert_false(answer->done);
    kit_insert(kit, 1, 10);
    kit_pass(kit, 2);
    assert_true(answer->done);
    assert_int_equal(answer->credit->acknowledged, 1);
    assert_int_equal(answer->credit->expected, 2);
}

TEST_IN(service_kit, kit, a_gap_wakes_the_call)
{
    const Actorq__V1__CreditReply *first = ask(kit, 0, 0);
    const loopback_answer *answer = kit_call(kit, 0, first->granted, 500);
    aq_experience message = kit_message(1, 3, 0, 0, 8);
    kit_receive(kit, &message);
    kit_pass(kit, 4);
    assert_true(answer->done);
    assert_int_equal(answer->credit->gaps, 1);
    assert_int_equal(answer->credit->expected, 1);
}

TEST_IN(service_kit, kit, samples_make_credit)
{
    const Actorq__V1__CreditReply *first = ask(kit, 0, 0);
    kit_insert(kit, 1, 60); /* minimum 20 and tolerance 40 */
    const Actorq__V1__CreditReply *second = ask(kit, 0, first->granted);
    assert_int_equal(second->granted, first->granted);
    Actorq__V1__CreditRequest request = kit_credit_request(1, first->granted, 500);
    const loopback_answer *answer = loopback_call(&kit->loop, &request.base);
    kit_pass(kit, 50);
    assert_false(answer->done);
    Actorq__V1__SampleRequest draw = kit_sample_request(16, 1, 0);
    for (int i = 0; i < 2; i++) {
        loopback_ask(&kit->loop, &draw.base);
    }
    kit_pass(kit, 2);
    assert_true(answer->done);
    /* A step of all environments is what it may have made beyond its grant. */
    assert_int_equal(answer->credit->granted, NEWCOMERS + LANES + 8);
}

TEST_IN(service_kit, kit, after_a_restart_marks_and_grants_go_on)
{
    const Actorq__V1__CreditReply *credit = ask(kit, 41, 5000);
    assert_int_equal(credit->acknowledged, 41);
    assert_int_equal(credit->expected, 42);
    assert_int_equal(credit->granted, 5000 + NEWCOMERS);
}

TEST_IN(service_kit, kit, a_foreign_run_is_refused)
{
    Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 0);
    request.run_id = 78;
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_FAILED_PRECONDITION, "000000000000004d");
}

TEST_IN(service_kit, kit, impossible_requests_are_refused_in_words)
{
    Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 10001);
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_INVALID_ARGUMENT, "10001");
    const loopback_answer *answer = kit_call(kit, UINT64_MAX, 0, 0);
    assert_int_equal(answer->status.code, AQ_RPC_INVALID_ARGUMENT);
    answer = kit_call(kit, 0, UINT64_MAX, 0);
    assert_int_equal(answer->status.code, AQ_RPC_INVALID_ARGUMENT);
}

TEST_IN(service_kit, kit, more_calls_than_can_be_held_are_answered_at_once)
{
    const loopback_answer *answers[AQ_REPLAY_HELD_CREDITS_MAX];
    Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 500);
    for (size_t i = 0; i < AQ_REPLAY_HELD_CREDITS_MAX; i++) {
        answers[i] = loopback_call(&kit->loop, &request.base);
        assert_false(answers[i]->done);
    }
    const loopback_answer *more = loopback_call(&kit->loop, &request.base);
    loopback_assert_answered(more, AQ_RPC_OK, "");
    kit_pass(kit, 500);
    for (size_t i = 0; i < AQ_REPLAY_HELD_CREDITS_MAX; i++) {
        assert_true(answers[i]->done);
    }
}

TEST_IN(service_kit, kit, more_actors_than_can_be_tracked_are_refused)
{
    const loopback_answer *answer = NULL;
    for (uint64_t i = 0; i <= 8192; i++) {
        Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 0);
        request.actor = i;
        answer = loopback_call(&kit->loop, &request.base);
        if (i < 8192) {
            kit_pass(kit, 2);
        }
    }
    loopback_assert_answered(answer, AQ_RPC_RESOURCE_EXHAUSTED, "actor 8192");
}

TEST_IN(service_kit, kit, a_busy_actor_gets_at_most_500_answers_a_second)
{
    int answers = 0;
    uint64_t seq = 0, acknowledged = 0, granted = 0;
    const loopback_answer *answer = NULL;
    Actorq__V1__SampleRequest draw = kit_sample_request(16, 1, 0);
    for (int ms = 0; ms < 1000; ms += 2) {
        if (answer == NULL || answer->done) {
            answers += answer != NULL;
            acknowledged = answer != NULL ? answer->credit->acknowledged : 0;
            granted = answer != NULL ? answer->credit->granted : 0;
            Actorq__V1__CreditRequest request = kit_credit_request(acknowledged, granted, 500);
            answer = loopback_call(&kit->loop, &request.base);
        }
        for (int i = 0; i < 3; i++) {
            kit_insert(kit, ++seq, 4);
        }
        for (bool allowed = true; allowed;) {
            const loopback_answer *sample = loopback_call(&kit->loop, &draw.base);
            allowed = sample->status.code == AQ_RPC_OK;
        }
        kit_pass(kit, 2);
    }
    assert_in_range(answers, 100, 500);
    assert_true(acknowledged + 10 > seq);
    kit_pass(kit, 800);
}

TEST_IN(service_kit, kit, the_end_of_the_run_releases_held_calls)
{
    const Actorq__V1__CreditReply *first = ask(kit, 0, 0);
    const loopback_answer *answer = kit_call(kit, 0, first->granted, 500);
    aq_replay_service_end(kit->service, "another run begins");
    loopback_pump(&kit->loop);
    assert_int_equal(answer->status.code, AQ_RPC_UNAVAILABLE);
    assert_string_equal(answer->status.message, "another run begins");
}

TEST_IN(idle_kit, kit, without_a_run_calls_are_unavailable)
{
    const loopback_answer *answer = kit_call(kit, 0, 0, 0);
    assert_int_equal(answer->status.code, AQ_RPC_UNAVAILABLE);
    assert_string_equal(answer->status.message, "this shard has not joined a run yet");
}
