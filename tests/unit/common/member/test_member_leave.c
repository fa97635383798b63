/*
 * Going: a member that was in leaves word, at any moment; and one that is destroyed, at any moment,
 * is silent and takes no memory along.
 */
#include "tests/support/test.h"
#include "tests/unit/common/member/member_fake.h"

/* The Leave that is out. */
static void assert_leave_is_out(member_fake *fake, uint64_t run_id, uint64_t member)
{
    Actorq__V1__LeaveRequest *request = (Actorq__V1__LeaveRequest *)fake_request(
        fake, "Leave", &actorq__v1__leave_request__descriptor);
    assert_true(request->run_id == run_id);
    assert_true(request->member == member);
    assert_true(request->incarnation == FAKE_INCARNATION);
    assert_string_equal(request->reason, "the test is over");
}

TEST_OF_SETTLED(a_member_that_leaves_says_so)
{
    Actorq__V1__LeaveReply reply;
    actorq__v1__leave_reply__init(&reply);
    fake_leave(fake);
    assert_leave_is_out(fake, FAKE_RUN, 7);
    assert_int_equal(fake->left, 0);
    fake_reply(fake, &reply.base);
    assert_int_equal(fake->left, 1);
}

TEST_OF_SETTLED(a_learner_that_does_not_hear_it_keeps_nobody)
{
    fake_leave(fake);
    fake_lose(fake, AQ_E_TIMEOUT);
    assert_int_equal(fake->left, 1);
    assert_int_equal(fake->trouble, 0);
}

TEST_OF_SETTLED(after_leaving_nothing_is_sent)
{
    fake_leave(fake);
    fake_pass(fake, 100000);
    fake_lose(fake, AQ_E_TIMEOUT);
    uint32_t sends = fake->sends;
    fake_pass(fake, 100000);
    assert_int_equal(fake->sends, sends);
    assert_true(fake->next_ns == INT64_MAX);
}

TEST_OF_MEMBER(who_never_joined_leaves_at_once)
{
    fake_leave(fake);
    assert_int_equal(fake->left, 1);
    assert_int_equal(fake->sends, 0);
}

TEST_OF_SETTLED(who_was_forgotten_leaves_at_once)
{
    fake->beat.reply.known = 0;
    fake_beat_once(fake);
    uint32_t sends = fake->sends;
    fake_leave(fake);
    assert_int_equal(fake->left, 1);
    assert_int_equal(fake->sends, sends);
}

TEST_OF_SETTLED(a_leave_waits_for_the_heartbeat_that_is_out)
{
    fake->beat.reply.version = 9;
    fake_wait_for_call(fake, 501);
    fake_leave(fake);
    assert_int_equal(fake->left, 0);
    fake_reply(fake, &fake->beat.reply.base);
    assert_int_equal(fake->changed, 1); /* of no interest any more */
    assert_leave_is_out(fake, FAKE_RUN, 7);
}

TEST_OF_SETTLED(a_leave_goes_although_the_heartbeat_failed)
{
    fake_wait_for_call(fake, 501);
    fake_leave(fake);
    fake_status(fake, AQ_RPC_UNAVAILABLE, "busy");
    assert_int_equal(fake->trouble, 0);
    assert_leave_is_out(fake, FAKE_RUN, 7);
}

/* Else the learner would keep a member that nobody is. */
TEST_OF_MEMBER(a_join_that_is_out_is_taken_back_by_the_number_it_brings)
{
    fake_pass(fake, 0);
    fake_leave(fake);
    assert_int_equal(fake->left, 0);
    fake_reply(fake, &fake->join.reply.base);
    assert_int_equal(fake->joined, 0);
    assert_leave_is_out(fake, FAKE_RUN, 7);
}

TEST_OF_MEMBER(a_join_that_failed_leaves_nothing_to_take_back)
{
    fake_pass(fake, 0);
    fake_leave(fake);
    fake_lose(fake, AQ_E_TIMEOUT);
    assert_int_equal(fake->left, 1);
    assert_int_equal(fake->sends, 1);
}

TEST_OF_SETTLED(the_run_may_be_left_after_its_end)
{
    fake->beat.reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    fake_beat_once(fake);
    fake_leave(fake);
    assert_leave_is_out(fake, FAKE_RUN, 7);
}

TEST_OF_MEMBER(an_answer_to_a_member_that_is_gone_does_nothing)
{
    fake_pass(fake, 0);
    fake_destroy(fake);
    fake_reply(fake, &fake->join.reply.base);
    assert_int_equal(fake->joined, 0);
}

TEST_OF_SETTLED(a_channel_that_closes_on_a_member_that_is_gone_does_nothing)
{
    fake_wait_for_call(fake, 501);
    fake_destroy(fake);
    fake_lose(fake, AQ_E_CLOSED);
    assert_int_equal(fake->trouble, 0);
}

TEST_OF_SETTLED(the_answer_to_a_leave_may_come_too_late)
{
    fake_leave(fake);
    fake_destroy(fake);
    fake_lose(fake, AQ_E_CLOSED);
    assert_int_equal(fake->left, 0);
}

/* ---- destroyed by its owner from inside a callback ------------------------------------------- */

TEST_OF_MEMBER(an_owner_may_destroy_it_when_it_has_joined)
{
    fake_pass(fake, 0);
    fake->destroy_when_told = true;
    fake_reply(fake, &fake->join.reply.base);
    assert_int_equal(fake->joined, 1);
    assert_null(fake->member);
}

TEST_OF_SETTLED(an_owner_may_destroy_it_when_something_changed)
{
    fake->beat.reply.version = 6;
    fake_wait_for_call(fake, 501);
    fake->destroy_when_told = true;
    fake_reply(fake, &fake->beat.reply.base);
    assert_int_equal(fake->changed, 2);
    assert_null(fake->member);
}

TEST_OF_MEMBER(an_owner_may_destroy_it_when_it_was_refused)
{
    fake_pass(fake, 0);
    fake->destroy_when_told = true;
    fake_status(fake, AQ_RPC_FAILED_PRECONDITION, "no");
    assert_int_equal(fake->ended, 1);
    assert_null(fake->member);
}

TEST_OF_MEMBER(an_owner_may_destroy_it_when_it_cannot_even_send)
{
    fake->destroy_when_told = true;
    fake->send_error = AQ_E_CLOSED;
    fake_pass(fake, 0);
    assert_int_equal(fake->trouble, 1);
    assert_null(fake->member);
    assert_true(fake->next_ns == INT64_MAX);
}

TEST_OF_SETTLED(an_owner_may_destroy_it_when_it_has_left)
{
    fake_leave(fake);
    fake->destroy_when_told = true;
    fake_lose(fake, AQ_E_TIMEOUT);
    assert_int_equal(fake->left, 1);
    assert_null(fake->member);
}

TEST_OF_MEMBER(an_owner_may_destroy_it_when_it_never_joined_and_left)
{
    fake->destroy_when_told = true;
    fake_leave(fake);
    assert_int_equal(fake->left, 1);
    assert_null(fake->member);
}

TEST_OF_SETTLED(an_owner_may_destroy_it_when_its_leave_cannot_be_sent)
{
    fake->send_error = AQ_E_CLOSED;
    fake->destroy_when_told = true;
    fake_leave(fake);
    assert_int_equal(fake->left, 1);
    assert_null(fake->member);
}
