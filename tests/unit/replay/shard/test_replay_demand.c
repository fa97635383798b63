/*
 * Credit on demand: what is asked for is granted once, evenly and in whole steps of two
 * environments, and what somebody holds who does not bring it goes to others.
 */
#include "replay/shard/replay_credit.h"
#include "tests/support/test.h"
#include "tests/unit/replay/replay_kit.h"

enum { ACTORS = 3 };

typedef struct demand_desk {
    aq_replay_roster *roster;
    aq_replay_credit credit;
    aq_replay_actor *actors[ACTORS];
    int64_t now_ns;
} demand_desk;

static void demand_desk_setup(demand_desk *desk)
{
    aq_run_settings settings = kit_settings();
    settings.n_step = 1;
    *desk = (demand_desk){.now_ns = AQ_NS_PER_S};
    assert_int_equal(aq_replay_roster_create(ACTORS, &desk->roster), 0);
    aq_replay_credit_init(&desk->credit, &settings);
    for (uint64_t i = 0; i < ACTORS; i++) {
        aq_replay_actor **actor = &desk->actors[i];
        assert_int_equal(aq_replay_roster_meet(desk->roster, 0, i, 1, 0, actor), 0);
    }
}

static void demand_desk_teardown(demand_desk *desk)
{
    aq_replay_roster_destroy(desk->roster);
}

/* Time passes, those of `callers` (a bit set) call, and so many steps are missing. */
static void want(demand_desk *desk, int64_t ms, unsigned callers, uint64_t missing)
{
    const aq_credit_supply supply = {.headroom = missing, .width = 1, .is_paced = true};
    desk->now_ns += ms * AQ_NS_PER_MS;
    for (unsigned i = 0; i < ACTORS; i++) {
        if ((callers >> i & 1) != 0) {
            aq_replay_credit_called(desk->actors[i], desk->now_ns, 0);
        }
    }
    aq_replay_credit_share(&desk->credit, &supply, desk->roster, desk->now_ns);
}

static void bring(demand_desk *desk, unsigned actor, uint64_t steps)
{
    aq_replay_credit_received(&desk->credit, desk->actors[actor], desk->now_ns, steps);
}

static void assert_granted(const demand_desk *desk, uint64_t first, uint64_t second, uint64_t third)
{
    assert_int_equal(desk->actors[0]->granted, first);
    assert_int_equal(desk->actors[1]->granted, second);
    assert_int_equal(desk->actors[2]->granted, third);
}

/* All have brought the step that they were granted first, in ten milliseconds. */
static void all_prove(demand_desk *desk)
{
    want(desk, 0, 7, 20);
    assert_granted(desk, 2, 2, 2);
    desk->now_ns += 10 * AQ_NS_PER_MS;
    for (unsigned i = 0; i < ACTORS; i++) {
        bring(desk, i, 2);
    }
    want(desk, 0, 7, 0);
}

TEST_IN(demand_desk, desk, what_is_asked_for_is_shared_evenly_in_whole_steps_and_once)
{
    all_prove(desk);
    want(desk, 1, 7, 20);
    assert_granted(desk, 2 + 8, 2 + 8, 2 + 4);
    want(desk, 1, 7, 20);
    assert_granted(desk, 2 + 8, 2 + 8, 2 + 4);
    bring(desk, 0, 8);
    want(desk, 1, 7, 12);
    assert_granted(desk, 2 + 8, 2 + 8, 2 + 4);
}

TEST_IN(demand_desk, desk, who_has_brought_nothing_yet_is_granted_a_step_and_not_counted_on)
{
    all_prove(desk);
    desk->actors[2]->pace_ns = 0;
    want(desk, 1, 7, 20);
    assert_granted(desk, 2 + 10, 2 + 10, 2 + 2);
    want(desk, 1, 7, 20);
    assert_granted(desk, 2 + 10, 2 + 10, 2 + 2); /* once */
    bring(desk, 2, 2);
    want(desk, 1, 7, 30);
    assert_granted(desk, 2 + 10, 2 + 10, 4 + 10);
}

/* Under a new name each time, so that it is never late. */
TEST_IN(demand_desk, desk, a_name_is_no_reason_to_wait)
{
    all_prove(desk);
    for (int i = 0; i < 100; i++) {
        desk->actors[1]->pace_ns = desk->actors[2]->pace_ns = 0;
        desk->actors[1]->is_late = desk->actors[2]->is_late = false;
        desk->actors[1]->progress_ns = desk->actors[2]->progress_ns = desk->now_ns;
        want(desk, 1, 7, 4);
        assert_int_equal(aq_replay_credit_outstanding(desk->actors[0]), 4);
        bring(desk, 0, 4);
    }
}

TEST_IN(demand_desk, desk, a_rest_that_makes_no_step_is_made_whole)
{
    all_prove(desk);
    want(desk, 1, 1, 8);
    desk->actors[1]->polled = desk->actors[2]->polled = false;
    want(desk, 1, 1, 8);
    assert_granted(desk, 2 + 8, 2 + 4, 2);
    bring(desk, 0, 7);
    want(desk, 1, 1, 1);
    assert_granted(desk, 2 + 9, 2 + 4, 2); /* 2 are outstanding */
    want(desk, 1, 1, 1);
    assert_granted(desk, 2 + 9, 2 + 4, 2);
}

