/*
 * Operations on a running system: settings that change, and members that are asked to leave.
 */
#include "common/wire/wire_run.h"
#include "tests/support/test.h"
#include "tests/unit/learner/service_desk.h"

/* The answer's copy is the caller's to free. */
static const Actorq__V1__HeartbeatReply *beat(service_desk *desk, uint64_t member,
                                              uint64_t incarnation, uint64_t generation,
                                              desk_answer *answer)
{
    Actorq__V1__HeartbeatRequest request = ACTORQ__V1__HEARTBEAT_REQUEST__INIT;
    request.run_id = KIT_RUN_ID;
    request.member = member;
    request.incarnation = incarnation;
    request.settings_generation = generation;
    desk_call(desk, &desk->membership, "Heartbeat", &request.base, answer);
    assert_int_equal(answer->status.code, AQ_RPC_OK);
    return (const Actorq__V1__HeartbeatReply *)(const void *)answer->reply;
}

TEST_WITH(a_member_is_told_settings_that_it_has_not, service_desk_setup, service_desk_teardown)
{
    service_desk *desk = *state;
    desk_answer answer;
    uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 7);
    assert_null(beat(desk, member, 7, 1, &answer)->settings); /* those of the Join */
    desk_answer_fini(&answer);

    desk->settings.config.actor.noise = 0.75;
    assert_int_equal(aq_learner_service_configured(desk->service), 2);
    const Actorq__V1__HeartbeatReply *reply = beat(desk, member, 7, 1, &answer);
    assert_int_equal(reply->settings_generation, 2);
    assert_non_null(reply->settings);
    aq_run_settings told;
    assert_int_equal(aq_wire_settings_from(reply->settings, &told, NULL), 0);
    assert_true(told.config.actor.noise == 0.75);
    desk_answer_fini(&answer);

    assert_null(beat(desk, member, 7, 2, &answer)->settings);
    desk_answer_fini(&answer);
}

TEST_WITH(a_member_that_is_drained_hears_it_with_every_heartbeat, service_desk_setup,
          service_desk_teardown)
{
    service_desk *desk = *state;
    Actorq__V1__DrainRequest request = ACTORQ__V1__DRAIN_REQUEST__INIT;
    desk_answer answer;
    uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 7);
    uint64_t other = desk_join(desk, AQ_ROLE_ACTOR, 8);
    request.member = member;
    desk_call(desk, &desk->operations, "Drain", &request.base, &answer);
    assert_int_equal(answer.status.code, AQ_RPC_OK);
    desk_answer_fini(&answer);
    for (int i = 0; i < 2; i++) {
        assert_true(beat(desk, member, 7, 1, &answer)->leave);
        desk_answer_fini(&answer);
    }
    assert_false(beat(desk, other, 8, 1, &answer)->leave);
    desk_answer_fini(&answer);
}

TEST_WITH(nobody_can_be_drained_who_is_not_there, service_desk_setup, service_desk_teardown)
{
    service_desk *desk = *state;
    Actorq__V1__DrainRequest request = ACTORQ__V1__DRAIN_REQUEST__INIT;
    request.member = 99;
    desk_expect_failure(desk, &desk->operations, "Drain", &request.base, AQ_RPC_NOT_FOUND,
                        "member 99 is not in the run");
}

TEST_WITH(an_owner_that_changes_nothing_says_so, service_desk_setup, service_desk_teardown)
{
    service_desk *desk = *state;
    Actorq__V1__ConfigureRequest request = ACTORQ__V1__CONFIGURE_REQUEST__INIT;
    char assignment[] = "actor.noise=0.1";
    char *assignments[] = {assignment};
    request.n_assignments = 1;
    request.assignments = assignments;
    desk_expect_failure(desk, &desk->operations, "Configure", &request.base, AQ_RPC_UNIMPLEMENTED,
                        "nothing can be changed here"); /* this owner changes nothing */
}
