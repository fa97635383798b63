/*
 * Credit: who is granted how much and when, that grants never leave the limiter's band, and that
 * nothing stands still when all that was granted sits in open chunks.
 */
#include "replay/shard/replay_credit.h"
#include "tests/support/test.h"
#include "tests/unit/replay/replay_kit.h"

/* Chunks of 8 in 2 environments: 16 steps fill them all. */
enum { LANE_STEPS = 16, BROUGHT = 10000 };

typedef struct test_shard {
    aq_replay_limiter limiter;
    aq_replay_roster *roster;
    aq_replay_credit credit;
    int64_t now_ns;
} test_shard;

TEST_ENDING(destroy_roster, aq_replay_roster_destroy);

/* Minimum 100, 4 rows a step, requests of 16 rows. */
static test_shard shard_of(double tolerance)
{
    aq_run_settings settings = kit_settings();
    test_shard shard = {.now_ns = AQ_NS_PER_S};
    aq_table_spec spec = kit_spec(100, 4.0, tolerance);
    assert_int_equal(aq_replay_limiter_init(&shard.limiter, &spec, 16, NULL), 0);
    assert_int_equal(aq_replay_roster_create(64, &shard.roster), 0);
    at_end(destroy_roster, shard.roster);
    aq_replay_credit_init(&shard.credit, &settings);
    return shard;
}

/* One that has brought nothing yet. */
static aq_replay_actor *call_anew(test_shard *shard, uint64_t number, uint64_t known_granted)
{
    aq_replay_actor *actor;
    assert_int_equal(aq_replay_roster_meet(shard->roster, shard->now_ns, number, 1, 0, &actor), 0);
    aq_replay_credit_called(actor, shard->now_ns, known_granted);
    return actor;
}

/* One that had brought much when it was first heard here. */
static aq_replay_actor *call(test_shard *shard, uint64_t number, uint64_t known_granted)
{
    const bool is_known = aq_replay_roster_find(shard->roster, number, 1) != NULL;
    aq_replay_actor *actor = call_anew(shard, number, known_granted);
    actor->brought += is_known ? 0 : BROUGHT;
    return actor;
}

static void share(test_shard *shard)
{
    aq_credit_supply supply = kit_supply(&shard->limiter);
    aq_replay_credit_share(&shard->credit, &supply, shard->roster, shard->now_ns);
}

static void receive(test_shard *shard, aq_replay_actor *actor, uint64_t fresh)
{
    aq_replay_credit_received(&shard->credit, actor, shard->now_ns, fresh);
    aq_replay_limiter_inserted(&shard->limiter, fresh);
}

TEST(a_lone_actor_is_granted_the_headroom)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actor = call(&shard, 1, 0);
    share(&shard);
    assert_int_equal(actor->granted, 150);
}

TEST(actors_share_equally)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actors[3];
    for (int i = 0; i < 3; i++) {
        actors[i] = call(&shard, (uint64_t)i, 0);
    }
    share(&shard);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(actors[i]->granted, 50);
    }
}

TEST(what_is_outstanding_counts)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *first = call(&shard, 1, 0);
    share(&shard);
    aq_replay_actor *second = call(&shard, 2, 0);
    share(&shard);
    share(&shard);
    assert_int_equal(first->granted, 150);
    assert_int_equal(second->granted, 0);
}

TEST(who_only_sends_is_granted_nothing)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actor;
    assert_int_equal(aq_replay_roster_meet(shard.roster, shard.now_ns, 1, 1, 0, &actor), 0);
    share(&shard);
    assert_int_equal(actor->granted, 0);
}

TEST(the_credit_of_a_silent_actor_is_taken_back)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *dead = call(&shard, 1, 0);
    share(&shard);
    shard.now_ns += AQ_CREDIT_LIVE_NS - 1;
    aq_replay_actor *heir = call(&shard, 2, 0);
    shard.now_ns += 1;
    share(&shard);
    assert_int_equal(dead->granted, 150);
    assert_int_equal(heir->granted, 150);
}

