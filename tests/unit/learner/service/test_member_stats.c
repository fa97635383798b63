/*
 * What each member said last is kept for as long as it is a member, and is a copy.
 */
#include "learner/service/member_stats.h"
#include "tests/support/test.h"

static void aq_member_stats_setup(aq_member_stats *stats)
{
    *stats = (aq_member_stats){0};
}

static void aq_member_stats_teardown(aq_member_stats *stats)
{
    aq_member_stats_fini(stats);
}

/* What one member says: that which is not NULL. */
static void put(aq_member_stats *stats, uint64_t incarnation, Actorq__V1__ActorStats *actor,
                Actorq__V1__ReplayStats *replay)
{
    Actorq__V1__HeartbeatRequest request = ACTORQ__V1__HEARTBEAT_REQUEST__INIT;
    request.incarnation = incarnation;
    request.actor = actor;
    request.replay = replay;
    aq_member_stats_put(stats, replay != NULL ? AQ_ROLE_REPLAY : AQ_ROLE_ACTOR, &request);
}

static void put_actor(aq_member_stats *stats, uint64_t incarnation, uint64_t env_steps)
{
    Actorq__V1__ActorStats actor = ACTORQ__V1__ACTOR_STATS__INIT;
    actor.env_steps = env_steps;
    put(stats, incarnation, &actor, NULL);
}

static void put_replay(aq_member_stats *stats, uint64_t incarnation, const char *waiting)
{
    Actorq__V1__ReplayStats replay = ACTORQ__V1__REPLAY_STATS__INIT;
    char text[1024];
    snprintf(text, sizeof(text), "%s", waiting);
    replay.inserted = incarnation;
    replay.waiting = text; /* gone when this returns */
    put(stats, incarnation, NULL, &replay);
    memset(text, '!', sizeof(text));
}

TEST_IN(aq_member_stats, stats, the_last_word_is_kept)
{
    assert_null(aq_member_stats_find(stats, 5));
    put_actor(stats, 5, 10);
    put_actor(stats, 5, 20);
    const aq_member_stats_row *row = aq_member_stats_find(stats, 5);
    assert_true(row->has_actor);
    assert_null(row->replay);
    assert_int_equal(row->actor.env_steps, 20);
    assert_int_equal(stats->count, 1);
    aq_member_stats_fini(stats);
    assert_null(aq_member_stats_find(stats, 5));
}

TEST_IN(aq_member_stats, stats, a_heartbeat_without_numbers_leaves_those_before_it)
{
    put_actor(stats, 5, 10);
    put(stats, 5, NULL, NULL);
    assert_int_equal(aq_member_stats_find(stats, 5)->actor.env_steps, 10);
}

static void put_times(aq_member_stats *stats, uint64_t incarnation, uint64_t env_steps,
                      double inference_s, double running_s)
{
    Actorq__V1__ActorStats actor = ACTORQ__V1__ACTOR_STATS__INIT;
    actor.env_steps = env_steps;
    actor.inference_s = inference_s;
    actor.running_s = running_s;
    put(stats, incarnation, &actor, NULL);
}

/* An actor that lived on when the learner died begins with what another learner has counted. */
TEST_IN(aq_member_stats, stats, what_was_spent_counts_from_the_first_word_on_and_stays)
{
    put_times(stats, 5, 0, 0, 0);
    put_times(stats, 6, 1000, 50, 80);
    put_times(stats, 5, 100, 2, 10);
    put_times(stats, 6, 1200, 51, 85);
    aq_spent spent = aq_member_stats_spent(stats, AQ_ROLE_ACTOR);
    assert_true(spent.of[AQ_SPENT_STEPS] == 100 + 200);
    assert_true(spent.of[AQ_SPENT_INFERENCE_S] == 2 + 1);
    assert_true(spent.of[AQ_SPENT_RUNNING_S] == 10 + 5);
    assert_true(spent.of[AQ_SPENT_SAMPLING_S] == 0);

    aq_member_stats_remove(stats, 6);
    put_times(stats, 6, 1300, 52, 90); /* it was lost, and is back */
    put_times(stats, 6, 1400, 53, 95);
    spent = aq_member_stats_spent(stats, AQ_ROLE_ACTOR);
    assert_true(spent.of[AQ_SPENT_STEPS] == 100 + 200 + 100);
    assert_true(spent.of[AQ_SPENT_RUNNING_S] == 10 + 5 + 5);
    assert_true(aq_member_stats_spent(stats, AQ_ROLE_REPLAY).of[AQ_SPENT_RUNNING_S] == 0);
}

static void put_outdated(aq_member_stats *stats, uint64_t incarnation, uint64_t outdated)
{
    Actorq__V1__ReplayStats replay = ACTORQ__V1__REPLAY_STATS__INIT;
    replay.outdated = outdated;
    put(stats, incarnation, NULL, &replay);
}

TEST_IN(aq_member_stats, stats, what_shards_dropped_is_counted_over_their_restarts)
{
    put_outdated(stats, 5, 100); /* that it dropped for another learner */
    put_outdated(stats, 5, 110);
    aq_member_stats_remove(stats, 5);
    put_outdated(stats, 6, 0);
    put_outdated(stats, 6, 4);
    const aq_spent spent = aq_member_stats_spent(stats, AQ_ROLE_REPLAY);
    assert_true(spent.of[AQ_SPENT_OUTDATED] == 10 + 4);
}

