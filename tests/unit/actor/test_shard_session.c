/*
 * An actor and its shard: which one serves it, what happens when the connection breaks, the shard
 * dies, moves, is slow or refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "common/sys/log.h"
#include "tests/unit/actor/actor_stage.h"
#include "tests/unit/actor/core_kit.h"

#define PLENTY UINT64_C(1000000000)

static int set_up(void **state)
{
    aq_log_set_level(AQ_LOG_OFF);
    *state = stage_open();
    return 0;
}

static int tear_down(void **state)
{
    stage_close(*state);
    return 0;
}

static uint64_t held_back_max(void)
{
    return 2 * KIT_ENVS; /* n - 1 each: no item yet */
}

/* ---- connections that break ----------------------------------------------------------------- */

static void test_a_broken_connection_loses_nothing_and_doubles_nothing(void **state)
{
    actor_stage *stage = *state;
    fake_shard *shard = &stage->shards[0];
    shard->granted = 200 * KIT_ENVS;
    stage->is_lossy = true;
    stage_pass(stage, 30); /* sent, and lost on the way */
    assert_true(stage_counters(stage).unacknowledged > 0);
    assert_int_equal(shard->fresh, 0);
    stage->is_lossy = false;
    stage_break(stage);
    stage_pass(stage, 60);
    assert_true(shard->fresh + held_back_max() >= 200 * KIT_ENVS);
    assert_true(shard->fresh <= 200 * KIT_ENVS);
    assert_int_equal(shard->gaps, 0);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_true(stage_counters(stage).resent > 0);
}

static void test_what_was_lost_without_a_break_goes_again_in_time(void **state)
{
    actor_stage *stage = *state;
    fake_shard *shard = &stage->shards[0];
    shard->granted = 100 * KIT_ENVS;
    stage->is_lossy = true;
    stage_pass(stage, 30);
    stage->is_lossy = false;
    for (int i = 0; i < KIT_TIMEOUT_MS + 600 && stage_counters(stage).unacknowledged > 0; i++) {
        fake_shard_answer(shard, i % 100 == 0); /* a held call is answered after its time */
        stage_pass(stage, 1);
    }
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_true(shard->fresh + held_back_max() >= 100 * KIT_ENVS);
    assert_int_equal(shard->gaps, 0);
}

/* As when the shard's host went away and came back: calls find it again, the connection is dead. */
static void test_a_connection_that_brings_nothing_is_made_anew(void **state)
{
    actor_stage *stage = *state;
    fake_shard *shard = &stage->shards[0];
    int passed_ms = 0;
    shard->granted = 100 * KIT_ENVS;
    stage->is_lossy = true;
    for (; stage->opens < 2 && passed_ms < 10 * KIT_TIMEOUT_MS; passed_ms++) {
        fake_shard_answer(shard, passed_ms % 100 == 0);
        stage_pass(stage, 1);
    }
    assert_true(passed_ms >= 3 * KIT_TIMEOUT_MS);
    assert_true(passed_ms < 4 * KIT_TIMEOUT_MS);
    stage->is_lossy = false;
    stage_pass(stage, 100);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_true(shard->fresh + held_back_max() >= 100 * KIT_ENVS);
}

static void test_a_restarted_shard_goes_on_where_the_actor_is(void **state)
{
    actor_stage *stage = *state;
    fake_shard *shard = &stage->shards[0];
    shard->granted = 100 * KIT_ENVS;
    stage_pass(stage, 60);
    uint64_t before = shard->fresh;
    assert_true(before > 0);
    stage_kill_shard(stage, 0);
    stage_pass(stage, 20);
    assert_int_equal(shard->known_granted, 100 * KIT_ENVS);
    shard->granted += 50 * KIT_ENVS;
    stage_pass(stage, 60);
    assert_int_equal(stage_counters(stage).env_steps, 150 * KIT_ENVS);
    assert_true(shard->fresh + held_back_max() >= 150 * KIT_ENVS);
    assert_true(shard->fresh <= 150 * KIT_ENVS); /* what the dead one had is not sent again */
    assert_int_equal(shard->gaps, 0);
}