TEST_IN(demand_desk, desk, what_a_late_actor_holds_is_granted_to_others_until_it_has_brought_it)
{
    all_prove(desk);
    want(desk, 0, 7, 12);
    assert_granted(desk, 6, 6, 6);
    bring(desk, 0, 4);
    bring(desk, 1, 4);
    want(desk, 199, 7, 4);
    assert_granted(desk, 6, 6, 6); /* not yet late */
    want(desk, 1, 7, 4);
    assert_granted(desk, 8, 8, 6);
    want(desk, 1, 7, 4);
    assert_granted(desk, 8, 8, 6); /* once */
    bring(desk, 0, 2);
    bring(desk, 1, 2);
    bring(desk, 2, 2);
    want(desk, 1, 7, 4);
    assert_granted(desk, 10, 10, 6); /* it holds more */
    bring(desk, 2, 2);
    want(desk, 1, 7, 12);
    assert_granted(desk, 12, 12, 10);
}

TEST_IN(demand_desk, desk, an_actor_that_is_gone_is_not_waited_for)
{
    all_prove(desk);
    want(desk, 0, 7, 12);
    want(desk, 100, 1, 12);
    assert_granted(desk, 6, 6, 6);
    desk->actors[1]->polled = desk->actors[2]->polled = false;
    want(desk, 0, 1, 12);
    assert_granted(desk, 14, 6, 6);
}

/* One that says it brought all, again and again, and never did. */
TEST_IN(demand_desk, desk, who_brings_nothing_is_counted_on_once)
{
    all_prove(desk);
    uint64_t most_ms = 0;
    desk->actors[2]->pace_ns = 0;
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t missing = 30;
        uint64_t waited_ms = 0;
        while (missing > 0) {
            want(desk, 10, 7, missing);
            waited_ms += 10;
            for (unsigned k = 0; k < 2; k++) {
                const uint64_t held = desk->actors[k]->granted - desk->actors[k]->received;
                bring(desk, k, held);
                missing -= held < missing ? held : missing;
            }
            aq_replay_credit_called(desk->actors[2], desk->now_ns, desk->actors[2]->granted);
            aq_replay_credit_acknowledged(desk->actors[2], desk->actors[2]->granted);
        }
        most_ms = waited_ms > most_ms ? waited_ms : most_ms;
        want(desk, 0, 7, 0);
    }
    assert_in_range(most_ms, 10, 300);
}

/* Requests come to their end and are made again; only time in which something is missing counts. */
TEST_IN(demand_desk, desk, lateness_counts_while_something_is_missing)
{
    all_prove(desk);
    want(desk, 0, 7, 12);
    bring(desk, 0, 4);
    bring(desk, 1, 4);
    want(desk, 0, 7, 0);
    want(desk, 5000, 7, 0); /* nothing is asked of it */
    for (unsigned i = 0; i < 4; i++) {
        want(desk, 0, 7, 4);
        assert_granted(desk, 6, 6, 6);
        want(desk, 50, 7, 0);
        want(desk, 1000, 7, 0);
    }
    want(desk, 0, 7, 4);
    assert_granted(desk, 8, 8, 6);
}

/* One that brings a step whenever it would be late, of a share that takes the others a moment. */
TEST_IN(demand_desk, desk, who_brings_its_share_in_drops_is_waited_for_ten_seconds)
{
    all_prove(desk);
    want(desk, 0, 7, 3000);
    bring(desk, 0, 1000);
    bring(desk, 1, 1000);
    uint64_t missing = 1000;
    for (unsigned ms = 0; ms < 10000; ms += 100) {
        assert_granted(desk, 1002, 1002, 1002);
        bring(desk, 2, 2);
        missing -= 2;
        want(desk, 100, 7, missing);
    }
    assert_granted(desk, 1402, 1402, 1002);
}

TEST_IN(demand_desk, desk, who_is_never_idle_and_brings_what_it_owes_is_not_late)
{
    all_prove(desk);
    for (unsigned ms = 0; ms < 30000; ms += 100) {
        want(desk, 100, 7, 60);
        bring(desk, 0, desk->actors[0]->granted - desk->actors[0]->received);
        bring(desk, 1, desk->actors[1]->granted - desk->actors[1]->received);
        bring(desk, 2, 2); /* a tenth of them, and holds 18 */
        want(desk, 0, 7, 20);
        assert_false(desk->actors[2]->is_late);
    }
}

/* A stopped one that goes on has its credit; one that lost it is granted a step now and then. */
TEST_IN(demand_desk, desk, where_all_are_late_all_are_granted_a_step_again)
{
    all_prove(desk);
    desk->actors[1]->polled = desk->actors[2]->polled = false;
    want(desk, 0, 1, 4);
    for (uint64_t i = 0; i < 5; i++) {
        assert_granted(desk, 6 + 2 * i, 2, 2);
        want(desk, 1000, 1, 4);
        want(desk, 1000, 1, 4);
    }
}
