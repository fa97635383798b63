/*
 * Operations on a running system: settings that change, and members that are asked to leave.
 */
#include "common/wire/wire_run.h"
#include "tests/support/test.h"
#include "tests/unit/learner/service_desk.h"

static const Actorq__V1__HeartbeatReply *beat(service_desk *desk, uint64_t member,
                                              uint64_t incarnation, uint64_t generation)
{
    Actorq__V1__HeartbeatRequest request = desk_heartbeat(member, incarnation);
    request.settings_generation = generation;
    return loopback_ask(&desk->loop, &request.base);
}

TEST_IN(service_desk, desk, a_member_is_told_settings_that_it_has_not)
{
    uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 7);
    assert_null(beat(desk, member, 7, 1)->settings); /* those of the Join */

    desk->settings.config.actor.noise = 0.75;
    aq_learner_service_configured(desk->service);
    assert_int_equal(aq_learner_service_generation(desk->service), 2);
    const Actorq__V1__HeartbeatReply *reply = beat(desk, member, 7, 1);
    assert_int_equal(reply->settings_generation, 2);
    assert_non_null(reply->settings);
    aq_run_settings told;
    assert_int_equal(aq_wire_settings_from(reply->settings, &told, NULL), 0);
    assert_true(told.config.actor.noise == 0.75);

    assert_null(beat(desk, member, 7, 2)->settings);
}

TEST_IN(service_desk, desk, a_member_that_is_drained_hears_it_with_every_heartbeat)
{
    Actorq__V1__DrainRequest request = ACTORQ__V1__DRAIN_REQUEST__INIT;
    uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 7);
    uint64_t other = desk_join(desk, AQ_ROLE_ACTOR, 8);
    request.member = member;
    loopback_ask(&desk->loop, &request.base);
    for (int i = 0; i < 2; i++) {
        assert_true(beat(desk, member, 7, 1)->leave);
    }
    assert_false(beat(desk, other, 8, 1)->leave);
}

TEST_IN(service_desk, desk, nobody_can_be_drained_who_is_not_there)
{
    Actorq__V1__DrainRequest request = ACTORQ__V1__DRAIN_REQUEST__INIT;
    request.member = 99;
    loopback_refuses(&desk->loop, &request.base, AQ_RPC_NOT_FOUND, "member 99 is not in the run");
}

TEST_IN(service_desk, desk, an_owner_that_changes_nothing_says_so)
{
    Actorq__V1__ConfigureRequest request = ACTORQ__V1__CONFIGURE_REQUEST__INIT;
    char assignment[] = "actor.noise=0.1";
    char *assignments[] = {assignment};
    request.n_assignments = 1;
    request.assignments = assignments;
    loopback_refuses(&desk->loop, &request.base, AQ_RPC_UNIMPLEMENTED,
                     "nothing can be changed here"); /* this owner changes nothing */
}
