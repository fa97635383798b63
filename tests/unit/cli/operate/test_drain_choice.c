/*
 * Whom a name on the command line means, and what is said when it means nobody.
 */
#include "cli/operate/drain_choice.h"
#include "tests/support/test.h"

static Actorq__V1__MemberStatus members[3];
static Actorq__V1__MemberStatus *pointers[3] = {&members[0], &members[1], &members[2]};
static Actorq__V1__LearnerStatus learner;
static Actorq__V1__StatusReply run;

/* Two actors, 11 and 12, and a shard, 10. */
static int make_run(void **state)
{
    (void)state;
    static const Actorq__V1__Role roles[] = {
        ACTORQ__V1__ROLE__ROLE_REPLAY, ACTORQ__V1__ROLE__ROLE_ACTOR, ACTORQ__V1__ROLE__ROLE_ACTOR};
    actorq__v1__status_reply__init(&run);
    actorq__v1__learner_status__init(&learner);
    for (uint32_t i = 0; i < 3; i++) {
        actorq__v1__member_status__init(&members[i]);
        members[i].member = 10 + i;
        members[i].role = roles[i];
        members[i].slot = i > 0 ? i - 1 : 0;
    }
    run.learner = &learner;
    run.n_members = 3;
    run.members = pointers;
    return 0;
}

static void expect(const char *name, size_t count, uint64_t first)
{
    aq_drain_choice choice;
    assert_succeeds(aq_drain_choice_make(&choice, name, &run, &refusal));
    assert_int_equal(choice.count, count);
    assert_int_equal(choice.members[0].member, first);
    aq_drain_choice_fini(&choice);
}

TEST_WITH(one_is_meant_by_its_name_or_number_and_many_by_their_role, make_run, NULL)
{
    expect("actor-1", 1, 12);
    expect("replay-0", 1, 10);
    expect("11", 1, 11);
    expect("actor", 2, 11);
}

static void expect_refusal(const char *name, int code, const char *word)
{
    aq_drain_choice choice;
    assert_refused(aq_drain_choice_make(&choice, name, &run, &refusal), code, word);
    aq_drain_choice_fini(&choice);
}

TEST_WITH(nobody_is_meant_by_another_name_and_those_there_are_are_listed, make_run, NULL)
{
    expect_refusal("actor-7", AQ_E_NOT_FOUND, "in the run: replay-0, actor-0, actor-1");
    expect_refusal("0", AQ_E_NOT_FOUND, "'0' is not in the run");
    run.n_members = 0;
    expect_refusal("actor", AQ_E_NOT_FOUND, "in the run: nobody");
}

TEST_WITH(a_shard_alone_has_nobody_to_drain, make_run, NULL)
{
    run.learner = NULL;
    expect_refusal("actor", AQ_E_INVALID, "no learner");
}

TEST_WITH(those_that_are_left_are_counted, make_run, NULL)
{
    aq_drain_choice choice;
    assert_int_equal(aq_drain_choice_make(&choice, "actor", &run, NULL), 0);
    assert_int_equal(aq_drain_choice_left(&choice, &run), 2);
    run.n_members = 2;
    assert_int_equal(aq_drain_choice_left(&choice, &run), 1);
    run.n_members = 1;
    assert_int_equal(aq_drain_choice_left(&choice, &run), 0);
    aq_drain_choice_fini(&choice);
}
