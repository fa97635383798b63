/*
 * An actor's life in a run: joining, acting, policies, its learner's absence, other runs, refusal
 * and the end. The network is a fake that can be broken; no socket is opened and nobody waits.
 */
#include "common/sys/log.h"
#include "tests/support/test.h"
#include "tests/unit/actor/actor_stage.h"
#include "tests/unit/actor/core_kit.h"
#include "tests/unit/common/sys/stderr_capture.h"

#define ENOUGH (8 * KIT_ENVS)

/* ---- taking part ---------------------------------------------------------------------------- */

TEST_ON_STAGE(it_joins_and_steps_as_far_as_its_credit_goes)
{
    stage_act(stage, 20 * KIT_ENVS, 50);
    assert_int_equal(stage->learner.joins, 1);
    assert_int_equal(stage->learner.join_role, ACTORQ__V1__ROLE__ROLE_ACTOR);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_TAKING_PART);
    assert_int_equal(stage_counters(stage).env_steps, 20 * KIT_ENVS);
    assert_int_equal(stage->shards[0].actor, 7);
    assert_true(stage->shards[0].fresh >= 18 * KIT_ENVS); /* but what is no item yet */
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
    stage_act(stage, 30 * KIT_ENVS, 30);
    assert_int_equal(stage_counters(stage).env_steps, 30 * KIT_ENVS);
    assert_int_equal(stage->shards[0].gaps + stage->shards[0].duplicates, 0);
}

TEST_ON_STAGE(out_of_credit_it_waits_for_something_to_happen)
{
    stage_act(stage, 8 * KIT_ENVS, 90);
    uint32_t calls = stage->shards[0].calls;
    assert_true(aq_actor_session_next_ns(stage->session) > stage->now_ns);
    stage_pass(stage, 400);
    assert_int_equal(stage->shards[0].calls, calls); /* one call is out, and stays out */
}

TEST_ON_STAGE(heartbeats_tell_how_it_goes)
{
    stage_act(stage, 400 * KIT_ENVS, 350);
    assert_int_equal(stage->learner.stats.env_steps, 400 * KIT_ENVS);
    assert_true(stage->learner.stats.episodes > 10);
    assert_true(stage->learner.stats.return_mean > 5.0);
    assert_true(stage->learner.stats.waits_ms > 200);
    assert_true(stage->learner.stats.waits_ms <= 350);
    assert_in_range(stage->learner.heartbeats, 3, 5);
}

TEST_ON_STAGE(a_broadcast_policy_is_adopted)
{
    stage_act(stage, ENOUGH, 20);
    assert_int_equal(stage_counters(stage).policy_version, 0);
    stage_hear_policy(stage, 4);
    stage_pass(stage, 1);
    assert_int_equal(stage_counters(stage).policy_version, 4);
    fake_learner_set_policy(&stage->learner, 6, 0);
    stage_hear(stage, &stage->learner.policy_frame);
    stage_pass(stage, 1);
    assert_int_equal(stage_counters(stage).policy_version, 6);
    assert_int_equal(stage->learner.fetches, 0);
}

TEST_ON_STAGE(versions_only_grow)
{
    stage_act(stage, ENOUGH, 20);
    stage_hear_policy(stage, 6);
    stage_pass(stage, 1);
    stage_hear_policy(stage, 5);
    stage_pass(stage, 1);
    assert_int_equal(stage_counters(stage).policy_version, 6);
}

TEST_ON_STAGE(one_that_comes_late_fetches_its_first_policy_at_once)
{
    stage->shards[0].granted = ENOUGH;
    fake_learner_set_policy(&stage->learner, 9, 1);
    stage_pass(stage, 30);
    assert_int_equal(stage->learner.fetches, 1);
    assert_int_equal(stage->passes, 1);
    assert_int_equal(stage_counters(stage).policy_version, 9);
    stage_pass(stage, 3000);
    assert_int_equal(stage->learner.fetches, 1);
}

TEST_ON_STAGE(a_lost_broadcast_is_fetched_after_a_second)
{
    stage_act(stage, ENOUGH, 20);
    stage_hear_policy(stage, 3);
    stage_pass(stage, 200);
    fake_learner_set_policy(&stage->learner, 4, 1); /* nobody hears it, but the next heartbeat */
    stage_pass(stage, 1000);
    assert_int_equal(stage->learner.fetches, 0);
    stage_pass(stage, 150);
    assert_int_equal(stage->learner.fetches, 1);
    assert_int_equal(stage_counters(stage).policy_version, 4);
}

