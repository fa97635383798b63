/*
 * An actor's life in a run: joining, acting, policies, its learner's absence, other runs, refusal
 * and the end. The network is a fake that can be broken; no socket is opened and nobody waits.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/sys/log.h"
#include "common/wire/wire_policy.h"
#include "tests/support/test.h"
#include "tests/unit/actor/actor_stage.h"
#include "tests/unit/actor/core_kit.h"

#define ENOUGH (8 * KIT_ENVS)

static int set_up(void **state)
{
    aq_log_set_level(AQ_LOG_OFF);
    *state = stage_open();
    return 0;
}

static int tear_down(void **state)
{
    stage_close(*state);
    return 0;
}

/* ---- taking part ---------------------------------------------------------------------------- */

TEST_WITH(it_joins_and_steps_as_far_as_its_credit_goes, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 20 * KIT_ENVS;
    stage_pass(stage, 50);
    assert_int_equal(stage->learner.joins, 1);
    assert_int_equal(stage->learner.join_role, ACTORQ__V1__ROLE__ROLE_ACTOR);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_TAKING_PART);
    assert_int_equal(stage_counters(stage).env_steps, 20 * KIT_ENVS);
    assert_int_equal(stage->shards[0].actor, 7);
    assert_true(stage->shards[0].fresh >= 18 * KIT_ENVS); /* but what is no item yet */
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    stage->shards[0].granted = 30 * KIT_ENVS;
    stage_pass(stage, 30);
    assert_int_equal(stage_counters(stage).env_steps, 30 * KIT_ENVS);
    assert_int_equal(stage->shards[0].gaps + stage->shards[0].duplicates, 0);
}

TEST_WITH(out_of_credit_it_waits_for_something_to_happen, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 8 * KIT_ENVS;
    stage_pass(stage, 90);
    uint32_t calls = stage->shards[0].calls;
    assert_true(aq_actor_session_next_ns(stage->session) > stage->now_ns);
    stage_pass(stage, 400);
    assert_int_equal(stage->shards[0].calls, calls); /* one call is out, and stays out */
}

TEST_WITH(heartbeats_tell_how_it_goes, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 400 * KIT_ENVS;
    stage_pass(stage, 350);
    assert_int_equal(stage->learner.stats.env_steps, 400 * KIT_ENVS);
    assert_true(stage->learner.stats.episodes > 10);
    assert_true(stage->learner.stats.return_mean > 5.0);
    assert_true(stage->learner.stats.waits_ms > 200);
    assert_true(stage->learner.stats.waits_ms <= 350);
    assert_true(stage->learner.heartbeats >= 3);
    assert_true(stage->learner.heartbeats <= 5);
}

TEST_WITH(a_broadcast_policy_is_adopted, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = ENOUGH;
    stage_pass(stage, 20);
    assert_int_equal(stage_counters(stage).policy_version, 0);
    fake_learner_set_policy(&stage->learner, 4, 1);
    stage_hear(stage, &stage->learner.policy_frame);
    stage_pass(stage, 1);
    assert_int_equal(stage_counters(stage).policy_version, 4);
    fake_learner_set_policy(&stage->learner, 6, 0);
    stage_hear(stage, &stage->learner.policy_frame);
    stage_pass(stage, 1);
    assert_int_equal(stage_counters(stage).policy_version, 6);
    assert_int_equal(stage->learner.fetches, 0);
}

TEST_WITH(versions_only_grow, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = ENOUGH;
    stage_pass(stage, 20);
    fake_learner_set_policy(&stage->learner, 6, 1);
    stage_hear(stage, &stage->learner.policy_frame);
    stage_pass(stage, 1);
    fake_learner_set_policy(&stage->learner, 5, 1);
    stage_hear(stage, &stage->learner.policy_frame);
    stage_pass(stage, 1);
    assert_int_equal(stage_counters(stage).policy_version, 6);
}

TEST_WITH(one_that_comes_late_fetches_its_first_policy, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = ENOUGH;
    fake_learner_set_policy(&stage->learner, 9, 1);
    stage_pass(stage, 130);
    assert_int_equal(stage->learner.fetches, 1);
    assert_int_equal(stage->passes, 1);
    assert_int_equal(stage_counters(stage).policy_version, 9);
    stage_pass(stage, 3000);
    assert_int_equal(stage->learner.fetches, 1);
}