static void test_a_slow_shard_is_waited_for_without_asking(void **state)
{
    actor_stage *stage = *state;
    fake_shard *shard = &stage->shards[0];
    shard->granted = PLENTY;
    stage->is_slow = true;
    stage_pass(stage, 300);
    assert_int_equal(stage->refused_sends, 1);
    assert_int_equal(shard->messages, 0);
    uint64_t steps = stage_counters(stage).env_steps;
    assert_true(steps > 0);
    stage_pass(stage, 100);
    assert_int_equal(stage_counters(stage).env_steps, steps); /* the outbox is full */
    assert_true(aq_actor_session_next_ns(stage->session) > stage->now_ns);
    stage->is_slow = false;
    aq_actor_session_writable(stage->session);
    stage_pass(stage, 5);
    assert_true(shard->messages > 1);
    assert_true(stage_counters(stage).env_steps > steps);
    assert_int_equal(shard->gaps, 0);
}

static void test_a_connection_that_cannot_be_opened_is_tried_again(void **state)
{
    actor_stage *stage = *state;
    stage->cannot_open = true;
    stage_pass(stage, 500);
    assert_true(stage->opens >= 4);
    assert_true(stage->opens <= 20); /* 10 ms, doubling up to 100 */
    stage->cannot_open = false;
    stage->shards[0].granted = 8 * KIT_ENVS;
    stage_pass(stage, 120);
    assert_int_equal(stage_counters(stage).env_steps, 8 * KIT_ENVS);
}

static void test_credit_that_is_refused_is_asked_for_again_with_growing_pauses(void **state)
{
    actor_stage *stage = *state;
    fake_shard *shard = &stage->shards[0];
    shard->refuse = true;
    stage_pass(stage, 1000);
    assert_true(shard->calls >= 8);
    assert_true(shard->calls <= 30);
    shard->refuse = false;
    shard->granted = 8 * KIT_ENVS;
    stage_pass(stage, 120);
    assert_int_equal(stage_counters(stage).env_steps, 8 * KIT_ENVS);
}

static void test_credit_that_times_out_is_asked_for_again(void **state)
{
    actor_stage *stage = *state;
    fake_shard *shard = &stage->shards[0];
    stage_pass(stage, 5);
    stage->flow_wire.is_cut = true;
    fake_shard_answer(shard, true);
    stage_pass(stage, 300);
    uint32_t calls = stage->flow_wire.sent;
    stage->flow_wire.is_cut = false;
    shard->granted = 8 * KIT_ENVS;
    stage_pass(stage, 120);
    assert_true(calls >= 3);
    assert_int_equal(stage_counters(stage).env_steps, 8 * KIT_ENVS);
}

/* ---- which shard ---------------------------------------------------------------------------- */

static void test_the_slot_decides_which_shard(void **state)
{
    actor_stage *stage = *state;
    stage->learner.slot = 3;
    stage->learner.shard_count = 2;
    stage->shards[0].granted = stage->shards[1].granted = 8 * KIT_ENVS;
    stage_pass(stage, 50);
    assert_int_equal(stage->open_shard, 1);
    assert_int_equal(stage->shards[0].calls, 0);
    assert_true(stage->shards[1].messages > 0);
}

static void test_without_a_shard_it_waits(void **state)
{
    actor_stage *stage = *state;
    stage->learner.shard_count = 0;
    stage->shards[0].granted = 8 * KIT_ENVS;
    stage_pass(stage, 300);
    assert_int_equal(stage->opens, 0);
    assert_int_equal(stage_counters(stage).env_steps, 0);
    stage->learner.shard_count = 1;
    stage_pass(stage, 150);
    assert_int_equal(stage_counters(stage).env_steps, 8 * KIT_ENVS);
}

static void test_a_shard_that_joins_takes_over_once_the_old_one_has_acknowledged(void **state)
{
    actor_stage *stage = *state;
    fake_shard *old = &stage->shards[0];
    stage->learner.slot = 1;
    old->granted = PLENTY;
    stage_pass(stage, 30);
    stage->is_lossy = true; /* nothing is acknowledged for a while */
    stage_pass(stage, 10);
    stage->learner.shard_count = 2;
    stage_pass(stage, 200);
    assert_int_equal(stage->open_shard, 0);
    uint64_t steps = stage_counters(stage).env_steps;
    stage_pass(stage, 10);
    assert_int_equal(stage_counters(stage).env_steps, steps); /* it does not go on meanwhile */
    stage->is_lossy = false;
    stage_break(stage);
    stage_pass(stage, 30);
    assert_int_equal(stage->open_shard, 1);
    assert_true(stage_counters(stage).env_steps > steps);
    assert_int_equal(old->gaps, 0);
    /* No transition went to both. */
    stage->shards[1].granted = 0;
    aq_actor_session_stop(stage->session, "SIGTERM");
    stage_pass(stage, 50);
    uint64_t stored = old->fresh + stage->shards[1].fresh;
    steps = stage_counters(stage).env_steps;
    assert_true(stored <= steps);
    assert_true(stored + held_back_max() >= steps);
}