TEST_IN(aq_member_stats, stats, times_that_are_none_spoil_no_others)
{
    static const double rubbish[][2] = {{NAN, 10}, {INFINITY, 10}, {2, 1e308}, {-1e308, 10}};
    put_times(stats, 1, 0, 0, 0);
    put_times(stats, 1, 100, 2, 10);
    put_times(stats, 1, 100, NAN, 12);
    for (uint64_t i = 0; i < 4; i++) {
        put_times(stats, 2 + i, 0, 0, 0);
        put_times(stats, 2 + i, 100, rubbish[i][0], rubbish[i][1]);
    }
    const aq_spent spent = aq_member_stats_spent(stats, AQ_ROLE_ACTOR);
    assert_true(spent.of[AQ_SPENT_STEPS] == 100);
    assert_true(spent.of[AQ_SPENT_INFERENCE_S] == 2);
    assert_true(spent.of[AQ_SPENT_RUNNING_S] == 10);
}

TEST_IN(aq_member_stats, stats, each_row_owns_its_text_wherever_it_moves)
{
    char expected[32];
    for (uint64_t i = 1; i <= 100; i++) { /* the table grows a few times */
        snprintf(expected, sizeof(expected), "text %u", (unsigned)i);
        put_replay(stats, i, expected);
    }
    for (uint64_t i = 1; i <= 100; i += 3) { /* and rows move into the gaps */
        aq_member_stats_remove(stats, i);
    }
    assert_int_equal(stats->count, 66);
    for (uint64_t i = 1; i <= 100; i++) {
        const aq_member_stats_row *row = aq_member_stats_find(stats, i);
        assert_int_equal(row == NULL, i % 3 == 1);
        if (row) {
            snprintf(expected, sizeof(expected), "text %u", (unsigned)i);
            assert_string_equal(row->replay->stats.waiting, expected);
            assert_int_equal(row->replay->stats.inserted, i);
        }
    }
}

TEST_IN(aq_member_stats, stats, a_long_text_is_cut)
{
    char text[1000];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    put_replay(stats, 5, text);
    assert_int_equal(strlen(aq_member_stats_find(stats, 5)->replay->stats.waiting),
                     AQ_SAID_TEXT_MAX - 1);
}

static void put_failure(aq_member_stats *stats, uint64_t incarnation, const char *why)
{
    Actorq__V1__ActorStats actor = ACTORQ__V1__ACTOR_STATS__INIT;
    actor.env_failure = (char *)(uintptr_t)why;
    put(stats, incarnation, &actor, NULL);
}

static size_t failure_size(const aq_member_stats *stats, uint64_t incarnation)
{
    return strlen(aq_member_stats_find(stats, incarnation)->actor.env_failure);
}

/* Thousands that each tell a page would be a status that nobody can be sent. */
TEST_IN(aq_member_stats, stats, what_went_wrong_is_cut_and_kept_of_some)
{
    char text[8192];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    for (uint64_t i = 1; i <= AQ_FAILURES_KEPT + 1; i++) {
        put_failure(stats, i, text);
    }
    assert_int_equal(failure_size(stats, 1), 4095);
    assert_int_equal(failure_size(stats, AQ_FAILURES_KEPT), 4095);
    assert_int_equal(failure_size(stats, AQ_FAILURES_KEPT + 1), 0);
    put_failure(stats, 1, ""); /* who has none any more, or leaves, makes room */
    put_failure(stats, AQ_FAILURES_KEPT + 1, "why");
    assert_int_equal(failure_size(stats, AQ_FAILURES_KEPT + 1), 3);
    put_failure(stats, 1, "again");
    assert_int_equal(failure_size(stats, 1), 0);
    aq_member_stats_remove(stats, 2);
    put_failure(stats, 1, "again");
    assert_int_equal(failure_size(stats, 1), 5);
}

TEST_IN(aq_member_stats, stats, what_is_not_known_of_a_message_is_not_kept)
{
    ProtobufCMessageUnknownField unknown = {.tag = 999};
    Actorq__V1__ActorStats actor = ACTORQ__V1__ACTOR_STATS__INIT;
    Actorq__V1__ReplayStats replay = ACTORQ__V1__REPLAY_STATS__INIT;
    actor.base.n_unknown_fields = replay.base.n_unknown_fields = 1;
    actor.base.unknown_fields = replay.base.unknown_fields = &unknown;
    put(stats, 5, &actor, &replay);
    const aq_member_stats_row *row = aq_member_stats_find(stats, 5);
    assert_int_equal(row->actor.base.n_unknown_fields, 0);
    assert_null(row->actor.base.unknown_fields);
    assert_int_equal(row->replay->stats.base.n_unknown_fields, 0);
    assert_null(row->replay->stats.base.unknown_fields);
}

TEST_IN(aq_member_stats, stats, removing_the_last_row_or_none_is_fine)
{
    aq_member_stats_remove(stats, 5);
    put_actor(stats, 5, 1);
    aq_member_stats_remove(stats, 6);
    aq_member_stats_remove(stats, 5);
    assert_int_equal(stats->count, 0);
    assert_null(aq_member_stats_find(stats, 5));
}

TEST_IN(aq_member_stats, stats, without_memory_the_older_numbers_stay)
{
    for (uint64_t i = 1; i <= 16; i++) {
        put_actor(stats, i, i);
    }
    aq_memory_fail_at(1, 1);
    put_actor(stats, 17, 17); /* no room for another row */
    put_actor(stats, 3, 33);  /* a row that is there needs none */
    aq_memory_fail_at(0, 0);
    assert_null(aq_member_stats_find(stats, 17));
    assert_int_equal(aq_member_stats_find(stats, 3)->actor.env_steps, 33);
    assert_int_equal(aq_member_stats_find(stats, 16)->actor.env_steps, 16);
    put_actor(stats, 17, 17);
    assert_int_equal(aq_member_stats_find(stats, 17)->actor.env_steps, 17);
}