TEST_WITH(a_lost_broadcast_is_fetched_after_a_second, set_up, tear_down)
{
    actor_stage *stage = *state;
    aq_buffer announcement;
    stage->shards[0].granted = ENOUGH;
    stage_pass(stage, 20);
    fake_learner_set_policy(&stage->learner, 3, 1);
    stage_hear(stage, &stage->learner.policy_frame);
    stage_pass(stage, 200);
    fake_learner_set_policy(&stage->learner, 4, 1); /* nobody hears it … */
    aq_buffer_init(&announcement, 1000);
    assert_int_equal(aq_wire_announce_pack(KIT_RUN, 4, &announcement), 0);
    stage_hear(stage, &announcement); /* … but this */
    stage_pass(stage, 900);
    assert_int_equal(stage->learner.fetches, 0);
    stage_pass(stage, 150);
    assert_int_equal(stage->learner.fetches, 1);
    assert_int_equal(stage_counters(stage).policy_version, 4);
    aq_buffer_fini(&announcement);
}

TEST_WITH(a_bad_broadcast_is_counted_and_the_newest_fetched_at_once, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = ENOUGH;
    stage_pass(stage, 20);
    fake_learner_set_policy(&stage->learner, 3, 1);
    stage_hear(stage, &stage->learner.policy_frame);
    stage_pass(stage, 50);
    fake_learner_set_policy(&stage->learner, 4, 1);
    stage->learner.policy_frame.data[stage->learner.policy_frame.size / 2] ^= 1;
    stage_hear(stage, &stage->learner.policy_frame);
    stage->learner.policy_frame.data[stage->learner.policy_frame.size / 2] ^= 1;
    stage_pass(stage, 3);
    assert_int_equal(stage->learner.fetches, 1);
    assert_int_equal(stage_counters(stage).policy_version, 4);
    stage_pass(stage, 200);
    assert_int_equal(stage->learner.stats.rejected_policies, 1);
}

TEST_WITH(fetching_that_does_not_help_becomes_rare, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = ENOUGH;
    stage->learner.version = 5; /* says so, and has none */
    stage_pass(stage, 20000);
    assert_true(stage->learner.fetches >= 3);
    assert_true(stage->learner.fetches <= 6); /* after 0, 1, 3, 7, 15 s */
}

TEST_WITH(a_policy_of_another_run_is_not_adopted, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = ENOUGH;
    stage_pass(stage, 20);
    stage->learner.run_id = KIT_RUN + 1;
    fake_learner_set_policy(&stage->learner, 4, 1);
    stage->learner.run_id = KIT_RUN;
    stage->learner.version = 0;
    stage_hear(stage, &stage->learner.policy_frame);
    stage_pass(stage, 5);
    assert_int_equal(stage_counters(stage).policy_version, 0);
}

TEST_WITH(listening_that_fails_is_tried_again, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->cannot_listen = true;
    stage->shards[0].granted = ENOUGH;
    stage_pass(stage, 250);
    assert_true(stage->listens >= 2);
    assert_true(stage->listens <= 4);
    assert_true(stage_counters(stage).env_steps > 0); /* it acts all the same */
    stage->cannot_listen = false;
    stage_pass(stage, 110);
    assert_non_null(stage->feed);
    assert_string_equal(stage->policy_url, "inproc://policy");
}

/* ---- its learner ---------------------------------------------------------------------------- */

TEST_WITH(without_its_learner_it_goes_on_acting, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 8 * KIT_ENVS;
    stage_pass(stage, 50);
    stage->learner_wire.is_cut = true;
    stage_pass(stage, 500);
    stage->shards[0].granted = 64 * KIT_ENVS;
    stage_pass(stage, 500);
    assert_int_equal(stage_counters(stage).env_steps, 64 * KIT_ENVS);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_TAKING_PART);
}