TEST(a_top_up_waits_until_a_quarter_is_used)
{
    test_shard shard = shard_of(300.0);
    aq_replay_actor *actor = call(&shard, 1, 0);
    share(&shard);
    assert_int_equal(actor->granted, 400);
    receive(&shard, actor, 80);
    /* Headroom 320: a target of 320, of which all is outstanding. */
    share(&shard);
    assert_int_equal(actor->granted, 400);
    /* The learner takes 79 steps' worth: a target of 399, of which 320 are outstanding. */
    aq_replay_limiter_sampled(&shard.limiter, 4 * 79);
    share(&shard);
    assert_int_equal(actor->granted, 400);
    aq_replay_limiter_sampled(&shard.limiter, 4 * 40);
    share(&shard);
    assert_int_equal(actor->granted, 400 + 119);
}

TEST(who_has_nothing_left_is_granted_a_chunk_as_soon_as_there_is_one)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actor = call(&shard, 1, 0);
    share(&shard);
    receive(&shard, actor, 150);
    share(&shard);
    assert_int_equal(actor->granted, 150);
    aq_replay_limiter_sampled(&shard.limiter, 4 * 7);
    share(&shard);
    assert_int_equal(actor->granted, 150);
    aq_replay_limiter_sampled(&shard.limiter, 4);
    share(&shard);
    assert_int_equal(actor->granted, 158);
}

TEST(scarce_credit_goes_round)
{
    enum { ACTORS = 7, ROUNDS = 700 };
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actors[ACTORS];
    for (int i = 0; i < ACTORS; i++) {
        actors[i] = call(&shard, (uint64_t)i, 0);
    }
    aq_replay_limiter_inserted(&shard.limiter, 150);
    for (int round = 0; round < ROUNDS; round++) {
        aq_replay_limiter_sampled(&shard.limiter, 4 * 8);
        share(&shard);
        for (int i = 0; i < ACTORS; i++) {
            receive(&shard, actors[i], actors[i]->granted - actors[i]->received);
        }
    }
    for (int i = 0; i < ACTORS; i++) {
        assert_int_equal(actors[i]->granted, ROUNDS / ACTORS * 8);
    }
}

/* Two environments and n-step 3: five steps are a rest that can neither be spent nor sent. */
TEST(who_is_left_with_a_rest_is_granted_a_chunk_on_top)
{
    test_shard shard = shard_of(10.0);
    aq_replay_limiter_inserted(&shard.limiter, 90);
    aq_replay_actor *actors[2] = {call(&shard, 1, 0), call(&shard, 2, 0)};
    share(&shard);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(actors[i]->granted, 10);
        receive(&shard, actors[i], 5);
    }
    aq_replay_limiter_sampled(&shard.limiter, 4 * 7);
    share(&shard);
    assert_int_equal(actors[0]->granted + actors[1]->granted, 20);
    aq_replay_limiter_sampled(&shard.limiter, 4); /* eight are free, a chunk */
    share(&shard);
    assert_int_equal(actors[0]->granted + actors[1]->granted, 28);
}

/* One more than a rest is a step; no whole chunk is needed on top. */
TEST(who_can_still_make_a_step_is_granted_what_there_is)
{
    test_shard shard = shard_of(10.0);
    aq_replay_limiter_inserted(&shard.limiter, 90);
    aq_replay_actor *actors[2] = {call(&shard, 1, 0), call(&shard, 2, 0)};
    share(&shard);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(actors[i]->granted, 10);
        receive(&shard, actors[i], 4);
    }
    aq_replay_limiter_sampled(&shard.limiter, 4 * 7);
    share(&shard);
    assert_int_equal(actors[0]->granted + actors[1]->granted, 20 + 7);
}

