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

TEST_IN(demand_desk, desk, what_is_asked_for_is_shared_evenly_in_whole_steps_and_once)
{
    want(desk, 0, 7, 0);
    assert_granted(desk, 0, 0, 0);
    want(desk, 1, 7, 20);
    assert_granted(desk, 8, 8, 4);
    want(desk, 1, 7, 20);
    assert_granted(desk, 8, 8, 4);
    bring(desk, 0, 8);
    want(desk, 1, 7, 12);
    assert_granted(desk, 8, 8, 4);
}

TEST_IN(demand_desk, desk, a_rest_that_makes_no_step_is_made_whole)
{
    want(desk, 0, 1, 8);
    bring(desk, 0, 7);
    want(desk, 1, 1, 1);
    assert_granted(desk, 9, 0, 0); /* 2 are outstanding */
    want(desk, 1, 1, 1);
    assert_granted(desk, 9, 0, 0);
}

TEST_IN(demand_desk, desk, what_a_late_actor_holds_is_granted_to_others)
{
    want(desk, 0, 3, 8);
    assert_granted(desk, 4, 4, 0);
    desk->now_ns += 10 * AQ_NS_PER_MS; /* its usual time */
    bring(desk, 0, 4);
    bring(desk, 1, 4);
    want(desk, 0, 3, 8);
    assert_granted(desk, 8, 8, 0);
    desk->now_ns += 10 * AQ_NS_PER_MS;
    bring(desk, 0, 4);
    want(desk, 189, 3, 4);
    assert_granted(desk, 8, 8, 0); /* not yet late */
    want(desk, 1, 3, 4);
    assert_granted(desk, 12, 8, 0);
    want(desk, 1, 7, 4);
    assert_granted(desk, 12, 8, 0); /* once */
}

TEST_IN(demand_desk, desk, an_actor_that_is_gone_is_not_waited_for)
{
    want(desk, 0, 3, 8);
    want(desk, 1000, 1, 8);
    assert_granted(desk, 4, 4, 0);
    bring(desk, 0, 4);
    want(desk, 1000, 1, 4); /* the second has not called for two seconds */
    assert_granted(desk, 8, 4, 0);
}

TEST_IN(demand_desk, desk, where_all_are_late_all_are_granted_again)
{
    want(desk, 0, 1, 4);
    for (uint64_t i = 1; i < 5; i++) {
        assert_granted(desk, 4 * i, 0, 0);
        want(desk, 1000, 1, 4);
        want(desk, 1000, 1, 4);
    }
}
