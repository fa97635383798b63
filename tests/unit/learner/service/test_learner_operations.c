/*
 * Fetching the policy, and operations: status, stop and checkpoint.
 */
#include "common/net/security/incarnation.h"
#include "common/wire/wire_policy.h"
#include "learner/service/learner_service_priv.h"
#include "tests/support/test.h"
#include "tests/unit/learner/service_desk.h"

/* ---- Fetch --------------------------------------------------------------------------------- */

static Actorq__V1__FetchPolicyRequest fetch_request(uint64_t run_id, uint64_t version,
                                                    uint32_t format)
{
    Actorq__V1__FetchPolicyRequest request = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;
    request.run_id = run_id;
    request.version = version;
    request.format = format;
    return request;
}

static ProtobufCBinaryData fetch(service_desk *desk, uint64_t run_id, uint64_t version,
                                 uint32_t format)
{
    const Actorq__V1__FetchPolicyRequest request = fetch_request(run_id, version, format);
    const Actorq__V1__FetchPolicyReply *reply = loopback_ask(&desk->loop, &request.base);
    return reply->frame;
}

static void expect_no_policy(service_desk *desk, uint64_t run_id, uint32_t format,
                             enum aq_rpc_code code, const char *word)
{
    const Actorq__V1__FetchPolicyRequest request = fetch_request(run_id, 0, format);
    loopback_refuses(&desk->loop, &request.base, code, word);
}

TEST_IN(service_desk, desk, before_the_first_version_there_is_none)
{
    expect_no_policy(desk, KIT_RUN_ID, 0, AQ_RPC_NOT_FOUND, "no policy");
    expect_no_policy(desk, 0, 0, AQ_RPC_NOT_FOUND, "no policy");
}

TEST_IN(service_desk, desk, the_policy_of_another_run_is_not_had_here)
{
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    expect_no_policy(desk, KIT_RUN_ID + 1, 0, AQ_RPC_FAILED_PRECONDITION, "1122334455667789");
}

TEST_IN(service_desk, desk, a_format_that_there_is_not_is_refused)
{
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    expect_no_policy(desk, 0, 2, AQ_RPC_INVALID_ARGUMENT, "format 2");
    expect_no_policy(desk, 0, UINT32_MAX, AQ_RPC_INVALID_ARGUMENT, "format 4294967295");
}

TEST_IN(service_desk, desk, the_newest_version_is_had_as_it_was_broadcast)
{
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    desk_publish(desk, 4, AQ_FORMAT_INT8_CHANNEL);
    const ProtobufCBinaryData frame = fetch(desk, KIT_RUN_ID, 0, 0);
    const aq_publication *newest = aq_policy_shelf_newest(desk->shelf);
    assert_int_equal(newest->snapshot->version, 4);
    assert_int_equal(frame.len, newest->frame.size);
    assert_memory_equal(frame.data, newest->frame.data, frame.len);
}

TEST_IN(service_desk, desk, the_same_version_is_had_in_fp32)
{
    aq_snapshot *read = NULL;
    desk_publish(desk, 4, AQ_FORMAT_INT8_CHANNEL);
    const ProtobufCBinaryData frame = fetch(desk, 0, 0, AQ_FORMAT_F32);
    assert_int_equal(frame.len, aq_policy_shelf_newest(desk->shelf)->frame_bytes_fp32);
    assert_int_equal(aq_wire_policy_unpack(frame.data, frame.len, &read, NULL), 0);
    assert_int_equal(read->version, 4);
    assert_int_equal(read->layers[0].format, AQ_FORMAT_F32);
    assert_memory_equal(read->layers[0].weights, desk->kit.params.weight[0],
                        read->layers[0].sizes.weights_bytes);
    aq_snapshot_unref(read);
}

TEST_IN(service_desk, desk, a_version_that_is_held_is_had_in_either_form)
{
    const uint32_t formats[] = {0, AQ_FORMAT_F32};
    const uint32_t expected[] = {AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_F32};
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    desk_publish(desk, 4, AQ_FORMAT_INT8_CHANNEL);
    for (int i = 0; i < 2; i++) {
        const Actorq__V1__FetchPolicyRequest other = fetch_request(0, 2, formats[i]);
        const ProtobufCBinaryData frame = fetch(desk, 0, 3, formats[i]);
        aq_snapshot *read = NULL;
        assert_int_equal(aq_wire_policy_unpack(frame.data, frame.len, &read, NULL), 0);
        assert_int_equal(read->version, 3);
        assert_int_equal(read->layers[0].format, expected[i]);
        aq_snapshot_unref(read);
        loopback_refuses(&desk->loop, &other.base, AQ_RPC_NOT_FOUND, "version 2");
    }
}

