/*
 * An actor and the stores behind its shards: whose messages go where when a store dies, is
 * replaced, comes back elsewhere, or when another one is found at its address.
 */
#include "tests/support/test.h"
#include "tests/unit/actor/actor_stage.h"
#include "tests/unit/actor/core_kit.h"

enum { HELD_BACK_MAX = 2 * KIT_ENVS, HEARTBEAT_MS = 110 };

/* Shard `shard` stands at that position of the learner's list. */
static void list(actor_stage *stage, uint32_t position, int shard, uint32_t slot)
{
    stage->learner.shards[position] = (uint64_t)(STAGE_SHARD + shard);
    stage->learner.stores[position] = stage->shards[shard].store;
    stage->learner.slots[position] = slot;
    if (position >= stage->learner.shard_count) {
        stage->learner.shard_count = position + 1;
    }
}

/* Sends so much to shard 0 that it stores none of: all is unacknowledged. */
static void leave_unacknowledged(actor_stage *stage, uint64_t steps)
{
    stage->ways[0].is_lossy = true;
    stage->shards[0].granted += steps;
    stage_pass(stage, 50);
    assert_true(stage_counters(stage).unacknowledged > 0);
    stage_sever(stage, 0);
    stage->ways[0].is_lossy = false;
}

static uint32_t lanes(const actor_stage *stage)
{
    return aq_shard_spread_count(
        aq_actor_core_spread((aq_actor_core *)aq_actor_session_core(stage->session)));
}

/* ---- in memory only ------------------------------------------------------------------------- */

TEST_ON_STAGE(what_a_dead_store_did_not_acknowledge_goes_to_the_next_one)
{
    fake_shard *shard = &stage->shards[0];
    stage_act(stage, 100 * KIT_ENVS, 60);
    const uint64_t before = shard->fresh;
    leave_unacknowledged(stage, 50 * KIT_ENVS);
    stage_kill_shard(stage, 0);
    stage->ways[0].is_severed = false;
    stage_pass(stage, 150);
    assert_true(shard->fresh > before + 40 * KIT_ENVS);
    assert_true(shard->fresh <= 150 * KIT_ENVS); /* what the dead one had is not sent again */
    assert_int_equal(shard->gaps, 0);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_int_equal(stage_counters(stage).acknowledged_steps, shard->fresh);
    assert_int_equal(stage_counters(stage).shard_steps, shard->fresh - before);
    assert_int_equal(lanes(stage), 1);
}

TEST_ON_STAGE(the_next_one_is_found_before_the_learner_has_told)
{
    fake_shard *shard = &stage->shards[0];
    stage_act(stage, 100 * KIT_ENVS, 60);
    const uint64_t old_store = shard->store;
    stage_kill_shard(stage, 0);
    list(stage, 0, 0, 0);
    stage->learner.stores[0] = old_store; /* still */
    stage_pass(stage, 20);
    shard->granted += 50 * KIT_ENVS;
    stage_pass(stage, 30);
    assert_int_equal(stage_counters(stage).env_steps, 150 * KIT_ENVS);
    stage->learner.version = 1; /* the old list comes again, and does no harm */
    stage_pass(stage, 2 * HEARTBEAT_MS);
    assert_int_equal(lanes(stage), 1);
    list(stage, 0, 0, 0);
    stage_pass(stage, HEARTBEAT_MS);
    shard->granted += 50 * KIT_ENVS;
    stage_pass(stage, 30);
    assert_int_equal(stage_counters(stage).env_steps, 200 * KIT_ENVS);
    assert_int_equal(lanes(stage), 1);
    assert_int_equal(shard->gaps, 0);
    assert_int_equal(stage->ways[0].opens, 1);
}

TEST_ON_STAGE(many_deaths_take_no_more_lanes)
{
    fake_shard *shard = &stage->shards[0];
    for (int i = 0; i < 100; i++) {
        shard->granted = shard->known_granted + 10 * KIT_ENVS;
        stage_pass(stage, 30);
        stage_kill_shard(stage, 0);
        stage_pass(stage, HEARTBEAT_MS);
    }
    assert_int_equal(lanes(stage), 1);
    assert_true(stage_counters(stage).env_steps >= 900 * KIT_ENVS);
    assert_int_equal(shard->gaps, 0);
}