TEST_ON_STAGE(a_bad_broadcast_is_counted_and_the_newest_fetched_at_once)
{
    stage_act(stage, ENOUGH, 20);
    stage_hear_policy(stage, 3);
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

TEST_ON_STAGE(fetching_that_does_not_help_becomes_rare)
{
    stage->shards[0].granted = ENOUGH;
    stage->learner.version = 5; /* says so, and has none */
    stage_pass(stage, 20000);
    assert_in_range(stage->learner.fetches, 3, 6); /* after 0, 1, 3, 7, 15 s */
}

TEST_ON_STAGE(a_policy_of_another_run_is_not_adopted)
{
    stage_act(stage, ENOUGH, 20);
    stage->learner.run_id = KIT_RUN + 1;
    fake_learner_set_policy(&stage->learner, 4, 1);
    stage->learner.run_id = KIT_RUN;
    stage->learner.version = 0;
    stage_hear(stage, &stage->learner.policy_frame);
    stage_pass(stage, 5);
    assert_int_equal(stage_counters(stage).policy_version, 0);
}

TEST_ON_STAGE(listening_that_fails_is_tried_again)
{
    stage->cannot_listen = true;
    stage_act(stage, ENOUGH, 250);
    assert_in_range(stage->listens, 2, 4);
    assert_true(stage_counters(stage).env_steps > 0); /* it acts all the same */
    stage->cannot_listen = false;
    stage_pass(stage, 110);
    assert_non_null(stage->feed);
    assert_string_equal(stage->policy_url, "inproc://policy");
}

/* ---- its learner ---------------------------------------------------------------------------- */

TEST_ON_STAGE(without_its_learner_it_goes_on_acting)
{
    stage_act(stage, 8 * KIT_ENVS, 50);
    stage->learner_wire.is_cut = true;
    stage_pass(stage, 500);
    stage_act(stage, 64 * KIT_ENVS, 500);
    assert_int_equal(stage_counters(stage).env_steps, 64 * KIT_ENVS);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_TAKING_PART);
}

TEST_ON_STAGE(a_learner_that_comes_back_finds_it_with_its_work)
{
    stage_act(stage, 64 * KIT_ENVS, 50);
    stage_hear_policy(stage, 3);
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
    stage_act(stage, 128 * KIT_ENVS, 50);
    assert_int_equal(stage->shards[0].actor, 7); /* the shard knows it by that */
    assert_int_equal(stage->shards[0].gaps + stage->shards[0].duplicates, 0);
    assert_int_equal(stage_counters(stage).policy_version, 3);
}

TEST_ON_STAGE(another_run_is_begun_from_nothing)
{
    stage_act(stage, 64 * KIT_ENVS, 50);
    stage_hear_policy(stage, 3);
    stage_pass(stage, 50);
    assert_int_equal(stage_counters(stage).policy_version, 3);
    stage->learner.run_id = KIT_RUN + 1;
    stage->learner.has_forgotten = true;
    stage->learner.member = 8;
    stage->learner.version = 0;
    aq_buffer_clear(&stage->learner.policy_frame);
    stage->shards[0].run_id = KIT_RUN + 1;
    stage_kill_shard(stage, 0);
    stage_act(stage, 16 * KIT_ENVS, 500);
    assert_int_equal(stage->learner.joins, 2);
    assert_int_equal(stage->learner.join_version, 3); /* of the run that it was in */
    assert_int_equal(stage_counters(stage).env_steps, 16 * KIT_ENVS);
    assert_int_equal(stage_counters(stage).policy_version, 0);
    assert_int_equal(stage->shards[0].actor, 8);
    assert_int_equal(stage->unlistens, 1);
}

TEST_ON_STAGE(the_same_run_under_other_settings_is_begun_anew_as_somebody_else)
{
    stage_act(stage, 64 * KIT_ENVS, 100);
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

TEST_ON_STAGE(a_learner_that_is_not_there_yet_is_waited_for)
{
    stage->learner_wire.is_cut = true;
    stage_act(stage, 8 * KIT_ENVS, 3000);
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

TEST_ON_STAGE(being_refused_is_the_end_with_failure)
{
    stage->learner.refuse_join = AQ_RPC_FAILED_PRECONDITION;
    stage_pass(stage, 10);
    assert_done(stage, EXIT_FAILURE);
    assert_int_equal(stage->learner.leaves, 0);
}

/* Else the learner would keep a member that nobody is. */
TEST_ON_STAGE(who_refuses_the_answer_to_its_join_leaves)
{
    stage->learner.state = ACTORQ__V1__RUN_STATE__RUN_STATE_UNKNOWN;
    stage_pass(stage, 10);
    assert_done(stage, EXIT_FAILURE);
    assert_int_equal(stage->learner.leaves, 1);
}

TEST_ON_STAGE(a_task_that_is_not_in_this_build_is_the_end_with_failure)
{
    strcpy(stage->learner.settings.task, "gym:Nothing");
    stage_pass(stage, 10);
    assert_done(stage, EXIT_FAILURE);
    assert_int_equal(stage->learner.leaves, 1);
}

TEST(a_run_that_could_not_be_begun_leaves_no_core)
{
    enum { ALLOCATIONS = 200 }; /* more than it takes to join */
    uint32_t refused = 0;
    for (uint64_t nth = 1; nth <= ALLOCATIONS; nth++) {
        actor_stage *stage = stage_open();
        aq_memory_fail_at(nth, 0);
        stage_pass(stage, 5);
        aq_memory_fail_at(0, 0);
        if (stage_phase(stage) == AQ_PARTICIPANT_DONE) {
            assert_null(aq_actor_session_core(stage->session));
            refused++;
        }
        stage_close(stage);
    }
    assert_true(refused > 0);
}

TEST_ON_STAGE(stopping_sends_what_is_open_and_leaves)
{
    stage_act(stage, 20 * KIT_ENVS + 1, 10);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, 10);
    assert_done(stage, EXIT_SUCCESS);
    assert_int_equal(stage->learner.leaves, 1);
    assert_true(stage->shards[0].fresh >= 18 * KIT_ENVS);
    assert_int_equal(stage_counters(stage).unacknowledged, 0);
}

TEST_ON_STAGE(stopping_does_not_wait_for_a_dead_shard_for_ever)
{
    stage->shards[0].granted = 20 * KIT_ENVS;
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 50);
    stage_sever(stage, 0);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, AQ_FINISH_AWAY_MS - 10);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_FINISHING);
    assert_true(aq_actor_session_next_ns(stage->session) <= stage->now_ns + 20 * AQ_NS_PER_MS);
    stage_pass(stage, 20);
    assert_done(stage, EXIT_SUCCESS);
    assert_int_equal(stage->learner.leaves, 1);
}