TEST_IN(service_desk, desk, in_a_run_of_fp32_both_are_the_same)
{
    desk_publish(desk, 4, AQ_FORMAT_F32);
    const ProtobufCBinaryData one = fetch(desk, 0, 0, 0), other = fetch(desk, 0, 0, AQ_FORMAT_F32);
    assert_int_equal(one.len, other.len);
    assert_memory_equal(one.data, other.data, one.len);
}

TEST_IN(service_desk, desk, a_fetch_survives_every_failed_allocation)
{
    const Actorq__V1__FetchPolicyRequest request = fetch_request(0, 0, AQ_FORMAT_F32);
    desk_publish(desk, 4, AQ_FORMAT_INT8_CHANNEL);
    desk_survives_failed_allocations(desk, &request.base);
}

/* ---- Status -------------------------------------------------------------------------------- */

static const Actorq__V1__StatusReply *ask_status(service_desk *desk)
{
    const Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    return loopback_ask(&desk->loop, &request.base);
}

TEST_IN(service_desk, desk, the_status_says_who_the_learner_is)
{
    const Actorq__V1__StatusReply *reply = ask_status(desk);
    assert_string_equal(reply->role, "learner");
    assert_string_equal(reply->software, AQ_VERSION);
    assert_true(reply->run_id == KIT_RUN_ID);
    assert_string_equal(reply->task, "gym:CartPole-v1");
    assert_string_equal(reply->algorithm, "dqn");
    assert_string_equal(reply->precision, "int8");
    assert_int_equal(reply->seed, 321);
    assert_int_equal(reply->state, AQ_RUN_RUNNING);
    assert_true(reply->resident_bytes > 0);
    assert_string_equal(reply->run_dir, "/runs/one"); /* the owner's part */
    assert_int_equal(reply->learner->learner_steps, 1234);
    assert_int_equal(desk->statuses, 1);
}

TEST_IN(service_desk, desk, before_anything_happened_the_status_has_no_figures)
{
    const Actorq__V1__StatusReply *reply = ask_status(desk);
    const Actorq__V1__LearnerStatus *learner = reply->learner;
    assert_int_equal(learner->env_steps, 0);
    assert_int_equal(learner->policy_version, 0);
    assert_int_equal(learner->policy_versions, 0);
    assert_int_equal(learner->evaluations, 0);
    assert_true(isnan(learner->return_mean));
    assert_true(isnan(learner->return_std));
    assert_true(isnan(learner->return_best));
    assert_int_equal(learner->quant_error->rows, 0);
    assert_int_equal(reply->n_members, 0);
}

TEST_IN(service_desk, desk, the_status_has_the_figures_of_the_run)
{
    aq_evaluation_result good = {.version = 3, .return_mean = 50, .return_std = 4, .episodes = 10};
    aq_evaluation_result worse = {.version = 4, .return_mean = 40, .return_std = 5, .episodes = 11};
    desk_publish(desk, 3, AQ_FORMAT_INT8_CHANNEL);
    desk_publish(desk, 4, AQ_FORMAT_INT8_CHANNEL);
    desk_join(desk, AQ_ROLE_REPLAY, 60);
    aq_coordinator_progress(desk->coordinator, 60, 500);
    aq_coordinator_evaluated(desk->coordinator, &good, true);
    aq_coordinator_evaluated(desk->coordinator, &worse, true);
    desk->now_ns += 90 * AQ_NS_PER_S;

    const Actorq__V1__LearnerStatus *learner = ask_status(desk)->learner;
    const aq_publication *newest = aq_policy_shelf_newest(desk->shelf);
    aq_policy_totals totals = aq_policy_shelf_totals(desk->shelf);
    assert_int_equal(learner->env_steps, 500);
    assert_int_equal(learner->policy_version, 4);
    assert_int_equal(learner->policy_versions, 2);
    assert_int_equal(learner->broadcast_bytes, totals.bytes);
    assert_int_equal(learner->broadcast_bytes_fp32, totals.bytes_fp32);
    assert_true(learner->broadcast_bytes < learner->broadcast_bytes_fp32);
    assert_true(learner->wall_s == 90);
    assert_int_equal(learner->evaluations, 2);
    assert_true(learner->return_mean == 40 && learner->return_std == 5);
    assert_int_equal(learner->return_version, 4);
    assert_int_equal(learner->return_episodes, 11);
    assert_true(learner->return_best == 50);
    assert_int_equal(learner->quant_error->rows, newest->measured.rows);
    assert_true(learner->quant_error->output_rms == (double)newest->measured.output_rms);
}