/* The first is listed no more, and what is listed at another address is not it, whatever the slot:
 * it may live. */
static void check_another(actor_stage *stage, uint32_t slot)
{
    fake_shard *next = &stage->shards[1];
    stage_act(stage, 100 * KIT_ENVS, 60);
    leave_unacknowledged(stage, 50 * KIT_ENVS);
    list(stage, 0, 1, slot);
    next->granted = 30 * KIT_ENVS;
    stage_pass(stage, HEARTBEAT_MS + 50);
    assert_int_equal(lanes(stage), 2);
    assert_true(next->fresh <= 30 * KIT_ENVS + 8);
    assert_true(stage_counters(stage).unacknowledged > 0); /* kept for the first */
    stage->ways[0].is_severed = false;
    stage_pass(stage, 50);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_int_equal(stage->shards[0].gaps, 0);
}

TEST_ON_STAGE(a_store_elsewhere_is_another_one)
{
    check_another(stage, 1);
}

TEST_ON_STAGE(a_store_elsewhere_in_the_same_slot_is_another_one)
{
    check_another(stage, 0);
}

/* ---- durable -------------------------------------------------------------------------------- */

TEST_ON_STAGE(a_durable_store_goes_on_after_a_restart)
{
    fake_shard *shard = &stage->shards[0];
    shard->durable = true;
    stage_act(stage, 100 * KIT_ENVS, 60);
    const uint64_t before = shard->fresh;
    leave_unacknowledged(stage, 50 * KIT_ENVS);
    stage_kill_shard(stage, 0);
    stage->ways[0].is_severed = false;
    stage_pass(stage, 150);
    assert_true(shard->fresh > before + 40 * KIT_ENVS);
    assert_int_equal(shard->gaps + shard->duplicates, 0);
    assert_int_equal(stage_counters(stage).shard_steps, shard->fresh); /* of both lives */
}

TEST_ON_STAGE(what_a_durable_store_may_have_goes_to_no_other)
{
    fake_shard *next = &stage->shards[1];
    stage->shards[0].durable = next->durable = true;
    stage_act(stage, 100 * KIT_ENVS, 60);
    leave_unacknowledged(stage, 50 * KIT_ENVS);
    list(stage, 0, 1, 0); /* in its slot */
    stage_pass(stage, HEARTBEAT_MS + 50);
    assert_int_equal(next->fresh, 0);
    assert_int_equal(next->known_granted, 0);
    next->granted = 20 * KIT_ENVS;
    stage_pass(stage, 50);
    assert_int_equal(stage_counters(stage).env_steps, 170 * KIT_ENVS);
    /* It comes back, in another slot and at its old address. */
    stage->ways[0].is_severed = false;
    list(stage, 1, 0, 5);
    stage_pass(stage, HEARTBEAT_MS + 50);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_int_equal(lanes(stage), 2);
    assert_int_equal(stage->shards[0].gaps + next->gaps, 0);
    assert_true(stage->shards[0].fresh + next->fresh + HELD_BACK_MAX >= 170 * KIT_ENVS);
    assert_true(stage->shards[0].fresh + next->fresh <= 170 * KIT_ENVS);
}

TEST_ON_STAGE(a_durable_store_is_followed_to_another_address)
{
    fake_shard *shard = &stage->shards[0];
    fake_shard *moved = &stage->shards[1];
    shard->durable = true;
    stage_act(stage, 100 * KIT_ENVS, 60);
    const uint64_t before = shard->fresh;
    leave_unacknowledged(stage, 50 * KIT_ENVS);
    moved->durable = true; /* the same folder, opened there */
    moved->store = shard->store;
    moved->mark = shard->mark;
    moved->actor_incarnation = shard->actor_incarnation;
    list(stage, 0, 1, 0);
    stage_pass(stage, HEARTBEAT_MS + 50);
    assert_int_equal(lanes(stage), 1);
    assert_int_equal(moved->known_granted, 150 * KIT_ENVS);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_true(before + moved->fresh + HELD_BACK_MAX >= 150 * KIT_ENVS);
    assert_int_equal(moved->gaps + moved->duplicates, 0);
}