TEST(who_asks_for_little_leaves_a_chunk_to_the_others)
{
    test_shard shard = shard_of(20.0);
    aq_replay_actor *first = call(&shard, 1, 0);
    aq_replay_limiter_inserted(&shard.limiter, 100);
    share(&shard);
    assert_int_equal(first->granted, 20);
    receive(&shard, first, 8);
    aq_replay_actor *second = call(&shard, 2, 0);
    for (int round = 0; round < 3; round++) { /* each time four are free, a quarter of a share */
        receive(&shard, first, 4);
        aq_replay_limiter_sampled(&shard.limiter, 4 * 4);
        share(&shard);
    }
    assert_true(second->granted >= 8);
}

TEST(a_grant_of_an_earlier_shard_goes_on)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actor = call(&shard, 1, 5000);
    share(&shard);
    assert_int_equal(actor->granted, 5150);
}

TEST(steps_that_an_earlier_shard_granted_do_not_become_debt)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actor = call(&shard, 1, 5000);
    receive(&shard, actor, 40); /* sent again after the shard's restart */
    share(&shard);
    assert_in_range(actor->granted, 5110, 5112);
}

TEST(steps_that_another_shard_took_are_not_waited_for)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actor = call(&shard, 1, 0);
    share(&shard);
    assert_int_equal(actor->granted, 150);
    call(&shard, 1,
         150); /* back from a shard that took, and acknowledged, all it was granted here */
    aq_replay_credit_acknowledged(actor, 150);
    share(&shard);
    assert_int_equal(actor->granted, 300);
}

TEST(steps_beyond_the_grant_count_against_the_next)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actor = call(&shard, 1, 0);
    share(&shard);
    receive(&shard, actor, 152); /* both environments stepped once more */
    aq_replay_limiter_sampled(&shard.limiter, 4 * 10);
    share(&shard);
    assert_int_equal(actor->granted, 152 + 8);
}

/* A learner that waits, and one actor with 6 steps in open chunks and no headroom. */
static test_shard stalled_shard(aq_replay_actor **ret_actor)
{
    test_shard shard = shard_of(10.0);
    aq_replay_limiter_inserted(&shard.limiter, 90);
    *ret_actor = call(&shard, 1, 0);
    share(&shard);
    assert_int_equal((*ret_actor)->granted, 20);
    receive(&shard, *ret_actor, 8);
    assert_false(aq_replay_limiter_may_sample(&shard.limiter, 16));
    return shard;
}

TEST(open_chunks_do_not_keep_the_learner_waiting)
{
    aq_replay_actor *actor;
    test_shard shard = stalled_shard(&actor);
    shard.now_ns += AQ_CREDIT_PATIENCE_NS - 1;
    call(&shard, 1, 20);
    share(&shard);
    assert_int_equal(actor->granted, 20);
    shard.now_ns += 1;
    share(&shard);
    assert_int_equal(actor->granted, 8 + LANE_STEPS); /* two chunks of 8: one must close */
}

/* It may be far from here, and has enough to make a chunk. */
TEST(who_can_close_a_chunk_is_waited_for_as_long_as_it_is_heard)
{
    test_shard shard = shard_of(10.0);
    aq_replay_limiter_inserted(&shard.limiter, 90);
    aq_replay_actor *actor = call(&shard, 1, 0);
    share(&shard);
    assert_int_equal(actor->granted, 20);
    shard.now_ns += AQ_CREDIT_LIVE_NS - 1;
    call(&shard, 1, 20);
    const aq_replay_actor *other = call(&shard, 2, 0);
    share(&shard);
    assert_int_equal(other->granted, 0);
    shard.now_ns += 1;
    share(&shard);
    assert_true(other->granted > 0); /* it brings nothing, and the learner waits */
}

TEST(open_chunks_may_wait_while_the_learner_can_sample)
{
    aq_replay_actor *actor;
    test_shard shard = stalled_shard(&actor);
    receive(&shard, actor, 2);
    assert_true(aq_replay_limiter_may_sample(&shard.limiter, 16));
    shard.now_ns += 10 * AQ_CREDIT_PATIENCE_NS;
    call(&shard, 1, 20);
    share(&shard);
    assert_int_equal(actor->granted, 20);
}