TEST_WITH(a_learner_that_comes_back_finds_it_with_its_work, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 64 * KIT_ENVS;
    stage_pass(stage, 50);
    fake_learner_set_policy(&stage->learner, 3, 1);
    stage_hear(stage, &stage->learner.policy_frame);
    stage_pass(stage, 50);
    stage->learner_wire.is_cut = true;
    stage_pass(stage, 300);
    stage->learner_wire.is_cut = false;
    stage->learner.has_forgotten = true;
    stage->learner.member = 31; /* numbers start anew */
    strcpy(stage->learner.policy_url, "inproc://policy-again");
    stage->learner.settings.config.actor.epsilon_base = 0.5; /* followed; nothing begins anew */
    stage_pass(stage, 500);
    assert_int_equal(stage->learner.joins, 2);
    assert_int_equal(stage->learner.join_version, 3);
    assert_int_equal(stage_counters(stage).env_steps, 64 * KIT_ENVS);
    assert_string_equal(stage->policy_url, "inproc://policy-again");
    stage->shards[0].granted = 128 * KIT_ENVS;
    stage_pass(stage, 50);
    assert_int_equal(stage->shards[0].actor, 7); /* the shard knows it by that */
    assert_int_equal(stage->shards[0].gaps + stage->shards[0].duplicates, 0);
    assert_int_equal(stage_counters(stage).policy_version, 3);
}

TEST_WITH(another_run_is_begun_from_nothing, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 64 * KIT_ENVS;
    stage_pass(stage, 50);
    fake_learner_set_policy(&stage->learner, 3, 1);
    stage_hear(stage, &stage->learner.policy_frame);
    stage_pass(stage, 50);
    assert_int_equal(stage_counters(stage).policy_version, 3);
    stage->learner.run_id = KIT_RUN + 1;
    stage->learner.has_forgotten = true;
    stage->learner.member = 8;
    stage->learner.version = 0;
    aq_buffer_clear(&stage->learner.policy_frame);
    stage->shards[0].run_id = KIT_RUN + 1;
    stage_kill_shard(stage, 0);
    stage->shards[0].granted = 16 * KIT_ENVS;
    stage_pass(stage, 500);
    assert_int_equal(stage->learner.joins, 2);
    assert_int_equal(stage->learner.join_version, 3); /* of the run that it was in */
    assert_int_equal(stage_counters(stage).env_steps, 16 * KIT_ENVS);
    assert_int_equal(stage_counters(stage).policy_version, 0);
    assert_int_equal(stage->shards[0].actor, 8);
    assert_int_equal(stage->unlistens, 1);
}

TEST_WITH(the_same_run_under_other_settings_is_begun_anew_as_somebody_else, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 64 * KIT_ENVS;
    stage_pass(stage, 100);
    uint64_t fresh = stage->shards[0].fresh;
    uint64_t incarnation = stage->shards[0].actor_incarnation;
    stage->learner.settings.config.actor.flush_ms += 1;
    stage->learner.has_forgotten = true;
    stage_pass(stage, 300);
    assert_int_equal(stage->learner.joins, 2);
    assert_int_not_equal(stage->shards[0].actor_incarnation, incarnation);
    assert_int_equal(stage_counters(stage).env_steps, 64 * KIT_ENVS); /* granted anew */
    assert_true(stage->shards[0].fresh > fresh);
    assert_int_equal(stage->shards[0].gaps + stage->shards[0].duplicates, 0);
}

TEST_WITH(a_learner_that_is_not_there_yet_is_waited_for, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->learner_wire.is_cut = true;
    stage->shards[0].granted = 8 * KIT_ENVS;
    stage_pass(stage, 3000);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_JOINING);
    assert_null(aq_actor_session_core(stage->session));
    stage->learner_wire.is_cut = false;
    stage_pass(stage, 2500);
    assert_int_equal(stage_counters(stage).env_steps, 8 * KIT_ENVS);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void assert_done(const actor_stage *stage, int exit_code)
{
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_DONE);
    assert_int_equal(aq_participant_exit_code(aq_actor_session_participant(stage->session)),
                     exit_code);
}

TEST_WITH(being_refused_is_the_end_with_failure, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->learner.refuse_join = AQ_RPC_FAILED_PRECONDITION;
    stage_pass(stage, 10);
    assert_done(stage, EXIT_FAILURE);
    assert_int_equal(stage->learner.leaves, 0);
}

TEST_WITH(a_task_that_is_not_in_this_build_is_the_end_with_failure, set_up, tear_down)
{
    actor_stage *stage = *state;
    strcpy(stage->learner.settings.task, "gym:Nothing");
    stage_pass(stage, 10);
    assert_done(stage, EXIT_FAILURE);
    assert_int_equal(stage->learner.leaves, 1);
}

