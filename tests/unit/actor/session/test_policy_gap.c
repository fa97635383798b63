/*
 * A whole actor that misses versions: the newest is fetched at once, what was heard meanwhile
 * follows it, and neither a broadcast full of holes nor a slow one becomes a storm of calls.
 */
#include "common/wire/wire_delta.h"
#include "tests/support/test.h"
#include "tests/unit/actor/actor_stage.h"
#include "tests/unit/actor/core_kit.h"

enum { ENOUGH = 1000000 };

/* An actor that acts with version 3. */
static actor_stage *open_acting(void)
{
    actor_stage *stage = stage_open();
    stage_act(stage, ENOUGH, 20);
    stage_hear_policy(stage, 3);
    stage_pass(stage, 200);
    return stage;
}

#define TEST_OF_ACTING(name) TEST_OF(name, actor_stage *stage, open_acting(), stage_close)

/* The version after `from` is heard as a change of it; and it is what can be fetched. */
static void hear_change(actor_stage *stage, uint64_t from)
{
    aq_snapshot *base = kit_policy(KIT_RUN, from, 1);
    aq_snapshot *next = kit_policy(KIT_RUN, from + 1, 1);
    aq_buffer *frame = buffer_up_to(1 << 20);
    fake_learner_set_policy(&stage->learner, from + 1, 1);
    assert_int_equal(aq_wire_delta_pack(base, next, frame), 0);
    stage_hear(stage, frame);
    aq_snapshot_unref(base);
    aq_snapshot_unref(next);
}

TEST_OF_ACTING(changes_one_after_another_need_no_fetch)
{
    for (uint64_t from = 3; from < 50; from++) {
        hear_change(stage, from);
        stage_pass(stage, 20);
        assert_int_equal(stage_counters(stage).policy_version, from + 1);
    }
    assert_int_equal(stage->learner.fetches, 0);
    assert_int_equal(stage->learner.stats.policy_gaps, 0);
}

TEST_OF_ACTING(a_missed_version_is_fetched_at_once)
{
    hear_change(stage, 4);
    stage_pass(stage, 3);
    assert_int_equal(stage->learner.fetches, 1);
    assert_int_equal(stage_counters(stage).policy_version, 5);
    stage_pass(stage, 300);
    assert_int_equal(stage->learner.stats.policy_gaps, 1);
    assert_int_equal(stage->learner.stats.rejected_policies, 0); /* nobody did anything wrong */
    hear_change(stage, 5);
    stage_pass(stage, 3);
    assert_int_equal(stage->learner.fetches, 1);
    assert_int_equal(stage_counters(stage).policy_version, 6);
}

TEST_OF_ACTING(every_second_version_lost_is_a_fetch_a_second)
{
    for (uint64_t from = 4; from < 204; from += 2) {
        hear_change(stage, from);
        stage_pass(stage, 50);
    }
    assert_in_range(stage->learner.fetches, 3, 6); /* in 5 s */
    assert_true(stage_counters(stage).policy_version > 150);
    assert_int_equal(stage->learner.stats.rejected_policies, 0);
}

/* A network that needs longer for each than for the one before. */
TEST_OF_ACTING(versions_that_come_late_are_waited_for_and_not_fetched)
{
    static const int late_ms[] = {700, 1200, 2000, 3500, 6000};
    for (uint64_t i = 0; i < sizeof(late_ms) / sizeof(late_ms[0]); i++) {
        fake_learner_set_policy(&stage->learner, 4 + i, 1);
        stage_pass(stage, late_ms[i]);
        stage_hear(stage, &stage->learner.policy_frame);
        stage_pass(stage, 3);
        assert_int_equal(stage_counters(stage).policy_version, 4 + i);
    }
    assert_int_equal(stage->learner.fetches, 0);
    fake_learner_set_policy(&stage->learner, 9, 1); /* this one does not come at all */
    stage_pass(stage, 15000);
    assert_int_equal(stage->learner.fetches, 1);
    assert_int_equal(stage_counters(stage).policy_version, 9);
}

TEST_OF_ACTING(a_broadcast_that_is_never_heard_does_not_make_fetches_rare)
{
    for (uint64_t i = 0; i < 6; i++) {
        fake_learner_set_policy(&stage->learner, 4 + i, 1);
        stage_pass(stage, 1600); /* a heartbeat, a second, and a call */
        assert_int_equal(stage_counters(stage).policy_version, 4 + i);
        assert_int_equal(stage->learner.fetches, 1 + i);
    }
}

TEST_ON_STAGE(an_outage_does_not_make_who_awaits_a_version_wait_for_minutes)
{
    stage->learner.settings.versions_max = 1000;
    stage_act(stage, ENOUGH, 20);
    stage_hear_policy(stage, 3);
    stage_pass(stage, 200);
    stage->learner.version = 4; /* and none to be had */
    aq_buffer_clear(&stage->learner.policy_frame);
    stage_pass(stage, 60000);
    stage_hear_policy(stage, 4);
    stage_pass(stage, 3);
    assert_int_equal(stage_counters(stage).policy_version, 4);
    fake_learner_set_policy(&stage->learner, 5, 1);
    stage_pass(stage, 35000);
    assert_int_equal(stage_counters(stage).policy_version, 5);
}