/* Two shards were restarted, and each got the other's port. */
TEST_ON_STAGE(stores_that_swapped_their_addresses_are_told_apart)
{
    list(stage, 0, 0, 0);
    list(stage, 1, 1, 1);
    for (int i = 0; i < 2; i++) {
        stage->shards[i].durable = true;
        stage->shards[i].granted = (uint64_t)(1 + i) * 60 * KIT_ENVS;
    }
    stage_pass(stage, 100);
    stage_break(stage, 0);
    stage_break(stage, 1);
    for (int i = 0; i < 2; i++) {
        fake_shard_restart(&stage->shards[i]);
    }
    fake_shard *first = &stage->shards[0], *second = &stage->shards[1];
    const uint64_t store = first->store, mark = first->mark, actor = first->actor_incarnation;
    first->store = second->store;
    first->mark = second->mark;
    first->actor_incarnation = second->actor_incarnation;
    second->store = store;
    second->mark = mark;
    second->actor_incarnation = actor;
    const uint64_t steps = stage_counters(stage).env_steps;
    stage_pass(stage, 40); /* they are found at the old addresses, and the others turn away */
    assert_int_equal(stage_counters(stage).env_steps, steps);
    assert_true(first->foreign > 0 && second->foreign > 0);
    list(stage, 0, 1, 0);
    list(stage, 1, 0, 1);
    stage_pass(stage, HEARTBEAT_MS + 50);
    assert_int_equal(first->known_granted, 120 * KIT_ENVS);
    assert_int_equal(second->known_granted, 60 * KIT_ENVS);
    first->granted += 100 * KIT_ENVS;
    second->granted += 100 * KIT_ENVS;
    stage_pass(stage, 100);
    assert_int_equal(stage_counters(stage).env_steps, 380 * KIT_ENVS);
    assert_int_equal(first->gaps + second->gaps, 0);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_int_equal(lanes(stage), 2);
}

TEST_ON_STAGE(a_stranger_at_a_durable_stores_address_gets_nothing)
{
    fake_shard *shard = &stage->shards[0];
    shard->durable = true;
    stage_act(stage, 100 * KIT_ENVS, 60);
    leave_unacknowledged(stage, 50 * KIT_ENVS);
    const uint64_t before = shard->fresh;
    shard->store += 1;
    shard->mark = 0;
    fake_shard_answer(shard, true);
    stage->ways[0].is_severed = false;
    stage_pass(stage, 1000);
    assert_int_equal(shard->fresh, before);
    assert_int_equal(shard->mark, 0);
    assert_true(shard->foreign < 40); /* it is asked with growing pauses */
    assert_true(aq_actor_session_next_ns(stage->session) > stage->now_ns);
}

/* Whoever started it starts it again. */
TEST_ON_STAGE(an_actor_that_has_met_too_many_stores_ends)
{
    fake_shard *shard = &stage->shards[0];
    shard->durable = true;
    for (uint32_t stores = 1; stores <= AQ_SPREAD_SHARDS_MAX; stores++) {
        shard->granted = 10 * KIT_ENVS;
        stage_pass(stage, HEARTBEAT_MS + 50);
        assert_int_equal(lanes(stage), stores);
        stage_break(stage, 0);
        fake_shard_restart(shard); /* on another folder */
        shard->store++;
        shard->mark = shard->granted = shard->actor_incarnation = 0;
        list(stage, 0, 0, 0);
    }
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_TAKING_PART);
    stage_pass(stage, HEARTBEAT_MS + 50);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_DONE);
    assert_int_equal(aq_participant_exit_code(aq_actor_session_participant(stage->session)),
                     EXIT_FAILURE);
}