TEST_IN(service_desk, desk, the_status_lists_the_members_and_what_they_said)
{
    desk_join(desk, AQ_ROLE_ACTOR, 50);
    uint64_t shard = desk_join(desk, AQ_ROLE_REPLAY, 60);
    desk->now_ns += 5 * AQ_NS_PER_S;
    desk_say_replay(desk, shard, 60);
    desk->now_ns += AQ_NS_PER_S / 4;

    const Actorq__V1__StatusReply *reply = ask_status(desk);
    assert_int_equal(reply->n_members, 2);
    const Actorq__V1__MemberStatus *actor = reply->members[0];
    assert_int_equal(actor->role, AQ_ROLE_ACTOR);
    assert_string_equal(actor->host, "ant");
    assert_string_equal(actor->address, "10.0.0.9:4711");
    assert_int_equal(actor->pid, 77);
    assert_true(actor->incarnation == aq_incarnation_name(50));
    assert_int_equal(actor->joined_ms, 5250);
    assert_int_equal(actor->heartbeat_ms, 5250);
    assert_null(actor->actor); /* it has said nothing yet */
    const Actorq__V1__MemberStatus *replay = reply->members[1];
    assert_int_equal(replay->member, shard);
    assert_int_equal(replay->heartbeat_ms, 250);
    assert_null(replay->actor);
    assert_int_equal(replay->replay->stored, 77);
    assert_string_equal(replay->replay->waiting, "for actors");
    assert_int_equal(replay->replay->n_tables, 1);
    assert_string_equal(replay->replay->tables[0]->name, "main");
    assert_int_equal(replay->replay->tables[0]->items, 60);
    assert_int_equal(replay->replay->n_staleness, 3);
    assert_int_equal(replay->replay->staleness[2], 60);
    assert_non_null(reply->learner->replay_use);
    assert_int_equal(reply->learner->members_joined, 2);
}

TEST_IN(service_desk, desk, the_status_of_many_members_is_whole)
{
    for (uint64_t i = 1; i <= 1000; i++) {
        desk_join(desk, i % 20 != 0 ? AQ_ROLE_ACTOR : AQ_ROLE_REPLAY, i);
    }
    assert_int_equal(ask_status(desk)->n_members, 1000);
}

/* More than a MiB is lost on the way to this desk, as more than 16 are on the way to others. */
TEST_IN(service_desk, desk, a_crowd_whose_environments_fail_can_be_told_of)
{
    enum { CROWD = 1000 };
    static char why[8192];
    const Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    memset(why, 'x', sizeof(why) - 1);
    for (uint64_t i = 1; i <= CROWD; i++) {
        Actorq__V1__HeartbeatRequest beat = desk_heartbeat(desk_join(desk, AQ_ROLE_ACTOR, i), i);
        Actorq__V1__ActorStats stats = ACTORQ__V1__ACTOR_STATS__INIT;
        stats.env_failures = 7;
        stats.env_failure = why;
        beat.actor = &stats;
        (void)loopback_ask(&desk->loop, &beat.base);
    }
    const Actorq__V1__StatusReply *status = loopback_ask(&desk->loop, &request.base);
    assert_int_equal(status->n_members, CROWD);
    assert_int_equal(status->members[CROWD - 1]->actor->env_failures, 7);
    assert_true(status->members[0]->actor->env_failure[0] == 'x');
}

TEST_IN(service_desk, desk, a_status_survives_every_failed_allocation)
{
    const Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    desk_join(desk, AQ_ROLE_ACTOR, 50);
    desk_survives_failed_allocations(desk, &request.base);
}

/* ---- Stop ---------------------------------------------------------------------------------- */

static void stop(service_desk *desk, char *reason)
{
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    request.reason = reason;
    loopback_ask(&desk->loop, &request.base);
}

TEST_IN(service_desk, desk, stop_ends_the_run_and_says_who_wanted_it)
{
    static char lunch[] = "lunch", again[] = "again";
    stop(desk, lunch);
    assert_int_equal(aq_coordinator_state(desk->coordinator), AQ_RUN_STOPPED);
    assert_int_equal(desk->stops, 1);
    assert_string_equal(desk->stop_peer, "10.0.0.9:4711");
    assert_string_equal(desk->reason, "lunch");
    stop(desk, again);
    assert_int_equal(aq_coordinator_state(desk->coordinator), AQ_RUN_STOPPED);
}