TEST(who_never_sends_is_not_granted_without_end)
{
    aq_replay_actor *idler;
    test_shard shard = stalled_shard(&idler);
    for (int i = 0; i < 1000; i++) {
        shard.now_ns += AQ_CREDIT_PATIENCE_NS;
        call(&shard, 1, idler->granted);
        share(&shard);
    }
    assert_int_equal(idler->granted, 8 + LANE_STEPS);
    /* And another is not kept waiting by it. */
    aq_replay_actor *worker = call(&shard, 2, 0);
    call(&shard, 1, idler->granted);
    share(&shard);
    assert_true(worker->granted >= 8);
}

TEST(a_newcomer_is_granted_a_chunk_in_each_environment_and_then_as_much_as_it_brings)
{
    test_shard shard = shard_of(500.0); /* a headroom of 600 */
    aq_replay_actor *actor = call_anew(&shard, 1, 0);
    share(&shard);
    share(&shard);
    assert_int_equal(actor->granted, LANE_STEPS);
    receive(&shard, actor, 8);
    share(&shard);
    assert_int_equal(actor->granted, 8 + LANE_STEPS);
    for (uint64_t brought = 2 * LANE_STEPS; brought < 600; brought *= 2) {
        receive(&shard, actor, aq_replay_credit_outstanding(actor));
        aq_replay_limiter_sampled(&shard.limiter, 4 * actor->brought);
        share(&shard);
        assert_int_equal(aq_replay_credit_outstanding(actor), actor->brought);
    }
}

/* Under one name after the other, all of them heard without a pause, and nothing comes. */
TEST(who_only_says_who_it_is_keeps_no_credit_from_those_who_work)
{
    enum { LIARS = 50, HEADROOM = 600 };
    test_shard shard = shard_of(500.0);
    aq_replay_actor *worker = call(&shard, 100, 0);
    for (int i = 0; i < 1000; i++) {
        shard.now_ns += 20 * AQ_NS_PER_MS;
        for (uint64_t liar = 0; liar < LIARS; liar++) {
            call_anew(&shard, liar, (uint64_t)i << 40);
        }
        call_anew(&shard, 100, worker->granted);
        share(&shard);
        assert_true(aq_replay_credit_outstanding(worker) >= HEADROOM * 3 / 4 - LANE_STEPS);
        const uint64_t sent = aq_replay_credit_outstanding(worker);
        receive(&shard, worker, sent);
        aq_replay_limiter_sampled(&shard.limiter, 4 * sent);
    }
    for (uint64_t liar = 0; liar < LIARS; liar++) {
        const aq_replay_actor *actor = aq_replay_roster_find(shard.roster, liar, 1);
        assert_int_equal(aq_replay_credit_outstanding(actor), LANE_STEPS);
    }
}

/* Liars that are there before it, more than newcomers are granted at once. */
TEST(a_newcomer_among_liars_has_its_turn)
{
    enum { LIARS = 50 };
    test_shard shard = shard_of(500.0);
    aq_replay_actor *worker = call(&shard, 100, 0);
    int rounds = 0;
    for (uint64_t liar = 0; liar < LIARS; liar++) {
        call_anew(&shard, liar, 0);
    }
    share(&shard);
    const aq_replay_actor *newcomer = call_anew(&shard, 101, 0);
    for (; newcomer->granted == 0 && rounds < 1000; rounds++) {
        const uint64_t sent = aq_replay_credit_outstanding(worker);
        receive(&shard, worker, sent);
        aq_replay_limiter_sampled(&shard.limiter, 4 * sent);
        shard.now_ns += 20 * AQ_NS_PER_MS;
        for (uint64_t liar = 0; liar < LIARS; liar++) {
            call_anew(&shard, liar, 0);
        }
        call_anew(&shard, 100, worker->granted);
        call_anew(&shard, 101, 0);
        share(&shard);
    }
    assert_in_range(rounds, 1, 60);
}