static void test_a_shard_that_does_not_acknowledge_is_left_in_the_end(void **state)
{
    actor_stage *stage = *state;
    stage->learner.slot = 1;
    stage->shards[0].granted = 100 * KIT_ENVS;
    stage->is_lossy = true;
    stage_pass(stage, 30);
    stage->learner.shard_count = 2;
    stage_pass(stage, 6000);
    assert_int_equal(stage->open_shard, 1);
}

static void test_a_shard_that_is_gone_is_left_at_once_and_nothing_is_lost(void **state)
{
    actor_stage *stage = *state;
    fake_shard *next = &stage->shards[1];
    stage->shards[0].granted = 100 * KIT_ENVS;
    stage->is_lossy = true;
    stage_pass(stage, 30);
    stage->is_lossy = false;
    stage->is_severed = true;
    stage_break(stage);
    stage->learner.shards[0] = STAGE_SHARD + 1; /* in the place of the other */
    stage_pass(stage, 110);
    assert_int_equal(stage->open_shard, 1);
    stage->is_severed = false;
    stage_pass(stage, 50);
    assert_true(next->fresh + held_back_max() >= 100 * KIT_ENVS);
    assert_int_equal(next->gaps, 0);
    assert_int_equal(next->known_granted, 100 * KIT_ENVS);
}

static void test_a_shard_that_is_only_not_listed_keeps_what_it_was_sent(void **state)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 100 * KIT_ENVS;
    stage_pass(stage, 10); /* sent and stored, and the last of it not acknowledged yet */
    stage->learner.shards[0] = STAGE_SHARD + 1;
    stage_pass(stage, 150);
    assert_int_equal(stage->open_shard, 1);
    uint64_t stored = stage->shards[0].fresh + stage->shards[1].fresh;
    assert_true(stored <= 100 * KIT_ENVS); /* nothing went to both */
    assert_true(stored + held_back_max() >= 100 * KIT_ENVS);
}

static void test_a_new_member_at_the_same_place_is_the_same_shard(void **state)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 50 * KIT_ENVS;
    stage_pass(stage, 60);
    stage->learner.renumber_shards = 1000;
    stage_pass(stage, 300);
    assert_int_equal(stage->opens, 1);
    assert_int_equal(stage->closes, 0);
}

static void test_an_empty_list_of_shards_changes_nothing(void **state)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 100 * KIT_ENVS;
    stage_pass(stage, 60);
    stage->learner.shard_count = 0;
    stage_pass(stage, 300);
    assert_int_equal(stage->open_shard, 0);
    stage->shards[0].granted = 120 * KIT_ENVS;
    stage_pass(stage, 60);
    assert_int_equal(stage_counters(stage).env_steps, 120 * KIT_ENVS);
}

#define FACT(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FACT(test_a_broken_connection_loses_nothing_and_doubles_nothing),
        FACT(test_what_was_lost_without_a_break_goes_again_in_time),
        FACT(test_a_connection_that_brings_nothing_is_made_anew),
        FACT(test_a_restarted_shard_goes_on_where_the_actor_is),
        FACT(test_a_slow_shard_is_waited_for_without_asking),
        FACT(test_a_connection_that_cannot_be_opened_is_tried_again),
        FACT(test_credit_that_is_refused_is_asked_for_again_with_growing_pauses),
        FACT(test_credit_that_times_out_is_asked_for_again),
        FACT(test_the_slot_decides_which_shard),
        FACT(test_without_a_shard_it_waits),
        FACT(test_a_shard_that_joins_takes_over_once_the_old_one_has_acknowledged),
        FACT(test_a_shard_that_does_not_acknowledge_is_left_in_the_end),
        FACT(test_a_shard_that_is_gone_is_left_at_once_and_nothing_is_lost),
        FACT(test_a_shard_that_is_only_not_listed_keeps_what_it_was_sent),
        FACT(test_a_new_member_at_the_same_place_is_the_same_shard),
        FACT(test_an_empty_list_of_shards_changes_nothing),
    };
    return cmocka_run_group_tests_name("shard_session", tests, NULL, NULL);
}
