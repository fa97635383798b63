/*
 * An actor and several shards: how its experience spreads, what happens when one of them leaves,
 * comes back, moves, or is not listed, and how it ends when one is away.
 */
#include "tests/support/test.h"
#include "tests/unit/actor/actor_stage.h"
#include "tests/unit/actor/core_kit.h"

#define PLENTY UINT64_C(1000000000)

enum { HELD_BACK_MAX = 2 * KIT_ENVS, HEARTBEAT_MS = 110 };

/* Two shards. */
static actor_stage *open_two(void)
{
    actor_stage *stage = stage_open();
    stage->learner.shard_count = 2;
    return stage;
}

#define TEST_OF_TWO(name) TEST_OF(name, actor_stage *stage, open_two(), stage_close)

static void grant_both(actor_stage *stage, uint64_t steps)
{
    stage->shards[0].granted = steps;
    stage->shards[1].granted = steps;
}

static uint64_t stored(const actor_stage *stage)
{
    return stage->shards[0].fresh + stage->shards[1].fresh + stage->shards[2].fresh;
}

static void assert_nothing_odd(const fake_shard *shard)
{
    assert_int_equal(shard->gaps, 0);
    assert_int_equal(shard->foreign, 0);
}

/* ---- spreading ------------------------------------------------------------------------------ */

TEST_OF_TWO(two_shards_get_equal_shares)
{
    grant_both(stage, 500 * KIT_ENVS);
    stage_pass(stage, 200);
    assert_int_equal(stage_counters(stage).env_steps, 1000 * KIT_ENVS);
    assert_true(stored(stage) + HELD_BACK_MAX >= 1000 * KIT_ENVS);
    assert_true(stage->shards[0].fresh + 8 + HELD_BACK_MAX >= 500 * KIT_ENVS);
    assert_true(stage->shards[1].fresh + 8 + HELD_BACK_MAX >= 500 * KIT_ENVS);
    assert_nothing_odd(&stage->shards[0]);
    assert_nothing_odd(&stage->shards[1]);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_int_equal(stage_counters(stage).acknowledged_steps, stored(stage));
    assert_int_equal(stage_counters(stage).shard_steps, stored(stage));
}

TEST_OF_TWO(shares_are_equal_also_while_credit_lasts)
{
    grant_both(stage, PLENTY);
    stage_pass(stage, 100);
    const uint64_t first = stage->shards[0].fresh, second = stage->shards[1].fresh;
    assert_true(first > 500 * KIT_ENVS);
    assert_true(first < second + second / 20 && second < first + first / 20);
}

TEST_OF_TWO(credit_of_either_is_enough_to_go_on)
{
    stage->shards[1].granted = 100 * KIT_ENVS;
    stage_pass(stage, 100);
    assert_int_equal(stage_counters(stage).env_steps, 100 * KIT_ENVS);
    assert_true(stage->shards[1].fresh + HELD_BACK_MAX >= 100 * KIT_ENVS);
    assert_int_equal(stage->shards[0].fresh, 0);
}

TEST_OF_TWO(credit_that_is_enough_for_a_step_only_together_is_used)
{
    grant_both(stage, KIT_ENVS / 2);
    stage_pass(stage, 50);
    assert_int_equal(stage_counters(stage).env_steps, KIT_ENVS);
}

TEST_OF_TWO(the_statistics_are_sums)
{
    grant_both(stage, 100 * KIT_ENVS);
    stage->ways[0].is_lossy = stage->ways[1].is_lossy = true;
    stage_pass(stage, 60);
    const uint64_t out = stage_counters(stage).unacknowledged;
    stage->ways[0].is_lossy = stage->ways[1].is_lossy = false;
    stage_break(stage, 0);
    stage_break(stage, 1);
    stage_pass(stage, 60);
    assert_true(stage_counters(stage).resent >= out);
    assert_int_equal(stage_counters(stage).acknowledged_steps, stored(stage));
    stage_pass(stage, HEARTBEAT_MS);
    assert_int_equal(stage->learner.stats.acknowledged_steps, stored(stage));
    assert_int_equal(stage->learner.stats.shard_steps, stored(stage));
}

/* ---- one is away ---------------------------------------------------------------------------- */

TEST_OF_TWO(when_one_leaves_the_other_gets_everything)
{
    grant_both(stage, PLENTY);
    stage_pass(stage, 50);
    stage_sever(stage, 0);
    const uint64_t steps = stage_counters(stage).env_steps, first = stage->shards[0].fresh;
    stage_pass(stage, 100);
    assert_true(stage_counters(stage).env_steps > steps + 1000);
    assert_int_equal(stage->shards[0].fresh, first);
    assert_nothing_odd(&stage->shards[1]);
}

