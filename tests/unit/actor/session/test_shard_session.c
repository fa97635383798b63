/*
 * An actor and one shard: what happens when the connection breaks, the shard dies, is slow or
 * refuses.
 */
#include "tests/support/test.h"
#include "tests/unit/actor/actor_stage.h"
#include "tests/unit/actor/core_kit.h"

#define PLENTY UINT64_C(1000000000)

enum { HELD_BACK_MAX = 2 * KIT_ENVS }; /* n - 1 each: no item yet */

TEST_ON_STAGE(the_longest_deadline_that_may_be_set_is_taken)
{
    stage->learner.settings.config.net.rpc_timeout_ms = AQ_RPC_TIMEOUT_MS_MAX;
    stage_act(stage, 10 * KIT_ENVS, 60);
    assert_int_equal(stage_counters(stage).env_steps, 10 * KIT_ENVS);
}

/* ---- connections that break ----------------------------------------------------------------- */

TEST_ON_STAGE(a_broken_connection_loses_nothing_and_doubles_nothing)
{
    fake_shard *shard = &stage->shards[0];
    shard->granted = 200 * KIT_ENVS;
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 30); /* sent, and lost on the way */
    assert_true(stage_counters(stage).unacknowledged > 0);
    assert_int_equal(shard->fresh, 0);
    stage->ways[0].is_lossy = false;
    stage_break(stage, 0);
    stage_pass(stage, 60);
    assert_true(shard->fresh + HELD_BACK_MAX >= 200 * KIT_ENVS);
    assert_true(shard->fresh <= 200 * KIT_ENVS);
    assert_int_equal(shard->gaps, 0);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_true(stage_counters(stage).resent > 0);
}

TEST_ON_STAGE(what_was_lost_without_a_break_goes_again_in_time)
{
    fake_shard *shard = &stage->shards[0];
    shard->granted = 100 * KIT_ENVS;
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 30);
    stage->ways[0].is_lossy = false;
    for (int i = 0; i < KIT_TIMEOUT_MS + 600 && stage_counters(stage).unacknowledged > 0; i++) {
        fake_shard_answer(shard, i % 100 == 0); /* a held call is answered after its time */
        stage_pass(stage, 1);
    }
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_true(shard->fresh + HELD_BACK_MAX >= 100 * KIT_ENVS);
    assert_int_equal(shard->gaps, 0);
}

/* As when the shard's host went away and came back: calls find it again, the connection is dead. */
TEST_ON_STAGE(a_connection_that_brings_nothing_is_made_anew)
{
    fake_shard *shard = &stage->shards[0];
    int passed_ms = 0;
    shard->granted = 100 * KIT_ENVS;
    stage->ways[0].is_lossy = true;
    for (; stage->ways[0].opens < 2 && passed_ms < 10 * KIT_TIMEOUT_MS; passed_ms++) {
        fake_shard_answer(shard, passed_ms % 100 == 0);
        stage_pass(stage, 1);
    }
    assert_true(passed_ms >= 3 * KIT_TIMEOUT_MS);
    assert_true(passed_ms < 4 * KIT_TIMEOUT_MS);
    stage->ways[0].is_lossy = false;
    stage_pass(stage, 100);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_true(shard->fresh + HELD_BACK_MAX >= 100 * KIT_ENVS);
}

TEST_ON_STAGE(a_restarted_shard_goes_on_where_the_actor_is)
{
    fake_shard *shard = &stage->shards[0];
    stage_act(stage, 100 * KIT_ENVS, 60);
    uint64_t before = shard->fresh;
    assert_true(before > 0);
    stage_kill_shard(stage, 0);
    stage_pass(stage, 20);
    assert_int_equal(shard->known_granted, 100 * KIT_ENVS);
    shard->granted += 50 * KIT_ENVS;
    stage_pass(stage, 60);
    assert_int_equal(stage_counters(stage).env_steps, 150 * KIT_ENVS);
    assert_true(shard->fresh + HELD_BACK_MAX >= 150 * KIT_ENVS);
    assert_true(shard->fresh <= 150 * KIT_ENVS); /* what the dead one had is not sent again */
    assert_int_equal(shard->gaps, 0);
}

TEST_ON_STAGE(a_slow_shard_is_waited_for_without_asking)
{
    fake_shard *shard = &stage->shards[0];
    shard->granted = PLENTY;
    stage->ways[0].is_slow = true;
    stage_pass(stage, 300);
    assert_int_equal(stage->ways[0].refused_sends, 1);
    assert_int_equal(shard->messages, 0);
    uint64_t steps = stage_counters(stage).env_steps;
    assert_true(steps > 0);
    stage_pass(stage, 100);
    assert_int_equal(stage_counters(stage).env_steps, steps); /* the outbox is full */
    assert_true(aq_actor_session_next_ns(stage->session) > stage->now_ns);
    stage->ways[0].is_slow = false;
    aq_shard_session_writable(aq_actor_session_shards(stage->session), 0);
    stage_pass(stage, 5);
    assert_true(shard->messages > 1);
    assert_true(stage_counters(stage).env_steps > steps);
    assert_int_equal(shard->gaps, 0);
}

TEST_ON_STAGE(a_connection_that_cannot_be_opened_is_tried_again)
{
    stage->ways[0].cannot_open = true;
    stage_pass(stage, 500);
    assert_in_range(stage->ways[0].opens, 4, 20); /* 10 ms, doubling up to 100 */
    stage->ways[0].cannot_open = false;
    stage_act(stage, 8 * KIT_ENVS, 120);
    assert_int_equal(stage_counters(stage).env_steps, 8 * KIT_ENVS);
}

TEST_ON_STAGE(credit_that_is_refused_is_asked_for_again_with_growing_pauses)
{
    fake_shard *shard = &stage->shards[0];
    shard->refuse = true;
    stage_pass(stage, 1000);
    assert_in_range(shard->calls, 8, 30);
    shard->refuse = false;
    stage_act(stage, 8 * KIT_ENVS, 120);
    assert_int_equal(stage_counters(stage).env_steps, 8 * KIT_ENVS);
}

TEST_ON_STAGE(credit_that_times_out_is_asked_for_again)
{
    fake_shard *shard = &stage->shards[0];
    stage_pass(stage, 5);
    stage->links[0].flow_wire.is_cut = true;
    fake_shard_answer(shard, true);
    stage_pass(stage, 300);
    uint32_t calls = stage->links[0].flow_wire.sent;
    stage->links[0].flow_wire.is_cut = false;
    stage_act(stage, 8 * KIT_ENVS, 120);
    assert_true(calls >= 3);
    assert_int_equal(stage_counters(stage).env_steps, 8 * KIT_ENVS);
}

/* Its disk is full: what came is there, and is not acknowledged. */
TEST_ON_STAGE(what_has_come_is_not_sent_again_however_late_the_acknowledgement)
{
    fake_shard *shard = &stage->shards[0];
    shard->granted = 100 * KIT_ENVS;
    shard->is_stuck = true;
    for (int i = 0; i < 10 * KIT_TIMEOUT_MS; i++) {
        fake_shard_answer(shard, i % 100 == 0);
        stage_pass(stage, 1);
    }
    assert_true(shard->fresh + HELD_BACK_MAX >= 100 * KIT_ENVS);
    assert_true(stage_counters(stage).unacknowledged > 0);
    assert_int_equal(stage_counters(stage).resent, 0);
    assert_int_equal(stage->ways[0].opens, 1);
    shard->is_stuck = false;
    fake_shard_answer(shard, true);
    stage_pass(stage, 2);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
}