TEST_IN(service_desk, desk, an_end_that_is_held_is_told_to_nobody)
{
    static char lunch[] = "lunch";
    const Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    const uint64_t member = desk_join(desk, AQ_ROLE_ACTOR, 50);
    stop(desk, lunch);
    aq_learner_service_hold_end(desk->service, true);
    assert_int_equal(desk_beat(desk, member, 50)->state, ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING);
    const Actorq__V1__StatusReply *status = loopback_ask(&desk->loop, &request.base);
    assert_int_equal(status->state, ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING);
    aq_learner_service_hold_end(desk->service, false);
    assert_int_equal(desk_beat(desk, member, 50)->state, ACTORQ__V1__RUN_STATE__RUN_STATE_STOPPED);
}

/* ---- Checkpoint ---------------------------------------------------------------------------- */

static const loopback_answer *ask_checkpoint(service_desk *desk)
{
    const Actorq__V1__CheckpointRequest request = ACTORQ__V1__CHECKPOINT_REQUEST__INIT;
    return loopback_call(&desk->loop, &request.base);
}

TEST_IN(service_desk, desk, everybody_who_asked_for_a_checkpoint_is_told_of_it)
{
    const loopback_answer *answers[3];
    for (int i = 0; i < 3; i++) {
        answers[i] = ask_checkpoint(desk);
        assert_false(answers[i]->done); /* until it is on the disk */
    }
    assert_int_equal(desk->checkpoints, 3);
    aq_learner_service_checkpointed(desk->service, "/runs/one/step-9.aqc", 9, NULL);
    loopback_pump(&desk->loop);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(answers[i]->status.code, AQ_RPC_OK);
        assert_string_equal(answers[i]->checkpoint->path, "/runs/one/step-9.aqc");
        assert_int_equal(answers[i]->checkpoint->learner_step, 9);
    }
    aq_learner_service_checkpointed(desk->service, "/nobody/asked", 10, NULL);
}

TEST_IN(service_desk, desk, a_checkpoint_that_failed_says_why)
{
    const loopback_answer *answer = ask_checkpoint(desk);
    aq_learner_service_checkpointed(desk->service, NULL, 0, "the disk is full at 100%s");
    loopback_pump(&desk->loop);
    assert_int_equal(answer->status.code, AQ_RPC_INTERNAL);
    assert_string_equal(answer->status.message, "the disk is full at 100%s");
}

TEST_IN(service_desk, desk, an_owner_may_answer_at_once)
{
    desk->checkpoint_at_once = "/at/once";
    const loopback_answer *answer = ask_checkpoint(desk);
    assert_int_equal(answer->status.code, AQ_RPC_OK);
    assert_string_equal(answer->checkpoint->path, "/at/once");
}

TEST_IN(service_desk, desk, too_many_who_wait_for_a_checkpoint_are_refused)
{
    const loopback_answer *answers[AQ_CHECKPOINT_WAITERS_MAX];
    for (int i = 0; i < AQ_CHECKPOINT_WAITERS_MAX; i++) {
        answers[i] = ask_checkpoint(desk);
        assert_false(answers[i]->done);
    }
    const loopback_answer *more = ask_checkpoint(desk);
    assert_int_equal(more->status.code, AQ_RPC_RESOURCE_EXHAUSTED);
    aq_learner_service_checkpointed(desk->service, "/one", 1, NULL);
    loopback_pump(&desk->loop);
    for (int i = 0; i < AQ_CHECKPOINT_WAITERS_MAX; i++) {
        assert_int_equal(answers[i]->status.code, AQ_RPC_OK);
    }
    more = ask_checkpoint(desk); /* there is room again */
    assert_false(more->done);
    aq_learner_service_checkpointed(desk->service, "/two", 2, NULL);
    loopback_pump(&desk->loop);
    assert_int_equal(more->status.code, AQ_RPC_OK);
}

/* ---- the object ---------------------------------------------------------------------------- */

TEST_IN(service_desk, desk, create_survives_a_failed_allocation)
{
    aq_learner_identity identity = {.run_id = 1, .settings = &desk->settings};
    aq_learner_service_owner owner = {.user = desk};
    aq_learner_service *service = desk->service;
    assert_fails_without_memory(
        aq_learner_service_create(&identity, desk->coordinator, desk->shelf, &owner, &service));
    assert_ptr_equal(service, desk->service); /* untouched */
    aq_learner_service_destroy(NULL);
}