TEST_OF_TWO(one_that_comes_back_gets_what_it_missed_and_its_share_again)
{
    stage->shards[0].durable = stage->shards[1].durable = true;
    grant_both(stage, PLENTY);
    stage_pass(stage, 50);
    stage->ways[0].is_lossy = true; /* some of it is under way when it goes */
    stage_pass(stage, 5);
    stage_sever(stage, 0);
    stage_pass(stage, 2000);
    const uint64_t first = stage->shards[0].fresh;
    stage_kill_shard(stage, 0);
    stage->ways[0] = (stage_way){.opens = 1};
    stage_pass(stage, 100);
    assert_true(stage->shards[0].fresh > first);
    grant_both(stage, 0);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, 100);
    assert_true(stored(stage) <= stage_counters(stage).env_steps);
    assert_true(stored(stage) + HELD_BACK_MAX >= stage_counters(stage).env_steps);
    assert_nothing_odd(&stage->shards[0]);
    assert_nothing_odd(&stage->shards[1]);
}

TEST_OF_TWO(one_that_is_away_holds_a_bounded_amount)
{
    grant_both(stage, PLENTY);
    stage->ways[0].is_slow = true;
    stage_pass(stage, 1000);
    const aq_shard_spread *spread =
        aq_actor_core_spread((aq_actor_core *)aq_actor_session_core(stage->session));
    assert_true(aq_shard_spread_count_of(spread, 0).bytes <= AQ_OUTBOX_BYTES_MAX + (1 << 20));
    const uint64_t steps = stage_counters(stage).env_steps;
    stage_pass(stage, 20);
    assert_true(stage_counters(stage).env_steps > steps); /* the other has room */
    assert_int_equal(stage->ways[0].refused_sends, 1);
}

TEST_OF_TWO(all_being_away_it_waits_and_then_goes_on)
{
    grant_both(stage, PLENTY);
    stage_pass(stage, 50);
    for (int i = 0; i < 2; i++) {
        stage_sever(stage, i);
    }
    stage_pass(stage, 10);
    const uint64_t steps = stage_counters(stage).env_steps;
    stage_pass(stage, 500);
    assert_int_equal(stage_counters(stage).env_steps, steps);
    stage->ways[1].is_severed = false;
    stage_pass(stage, 50);
    assert_true(stage_counters(stage).env_steps > steps);
}

/* What is in open chunks was to go to the one that left; the other can't take all at once. */
TEST_OF_TWO(what_is_open_when_one_leaves_goes_to_the_other_as_it_grants)
{
    stage_act(stage, 5 * KIT_ENVS, 2); /* met */
    stage_sever(stage, 0);
    stage_pass(stage, 100);
    const uint64_t first = stage->shards[0].fresh;
    for (uint64_t granted = 1; granted <= 20 * KIT_ENVS; granted++) {
        stage->shards[1].granted = granted;
        stage_pass(stage, 30);
        assert_true(stage->shards[1].fresh < granted + 8); /* less than a chunk beyond */
    }
    assert_true(stage_counters(stage).env_steps > 20 * KIT_ENVS - HELD_BACK_MAX);
    assert_true(first + stage->shards[1].fresh <= stage_counters(stage).env_steps);
}

/* ---- the list ------------------------------------------------------------------------------- */

TEST_OF_TWO(without_a_shard_it_waits)
{
    stage->learner.shard_count = 0;
    stage_act(stage, 8 * KIT_ENVS, 300);
    assert_int_equal(stage->ways[0].opens, 0);
    assert_int_equal(stage_counters(stage).env_steps, 0);
    stage->learner.shard_count = 1;
    stage_pass(stage, 150);
    assert_int_equal(stage_counters(stage).env_steps, 8 * KIT_ENVS);
}

TEST_OF_TWO(a_shard_that_joins_gets_its_share)
{
    stage->learner.shard_count = 1;
    grant_both(stage, PLENTY);
    stage_pass(stage, 100);
    assert_int_equal(stage->shards[1].calls, 0);
    stage->learner.shard_count = 2;
    stage_pass(stage, HEARTBEAT_MS + 50);
    assert_true(stage->shards[1].fresh > 0);
    assert_nothing_odd(&stage->shards[1]);
}

TEST_OF_TWO(one_that_is_not_listed_gets_nothing_new_and_is_left_once_it_has_acknowledged)
{
    grant_both(stage, PLENTY);
    stage_pass(stage, 100);
    stage->ways[1].is_lossy = true;
    stage_pass(stage, 5);
    stage->learner.shard_count = 1;
    stage_pass(stage, HEARTBEAT_MS);
    assert_int_equal(stage_links_to(stage, 1), 1); /* it owes acknowledgements */
    stage->ways[1].is_lossy = false;
    stage_break(stage, 1);
    stage_pass(stage, 50);
    assert_int_equal(stage_links_to(stage, 1), 0);
    const uint64_t second = stage->shards[1].fresh;
    stage_pass(stage, 100);
    assert_int_equal(stage->shards[1].fresh, second);
    stage->learner.shard_count = 2;
    stage_pass(stage, HEARTBEAT_MS + 50);
    assert_true(stage->shards[1].fresh > second);
    assert_nothing_odd(&stage->shards[0]);
    assert_nothing_odd(&stage->shards[1]);
}