TEST_ON_STAGE(asking_twice_leaves_at_once)
{
    stage->shards[0].granted = 20 * KIT_ENVS;
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 50);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, 10);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_FINISHING);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, 5);
    assert_done(stage, EXIT_SUCCESS);
}

/* Who reads the log until then has it all. */
TEST_ON_STAGE(that_it_has_left_is_its_last_line)
{
    char log[4096];
    stage->shards[0].granted = 20 * KIT_ENVS;
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 50);
    stderr_capture_begin();
    aq_log_set_level(AQ_LOG_INFO);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, 10);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, 5);
    aq_log_set_level(AQ_LOG_OFF);
    stderr_capture_end(log, sizeof(log));
    assert_done(stage, EXIT_SUCCESS);
    const char *given_up = strstr(log, "event=given_up");
    const char *left = strstr(log, "event=left");
    assert_non_null(given_up);
    assert_non_null(left);
    assert_true(given_up < left);
    assert_null(strstr(given_up + 1, "event=given_up"));
    assert_null(strstr(left, "\nts="));
}

TEST_ON_STAGE(stopping_before_joining_is_the_end)
{
    stage->learner_wire.is_cut = true;
    stage_pass(stage, 100);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGINT");
    stage_pass(stage, AQ_LEAVE_MS_MAX + 10);
    assert_done(stage, EXIT_SUCCESS);
}

TEST_ON_STAGE(a_learner_that_does_not_answer_leave_is_not_waited_for)
{
    stage_pass(stage, 50);
    stage->learner_wire.is_cut = true; /* calls time out */
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, AQ_LEAVE_MS_MAX + 50);
    assert_done(stage, EXIT_SUCCESS);
}

TEST_ON_STAGE(when_the_run_ends_it_finishes_and_leaves)
{
    stage_act(stage, 20 * KIT_ENVS, 50);
    stage->learner.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    stage_pass(stage, 150);
    assert_done(stage, EXIT_SUCCESS);
    assert_true(stage->shards[0].fresh >= 18 * KIT_ENVS);
    assert_int_equal(stage->learner.leaves, 1);
}

TEST_ON_STAGE(when_the_run_ends_it_does_not_wait_for_a_shard_that_is_gone)
{
    stage->shards[0].granted = 20 * KIT_ENVS;
    stage->ways[0].is_lossy = true;
    stage_pass(stage, 50);
    stage_sever(stage, 0);
    aq_participant_stop(aq_actor_session_participant(stage->session), "SIGTERM");
    stage_pass(stage, 10);
    assert_int_equal(stage_phase(stage), AQ_PARTICIPANT_FINISHING);
    stage->learner.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    stage_pass(stage, 150);
    assert_done(stage, EXIT_SUCCESS);
    assert_int_equal(stage->learner.leaves, 1);
}

TEST_ON_STAGE(joining_a_run_that_has_ended_is_the_end)
{
    stage->learner.state = ACTORQ__V1__RUN_STATE__RUN_STATE_BUDGET;
    stage_pass(stage, 50);
    assert_done(stage, EXIT_SUCCESS);
    assert_int_equal(stage->learner.leaves, 1);
    assert_null(aq_actor_session_core(stage->session));
}

TEST_ON_STAGE(create_survives_every_failed_allocation_and_destroy_takes_null)
{
    const aq_actor_session_config config = {
        .common = {.identity = {.role = AQ_ROLE_ACTOR, .incarnation = 1}}};
    aq_actor_session *session = NULL;
    assert_made_despite_failures(
        session, aq_actor_session_create(&stage->learner_wire.channel, &config, &session));
    aq_actor_session_destroy(session);
    aq_actor_session_destroy(NULL);
}
