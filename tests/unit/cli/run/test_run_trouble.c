/*
 * What keeps a run from going on is said, and nothing else is.
 */
#include "cli/run/run_trouble.h"
#include "tests/support/test.h"
#include "tests/unit/cli/status_fixture.h"

static const char *trouble_of(const status_fixture *fixture, bool is_offline)
{
    static char trouble[AQ_TROUBLE_MAX];
    aq_run_trouble_of(&fixture->reply, is_offline, NULL, trouble);
    return trouble;
}

/* A run of a minute, in which all is well. */
static void status_fixture_setup(status_fixture *fixture)
{
    status_fixture_learner(fixture);
    fixture->replay.stuck = (char *)(uintptr_t) "";
    fixture->reply.uptime_s = 60;
}

static void status_fixture_teardown(status_fixture *fixture)
{
    (void)fixture;
}

static void drop_members(status_fixture *fixture, Actorq__V1__Role role)
{
    size_t kept = 0;
    for (size_t i = 0; i < fixture->reply.n_members; i++) {
        if (fixture->pointers[i]->role != role) {
            fixture->pointers[kept++] = fixture->pointers[i];
        }
    }
    fixture->reply.n_members = kept;
}

TEST_IN(status_fixture, fixture, a_run_that_goes_on_is_in_no_trouble)
{
    assert_string_equal(trouble_of(fixture, false), "");
}

TEST_IN(status_fixture, fixture, a_shard_that_cannot_write_is_trouble)
{
    fixture->replay.stuck = (char *)(uintptr_t) "no space left on the device";
    fixture->learner.trouble = (char *)(uintptr_t) "another";
    assert_string_equal(trouble_of(fixture, false),
                        "replay 0 cannot write: no space left on the device");
}

TEST_IN(status_fixture, fixture, a_learner_that_keeps_nothing_is_trouble)
{
    fixture->learner.trouble = (char *)(uintptr_t) "x/versions: no space";
    assert_string_equal(trouble_of(fixture, false),
                        "the learner cannot keep or publish what it learns: x/versions: no space");
}

TEST_IN(status_fixture, fixture, what_others_say_of_trouble_is_fit_for_a_terminal)
{
    char trouble[AQ_TROUBLE_MAX];
    fixture->learner.trouble = (char *)(uintptr_t) "x\033[1m";
    assert_string_equal(trouble_of(fixture, false),
                        "the learner cannot keep or publish what it learns: x?[1m");
    aq_run_trouble_of(&fixture->reply, false, "Traceback:\nKeyError: \033[1m", trouble);
    assert_string_equal(trouble, "the environment fails each time: KeyError: ?[1m");
}

TEST_IN(status_fixture, fixture, nobody_is_missed_at_the_start_and_the_end)
{
    drop_members(fixture, ACTORQ__V1__ROLE__ROLE_ACTOR);
    assert_string_equal(trouble_of(fixture, false), "no actor is in the run");
    assert_string_equal(trouble_of(fixture, true), "");
    fixture->reply.uptime_s = 2;
    fixture->learner.wall_s = 3600; /* of a run that was resumed */
    assert_string_equal(trouble_of(fixture, false), "");
    fixture->reply.uptime_s = 60;
    fixture->reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_BUDGET;
    assert_string_equal(trouble_of(fixture, false), "");
    fixture->reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    drop_members(fixture, ACTORQ__V1__ROLE__ROLE_REPLAY);
    assert_string_equal(trouble_of(fixture, false), "no replay shard is in the run");
}

TEST_IN(status_fixture, fixture, environments_that_only_fail_are_known_by_how_often_they_did)
{
    Actorq__V1__ActorStats *actors[2];
    aq_failure_watch watch = {0};
    bool is_hopeless;
    drop_members(fixture, ACTORQ__V1__ROLE__ROLE_REPLAY);
    drop_members(fixture, ACTORQ__V1__ROLE__ROLE_EVALUATOR);
    assert_int_equal(fixture->reply.n_members, 2);
    for (size_t i = 0; i < 2; i++) {
        actors[i] = fixture->pointers[i]->actor;
        actors[i]->acknowledged_steps = 0;
    }
    actors[0]->env_failures = 9;
    actors[0]->env_failure = (char[]){"KeyError: 1"};
    actors[1]->env_failures = 0;
    assert_null(aq_failure_watch_take(&watch, 1, &fixture->reply, 2, &is_hopeless));
    actors[1]->env_failures = 1;
    assert_string_equal(aq_failure_watch_take(&watch, 2, &fixture->reply, 2, &is_hopeless),
                        "KeyError: 1");
    assert_true(is_hopeless);
    assert_null(aq_failure_watch_take(&watch, 3, &fixture->reply, 3, &is_hopeless));
}

TEST_IN(status_fixture, fixture, environments_that_have_worked_are_given_a_minute)
{
    aq_failure_watch watch = {0};
    bool is_hopeless;
    drop_members(fixture, ACTORQ__V1__ROLE__ROLE_REPLAY);
    drop_members(fixture, ACTORQ__V1__ROLE__ROLE_EVALUATOR);
    Actorq__V1__ActorStats *actor = fixture->pointers[0]->actor;
    actor->env_failure = (char[]){"OSError: gone"};
    actor->acknowledged_steps = 7;
    actor->env_failures = 100;
    assert_null(aq_failure_watch_take(&watch, 1, &fixture->reply, 1, &is_hopeless));
    actor->env_failures = 105;
    assert_non_null(aq_failure_watch_take(&watch, 2, &fixture->reply, 1, &is_hopeless));
    assert_false(is_hopeless);
    assert_non_null(
        aq_failure_watch_take(&watch, 61 * AQ_NS_PER_S, &fixture->reply, 1, &is_hopeless));
    assert_true(is_hopeless);
    actor->acknowledged_steps = 8;
    assert_null(aq_failure_watch_take(&watch, 62 * AQ_NS_PER_S, &fixture->reply, 1, &is_hopeless));
    actor->env_failures = 0; /* the actor was started again */
    assert_null(aq_failure_watch_take(&watch, 63 * AQ_NS_PER_S, &fixture->reply, 1, &is_hopeless));
    actor->env_failures = 5;
    assert_non_null(
        aq_failure_watch_take(&watch, 64 * AQ_NS_PER_S, &fixture->reply, 1, &is_hopeless));
    assert_false(is_hopeless);
}