/* A quarter of the headroom is less than the chunk that it needs. */
TEST(a_newcomer_has_its_turn_where_there_is_little)
{
    const aq_credit_supply supply = {.headroom = 9, .width = 4};
    test_shard shard = shard_of(50.0);
    aq_replay_actor *worker = call(&shard, 1, 0);
    const aq_replay_actor *newcomer = call_anew(&shard, 2, 0);
    for (int i = 0; i < 3; i++) {
        aq_replay_credit_share(&shard.credit, &supply, shard.roster, shard.now_ns);
        aq_replay_credit_received(&shard.credit, worker, shard.now_ns,
                                  aq_replay_credit_outstanding(worker));
    }
    assert_true(newcomer->granted >= 8);
}

TEST(who_is_given_up_is_a_newcomer)
{
    aq_replay_actor *idler;
    test_shard shard = stalled_shard(&idler);
    for (int i = 0; i < 2; i++) {
        shard.now_ns += AQ_CREDIT_PATIENCE_NS;
        call(&shard, 1, idler->granted);
        share(&shard);
    }
    assert_int_equal(idler->brought, 0);
    receive(&shard, idler, 8);
    assert_int_equal(idler->brought, 8);
}

TEST(a_newcomer_is_answered_at_once)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actor = call(&shard, 1, 0);
    assert_true(aq_replay_credit_due(&shard.credit, actor, shard.now_ns, 0, 0));
    aq_replay_credit_answered(actor, shard.now_ns);
    assert_false(aq_replay_credit_due(&shard.credit, actor, shard.now_ns, 0, 0));
}

TEST(an_actor_without_credit_is_answered_at_once)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actor = call(&shard, 1, 0);
    aq_replay_credit_answered(actor, shard.now_ns);
    share(&shard);
    assert_true(aq_replay_credit_due(&shard.credit, actor, shard.now_ns, 0, 0));
}

TEST(other_news_wait_for_their_interval)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actor = call(&shard, 1, 0);
    share(&shard);
    aq_replay_credit_answered(actor, shard.now_ns);
    actor->sequence.acknowledged = 1;
    assert_false(aq_replay_credit_due(&shard.credit, actor, shard.now_ns, 0, actor->granted));
    shard.now_ns += 2 * AQ_NS_PER_MS;
    assert_true(aq_replay_credit_due(&shard.credit, actor, shard.now_ns, 0, actor->granted));
    assert_false(aq_replay_credit_due(&shard.credit, actor, shard.now_ns, 1, actor->granted));
}

TEST(a_gap_is_told_once)
{
    test_shard shard = shard_of(50.0);
    aq_replay_actor *actor = call(&shard, 1, 0);
    aq_replay_credit_answered(actor, shard.now_ns);
    actor->sequence.gaps = 1;
    shard.now_ns += AQ_NS_PER_S;
    assert_true(aq_replay_credit_due(&shard.credit, actor, shard.now_ns, 0, 0));
    aq_replay_credit_answered(actor, shard.now_ns);
    shard.now_ns += AQ_NS_PER_S;
    assert_false(aq_replay_credit_due(&shard.credit, actor, shard.now_ns, 0, 0));
}

TEST(many_actors_are_answered_less_often)
{
    test_shard shard = shard_of(5000.0);
    aq_replay_actor *actor = call(&shard, 0, 0);
    for (uint64_t i = 1; i < 50; i++) {
        call(&shard, i, 0);
    }
    share(&shard);
    aq_replay_credit_answered(actor, shard.now_ns);
    actor->sequence.acknowledged = 1;
    assert_false(aq_replay_credit_due(&shard.credit, actor, shard.now_ns + 9 * AQ_NS_PER_MS, 0,
                                      actor->granted));
    assert_true(aq_replay_credit_due(&shard.credit, actor, shard.now_ns + 10 * AQ_NS_PER_MS, 0,
                                     actor->granted));
}