TEST_WITH(stopping_sends_what_is_open_and_leaves, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 20 * KIT_ENVS + 1;
    stage_pass(stage, 10);
    aq_actor_session_stop(stage->session, "SIGTERM");
    stage_pass(stage, 10);
    assert_done(stage, EXIT_SUCCESS);
    assert_int_equal(stage->learner.leaves, 1);
    assert_true(stage->shards[0].fresh >= 18 * KIT_ENVS);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
}

TEST_WITH(stopping_does_not_wait_for_a_dead_shard_for_ever, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 20 * KIT_ENVS;
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 50);
    stage->ways[0].is_severed = true;
    stage_break(stage, 0);
    aq_actor_session_stop(stage->session, "SIGTERM");
    stage_pass(stage, AQ_FINISH_AWAY_MS - 10);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_FINISHING);
    assert_true(aq_actor_session_next_ns(stage->session) <= stage->now_ns + 20 * AQ_NS_PER_MS);
    stage_pass(stage, 20);
    assert_done(stage, EXIT_SUCCESS);
    assert_int_equal(stage->learner.leaves, 1);
}

TEST_WITH(asking_twice_leaves_at_once, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 20 * KIT_ENVS;
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 50);
    aq_actor_session_stop(stage->session, "SIGTERM");
    stage_pass(stage, 10);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_FINISHING);
    aq_actor_session_stop(stage->session, "SIGTERM");
    stage_pass(stage, 5);
    assert_done(stage, EXIT_SUCCESS);
}

TEST_WITH(stopping_before_joining_is_the_end, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->learner_wire.is_cut = true;
    stage_pass(stage, 100);
    aq_actor_session_stop(stage->session, "SIGINT");
    stage_pass(stage, AQ_LEAVE_MS_MAX + 10);
    assert_done(stage, EXIT_SUCCESS);
}

TEST_WITH(a_learner_that_does_not_answer_leave_is_not_waited_for, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage_pass(stage, 50);
    stage->learner_wire.is_cut = true; /* calls time out */
    aq_actor_session_stop(stage->session, "SIGTERM");
    stage_pass(stage, AQ_LEAVE_MS_MAX + 50);
    assert_done(stage, EXIT_SUCCESS);
}

TEST_WITH(when_the_run_ends_it_finishes_and_leaves, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 20 * KIT_ENVS;
    stage_pass(stage, 50);
    stage->learner.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    stage_pass(stage, 150);
    assert_done(stage, EXIT_SUCCESS);
    assert_true(stage->shards[0].fresh >= 18 * KIT_ENVS);
    assert_int_equal(stage->learner.leaves, 1);
}

TEST_WITH(when_the_run_ends_it_does_not_wait_for_a_shard_that_is_gone, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->shards[0].granted = 20 * KIT_ENVS;
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 50);
    stage->ways[0].is_severed = true;
    stage_break(stage, 0);
    aq_actor_session_stop(stage->session, "SIGTERM");
    stage_pass(stage, 10);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_FINISHING);
    stage->learner.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    stage_pass(stage, 150);
    assert_done(stage, EXIT_SUCCESS);
    assert_int_equal(stage->learner.leaves, 1);
}

TEST_WITH(joining_a_run_that_has_ended_is_the_end, set_up, tear_down)
{
    actor_stage *stage = *state;
    stage->learner.state = ACTORQ__V1__RUN_STATE__RUN_STATE_BUDGET;
    stage_pass(stage, 50);
    assert_done(stage, EXIT_SUCCESS);
    assert_int_equal(stage->learner.leaves, 1);
    assert_null(aq_actor_session_core(stage->session));
}

TEST_WITH(create_survives_every_failed_allocation, set_up, tear_down)
{
    actor_stage *stage = *state;
    const aq_actor_session_config config = {.identity = {.role = AQ_ROLE_ACTOR, .incarnation = 1}};
    aq_actor_session *untouched = stage->session;
    for (uint64_t nth = 1;; nth++) {
        aq_actor_session *session = untouched;
        aq_memory_fail_at(nth, 0);
        int rc = aq_actor_session_create(&stage->learner_wire.channel, &config, &session);
        aq_memory_fail_at(0, 0);
        if (rc == 0) {
            assert_true(nth > 4);
            aq_actor_session_destroy(session);
            return;
        }
        assert_int_equal(rc, AQ_E_NOMEM);
        assert_ptr_equal(session, untouched);
    }
}

TEST_WITH(destroy_takes_null, set_up, tear_down)
{
    aq_actor_session_destroy(NULL);
}