TEST_OF_TWO(an_empty_list_changes_nothing)
{
    grant_both(stage, 100 * KIT_ENVS);
    stage_pass(stage, 60);
    stage->learner.shard_count = 0;
    stage_pass(stage, 300);
    assert_int_equal(stage_links_to(stage, 0) + stage_links_to(stage, 1), 2);
    grant_both(stage, 120 * KIT_ENVS);
    stage_pass(stage, 60);
    assert_int_equal(stage_counters(stage).env_steps, 240 * KIT_ENVS);
}

TEST_OF_TWO(a_new_member_of_the_same_store_at_the_same_place_is_the_same_shard)
{
    stage->learner.stores[0] = stage->shards[0].store;
    stage->learner.stores[1] = stage->shards[1].store;
    grant_both(stage, 50 * KIT_ENVS);
    stage_pass(stage, 60);
    stage->learner.renumber_shards = 1000;
    stage_pass(stage, 300);
    assert_int_equal(stage->ways[0].opens, 1);
    assert_int_equal(stage->ways[0].closes, 0);
}

TEST_OF_TWO(without_memory_for_a_lane_it_is_tried_again)
{
    stage->learner.shard_count = 1;
    grant_both(stage, PLENTY);
    stage_pass(stage, 60);
    aq_shard_session *session = NULL;
    const aq_shard_transport none = {.user = NULL};
    assert_int_equal(aq_shard_session_create(&none, 1, &session), 0);
    aq_run_settings settings = kit_settings();
    aq_actor_core *core = NULL;
    const aq_actor_core_config config = {.run_id = KIT_RUN, .member = 1, .incarnation = 2};
    assert_int_equal(aq_actor_core_create(&settings, &config, &core, NULL), 0);
    aq_member_view *view = aq_alloc(1, sizeof(*view));
    assert_non_null(view);
    *view = *aq_participant_look(aq_actor_session_participant(stage->session));
    for (uint64_t nth = 1; nth <= 4; nth++) { /* the lane, its outbox and that one's arrays */
        aq_memory_fail_at(nth, 0);
        aq_shard_session_start(session, view, 2, core);
        aq_memory_fail_at(0, 0);
        assert_int_equal(aq_shard_spread_count(aq_actor_core_spread(core)), 0);
        assert_true(aq_shard_session_next_ns(session) <= 100 * AQ_NS_PER_MS);
    }
    view->shard_count = 0;
    aq_shard_session_start(session, view, 2, core);
    assert_true(aq_shard_session_next_ns(session) == INT64_MAX);
    aq_shard_session_destroy(session);
    aq_actor_core_destroy(core);
    aq_free(view);
}

/* ---- the end -------------------------------------------------------------------------------- */

TEST_OF_TWO(stopping_drains_to_all)
{
    grant_both(stage, PLENTY);
    stage_pass(stage, 50);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, 20);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_DONE);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_true(stored(stage) + HELD_BACK_MAX >= stage_counters(stage).env_steps);
    assert_int_equal(stage_counters(stage).acknowledged_steps, stored(stage));
}

TEST_OF_TWO(one_that_is_away_is_not_waited_for_until_the_end_of_time)
{
    grant_both(stage, PLENTY);
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 50);
    stage_sever(stage, 0);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, AQ_FINISH_AWAY_MS - 20);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_FINISHING);
    assert_true(aq_actor_session_next_ns(stage->session) > stage->now_ns);
    stage_pass(stage, 60);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_DONE);
    assert_true(stage_counters(stage).unacknowledged > 0);
    assert_nothing_odd(&stage->shards[1]);
}

TEST_OF_TWO(one_that_comes_back_in_time_gets_the_rest)
{
    grant_both(stage, PLENTY);
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 50);
    stage_sever(stage, 0);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, AQ_FINISH_AWAY_MS / 2);
    stage->ways[0].is_severed = stage->ways[0].is_lossy = false;
    stage_pass(stage, 50);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_DONE);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    assert_true(stored(stage) + HELD_BACK_MAX >= stage_counters(stage).env_steps);
}

/* It is there, so it may still answer; but not for ever. */
TEST_OF_TWO(one_that_does_not_acknowledge_is_waited_for_in_vain)
{
    grant_both(stage, 50 * KIT_ENVS);
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 50);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, AQ_FINISH_MS_MAX - 10);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_FINISHING);
    stage_pass(stage, 30);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_DONE);
    assert_true(stage_counters(stage).unacknowledged > 0);
}

/* The chunks that are open at the end go to the one that is there. */
TEST_OF_TWO(what_is_open_at_the_end_goes_to_one_that_is_there)
{
    stage_act(stage, 5 * KIT_ENVS, 3);
    stage_sever(stage, 0);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, 20);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_DONE);
    assert_true(stored(stage) + HELD_BACK_MAX >= stage_counters(stage).env_steps);
}
