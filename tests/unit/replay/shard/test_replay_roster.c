/*
 * The roster: finding, room, and who is forgotten when.
 */
#include "replay/shard/replay_roster.h"
#include "tests/support/test.h"
#include "tests/unit/replay/replay_kit.h"

TEST_ENDING(destroy, aq_replay_roster_destroy);

static aq_replay_roster *roster_of(size_t capacity)
{
    aq_replay_roster *roster = NULL;
    assert_int_equal(aq_replay_roster_create(capacity, &roster), 0);
    at_end(destroy, roster);
    return roster;
}

static aq_replay_actor *meet(aq_replay_roster *roster, int64_t now_ns, uint64_t actor)
{
    aq_replay_actor *met = NULL;
    assert_int_equal(aq_replay_roster_meet(roster, now_ns, actor, 1, 0, &met), 0);
    return met;
}

TEST(an_actor_is_found_again)
{
    aq_replay_roster *roster = roster_of(4);
    aq_replay_actor *first = meet(roster, 10, 7);
    assert_ptr_equal(meet(roster, 20, 7), first);
    assert_ptr_equal(aq_replay_roster_find(roster, 7, 1), first);
    assert_int_equal(first->heard_ns, 20);
    assert_int_equal(first->met_ns, 10);
    assert_int_equal(aq_replay_roster_count(roster), 1);
}

TEST(another_incarnation_is_another_actor)
{
    aq_replay_roster *roster = roster_of(4);
    aq_replay_actor *first = meet(roster, 0, 7);
    aq_replay_actor *second = NULL;
    assert_int_equal(aq_replay_roster_meet(roster, 0, 7, 2, 0, &second), 0);
    assert_ptr_not_equal(first, second);
}

TEST(who_is_not_known_is_not_found)
{
    aq_replay_roster *roster = roster_of(4);
    meet(roster, 0, 7);
    assert_null(aq_replay_roster_find(roster, 8, 1));
    assert_null(aq_replay_roster_find(roster, 7, 9));
}

TEST(the_mark_starts_at_what_the_actor_knows)
{
    aq_replay_roster *roster = roster_of(4);
    aq_replay_actor *met = NULL;
    assert_int_equal(aq_replay_roster_meet(roster, 0, 1, 1, 41, &met), 0);
    assert_int_equal(met->sequence.acknowledged, 41);
}

TEST(a_full_roster_of_busy_actors_refuses_a_new_one)
{
    aq_replay_roster *roster = roster_of(2);
    aq_replay_actor *met = NULL;
    meet(roster, 0, 1);
    meet(roster, 0, 2);
    assert_int_equal(aq_replay_roster_meet(roster, AQ_ROSTER_IDLE_NS - 1, 3, 1, 0, &met),
                     AQ_E_FULL);
    assert_null(met);
    assert_non_null(aq_replay_roster_find(roster, 1, 1));
}

TEST(idle_actors_make_room_and_busy_ones_stay)
{
    aq_replay_roster *roster = roster_of(3);
    meet(roster, 0, 1);
    meet(roster, 0, 2);
    meet(roster, 0, 3);
    meet(roster, 5 * AQ_NS_PER_S, 2)->granted = 99;
    meet(roster, AQ_ROSTER_IDLE_NS, 4);
    assert_null(aq_replay_roster_find(roster, 1, 1));
    assert_null(aq_replay_roster_find(roster, 3, 1));
    assert_int_equal(aq_replay_roster_find(roster, 2, 1)->granted, 99);
    assert_int_equal(aq_replay_roster_count(roster), 2);
}

TEST(idle_actors_stay_while_there_is_room)
{
    aq_replay_roster *roster = roster_of(3);
    meet(roster, 0, 1);
    meet(roster, 100 * AQ_ROSTER_IDLE_NS, 2);
    assert_non_null(aq_replay_roster_find(roster, 1, 1));
}

TEST(many_actors_come_and_go)
{
    enum { CAPACITY = 500, ROUNDS = 20000 };
    aq_rng rng = rng_of(test_seed(), 3);
    aq_replay_roster *roster = roster_of(CAPACITY);
    int64_t now_ns = 0;
    int met_count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        now_ns += (int64_t)aq_rng_below(&rng, (uint64_t)AQ_ROSTER_IDLE_NS / 200);
        uint64_t actor = aq_rng_below(&rng, 2 * CAPACITY);
        aq_replay_actor *met;
        if (aq_replay_roster_meet(roster, now_ns, actor, 1, actor, &met) == 0) {
            met_count++;
            assert_int_equal(met->actor, actor);
            assert_int_equal(met->sequence.acknowledged, actor);
        }
        assert_in_range(aq_replay_roster_count(roster), 1, CAPACITY);
    }
    assert_true(met_count > ROUNDS / 2);
    for (size_t i = 0; i < aq_replay_roster_count(roster); i++) {
        aq_replay_actor *actor = aq_replay_roster_at(roster, i);
        assert_ptr_equal(aq_replay_roster_find(roster, actor->actor, 1), actor);
    }
}

TEST(create_without_memory_fails_clean)
{
    aq_replay_roster *roster;
    assert_made_despite_failures(roster, aq_replay_roster_create(8, &roster));
    aq_replay_roster_destroy(roster);
    aq_replay_roster_destroy(NULL);
}
