/*
 * The intake of experience under hostile bytes and without memory, operations, and the service's
 * own life.
 */
#include "common/net/security/incarnation.h"
#include "common/wire/wire_experience.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"
#include "tests/unit/replay/service_kit.h"

static aq_replay_counters counters_of(const service_kit *kit)
{
    return aq_replay_core_counters(aq_replay_service_core(kit->service));
}

/* ---- experience ---------------------------------------------------------------------------- */

static void pack(aq_experience *message, aq_buffer *frame)
{
    aq_layout layout = kit_layout();
    aq_buffer_init(frame, LOOPBACK_FRAME_BYTES_MAX);
    assert_int_equal(aq_wire_experience_pack(message, &layout, frame), 0);
    experience_fini(message);
}

static void give(service_kit *kit, const uint8_t *bytes, size_t size)
{
    kit_receive_frame(kit, bytes, size);
}

static void assert_rejected(service_kit *kit, aq_experience *message, int code, const char *words)
{
    int before = kit->rejections;
    kit_receive(kit, message);
    assert_int_equal(kit->rejections, before + 1);
    assert_int_equal(kit->rejection.code, code);
    assert_says(kit->rejection.text, words);
    assert_string_equal(kit->rejected_peer, "tcp://10.0.0.7:1");
    assert_int_equal(counters_of(kit).rejected, (uint64_t)before + 1);
    assert_int_equal(counters_of(kit).stored, 0);
}

TEST_IN(service_kit, kit, experience_is_stored)
{
    kit_insert(kit, 1, 20);
    assert_int_equal(counters_of(kit).stored, 20);
}

typedef service_kit announced_kit;
#define announced_kit_teardown service_kit_teardown

static void announced_kit_setup(announced_kit *kit)
{
    static aq_seal seal;
    const aq_run_settings settings = kit_settings();
    aq_seal_init(&seal, (const uint8_t[AQ_SEAL_KEY_BYTES]){7});
    kit_create(kit, &seal);
    kit_begin(kit, &settings);
}

/* Nobody's fault: each start of a shard has actors that have not called yet. */
static void assert_early(service_kit *kit, aq_experience *message)
{
    const uint64_t before = counters_of(kit).uncalled;
    kit_receive(kit, message);
    assert_int_equal(kit->rejection.code, AQ_E_AGAIN);
    assert_says(kit->rejection.text, "has not called");
    assert_int_equal(counters_of(kit).uncalled, before + 1);
    assert_int_equal(counters_of(kit).rejected, 0);
    assert_int_equal(counters_of(kit).stored, 0);
}

/* With tokens: a call proves who its actor is, a message nothing. */
TEST_IN(announced_kit, kit, experience_counts_once_its_actor_has_called)
{
    aq_experience message = kit_message(1, 1, 0, 0, 8);
    Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 0);
    const loopback_answer *answers[2];
    assert_early(kit, &message);
    request.actor = 2; /* somebody else has */
    answers[0] = loopback_call(&kit->loop, &request.base);
    message = kit_message(1, 1, 0, 0, 8);
    assert_early(kit, &message);
    request.actor = 1;
    answers[1] = loopback_call(&kit->loop, &request.base);
    kit_insert(kit, 1, 20);
    assert_int_equal(counters_of(kit).stored, 20);
    kit_pass(kit, 20);
    assert_true(answers[0]->done);
    assert_true(answers[1]->done);
}

/* By somebody who knows all but the token. */
TEST_IN(announced_kit, kit, experience_without_a_seal_or_with_another_is_rejected)
{
    static aq_seal other;
    const aq_seal *const seals[] = {NULL, &other, kit->seal};
    aq_seal_init(&other, (const uint8_t[AQ_SEAL_KEY_BYTES]){8});
    Actorq__V1__CreditRequest request = kit_credit_request(0, 0, 0);
    const loopback_answer *answer = loopback_call(&kit->loop, &request.base);
    for (size_t i = 0; i < 3; i++) {
        aq_experience message = kit_message(1, 1, 0, 0, 8);
        kit->seal = seals[i];
        kit_receive(kit, &message);
        assert_int_equal(counters_of(kit).stored, i < 2 ? 0 : 8);
        assert_int_equal(counters_of(kit).rejected, i < 2 ? i + 1 : 2);
    }
    assert_says(kit->rejection.text, "not sealed");
    kit_pass(kit, 20);
    assert_true(answer->done);
}

TEST_IN(service_kit, kit, experience_of_another_run_is_rejected)
{
    aq_experience message = kit_message(1, 1, 0, 0, 8);
    message.run_id = 78;
    assert_rejected(kit, &message, AQ_E_INVALID, "run 000000000000004e");
}

TEST_IN(service_kit, kit, experience_of_another_layout_is_rejected)
{
    aq_experience message = kit_message(1, 1, 0, 0, 8);
    aq_layout layout = kit_layout();
    layout.hash++;
    kit_receive_laid_out(kit, &layout, &message);
    assert_int_equal(kit->rejection.code, AQ_E_SCHEMA);
    assert_says(kit->rejection.text, "another layout");
    assert_int_equal(counters_of(kit).stored, 0);
}

TEST_IN(service_kit, kit, experience_that_is_not_finite_is_rejected)
{
    aq_experience message = kit_message(1, 1, 0, 0, 8);
    reward_of(message.chunks[0])[3] = NAN;
    assert_rejected(kit, &message, AQ_E_CORRUPT, "reward 3");
}

TEST_IN(service_kit, kit, an_action_that_is_none_is_rejected)
{
    aq_experience message = kit_message(1, 1, 0, 0, 8);
    int32_t action = 2;
    memcpy(action_of(message.chunks[0]), &action, sizeof(action));
    assert_rejected(kit, &message, AQ_E_SCHEMA, "action 0");
}

TEST_IN(service_kit, kit, experience_that_acknowledges_itself_is_rejected)
{
    aq_experience message = kit_message(1, 4, 4, 0, 8);
    assert_rejected(kit, &message, AQ_E_INVALID, "message 4");
}

TEST_IN(service_kit, kit, a_message_beyond_the_runs_limit_is_rejected)
{
    uint8_t *bytes = aq_alloc(70000, 1);
    give(kit, bytes, 70000);
    assert_int_equal(kit->rejections, 1);
    assert_int_equal(kit->rejection.code, AQ_E_TOO_BIG);
    aq_free(bytes);
}

TEST_IN(service_kit, kit, every_flipped_byte_and_every_cut_is_rejected)
{
    aq_buffer frame;
    aq_experience message = kit_message(1, 1, 0, 0, 12);
    pack(&message, &frame);
    int expected = 0;
    for (size_t i = 0; i < frame.size; i++) {
        frame.data[i] ^= 0x41;
        give(kit, frame.data, frame.size);
        frame.data[i] ^= 0x41;
        give(kit, frame.data, i);
        expected += 2;
        assert_int_equal(kit->rejections, expected);
    }
    assert_int_equal(counters_of(kit).stored, 0);
    give(kit, frame.data, frame.size);
    assert_int_equal(counters_of(kit).stored, 12);
    aq_buffer_fini(&frame);
}

TEST_IN(service_kit, kit, random_bytes_are_rejected)
{
    uint8_t bytes[512];
    aq_rng rng = rng_of(test_seed(), 5);
    for (int round = 0; round < 2000; round++) {
        size_t size = (size_t)aq_rng_below(&rng, sizeof(bytes) + 1);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)aq_rng_next(&rng);
        }
        give(kit, bytes, size);
    }
    assert_int_equal(kit->rejections, 2000);
}

TEST_IN(service_kit, kit, experience_that_finds_no_memory_is_not_acknowledged)
{
    aq_buffer frame;
    aq_experience message = kit_message(1, 1, 0, 0, 8 * 70);
    pack(&message, &frame);
    int failures = 0;
    aq_lease *lease;
    assert_int_equal(aq_lease_copy(frame.data, frame.size, &lease), 0);
    for (uint64_t nth = 1; counters_of(kit).stored == 0; nth++) {
        aq_memory_fail_at(nth, 0);
        aq_replay_service_experience(kit->service, kit->now_ns, lease, "tcp://10.0.0.7:1");
        aq_memory_fail_at(0, 0);
        if (counters_of(kit).stored == 0) {
            failures++;
            assert_int_equal(kit->rejection.code, AQ_E_NOMEM);
            assert_int_equal(counters_of(kit).inserted, 0);
        }
    }
    assert_true(failures >= 3); /* the views, the ring, the message */
    aq_lease_unref(lease);
    assert_int_equal(kit->rejections, failures);
    assert_int_equal(counters_of(kit).messages, 1);
    aq_buffer_fini(&frame);
}

TEST_IN(idle_kit, kit, experience_without_a_run_is_dropped)
{
    aq_run_settings settings = kit_settings();
    aq_experience message = kit_message(1, 1, 0, 0, 8);
    kit_receive(kit, &message);
    assert_int_equal(kit->rejections, 0);
    kit_begin(kit, &settings);
    kit_insert(kit, 1, 8); /* still the first */
    assert_int_equal(counters_of(kit).stored, 8);
}

/* ---- operations ---------------------------------------------------------------------------- */

TEST_IN(service_kit, kit, status_tells_what_the_shard_holds)
{
    kit_insert(kit, 1, 24);
    kit_pass(kit, 1500);
    const Actorq__V1__StatusReply *report = kit_status(kit);
    assert_string_equal(report->role, "replay");
    assert_string_equal(report->software, AQ_VERSION);
    assert_string_equal(report->task, "test:Steps-v0");
    assert_int_equal(report->run_id, KIT_RUN_ID);
    assert_int_equal(report->state, ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING);
    assert_true(report->uptime_s == 1.5);
    assert_int_equal(report->replay->inserted, 24);
    assert_int_equal(report->replay->stored, 24);
    assert_true(report->replay->insert_per_s == 24.0);
    assert_string_equal(report->replay->waiting, "");
    assert_int_equal(report->n_members, 1);
    assert_int_equal(report->members[0]->member, 1);
    assert_true(report->members[0]->incarnation == aq_incarnation_name(1001)); /* a secret */
    assert_int_equal(report->members[0]->heartbeat_ms, 1500);
    assert_int_equal(report->members[0]->actor->env_steps, 24);
}

/* The actor was granted 500 steps by a store before this one. */
TEST_IN(service_kit, kit, status_tells_what_is_granted_and_did_not_come_yet)
{
    (void)kit_call(kit, 0, 500, 0);
    kit_pass(kit, 10);
    const aq_replay_actor *actor = aq_replay_core_actor(aq_replay_service_core(kit->service), 0);
    assert_true(actor->granted > 500);
    const Actorq__V1__IntakeStats *intake = kit_status(kit)->members[0]->intake;
    assert_int_equal(intake->transitions, 0);
    assert_int_equal(intake->granted, actor->granted - 500);
}

TEST_IN(service_kit, kit, status_lists_a_bounded_number_of_actors)
{
    for (uint64_t actor = 0; actor < 300; actor++) {
        aq_experience message = kit_message(actor, 1, 0, 0, 1);
        kit_receive(kit, &message);
    }
    const Actorq__V1__StatusReply *report = kit_status(kit);
    assert_int_equal(report->n_members, 256);
    assert_int_equal(report->members[0]->member, 299);
}

TEST_IN(service_kit, kit, stop_reaches_the_owner)
{
    Actorq__V1__StopRequest request = ACTORQ__V1__STOP_REQUEST__INIT;
    request.reason = (char[]){"enough"};
    loopback_ask(&kit->loop, &request.base);
    assert_int_equal(kit->stops, 1);
    assert_string_equal(kit->stop_reason, "enough");
}

TEST_IN(service_kit, kit, checkpoint_is_refused_in_words)
{
    const Actorq__V1__CheckpointRequest request = ACTORQ__V1__CHECKPOINT_REQUEST__INIT;
    loopback_refuses(&kit->loop, &request.base, AQ_RPC_UNIMPLEMENTED, "learner");
}

TEST_IN(idle_kit, kit, without_a_run_status_is_unavailable_and_stop_works)
{
    const Actorq__V1__StatusRequest status = ACTORQ__V1__STATUS_REQUEST__INIT;
    const Actorq__V1__StopRequest stop = ACTORQ__V1__STOP_REQUEST__INIT;
    loopback_refuses(&kit->loop, &status.base, AQ_RPC_UNAVAILABLE, "");
    loopback_ask(&kit->loop, &stop.base);
    assert_int_equal(kit->stops, 1);
}

/* ---- life ---------------------------------------------------------------------------------- */

TEST_IN(service_kit, kit, a_new_run_begins_with_an_empty_store)
{
    aq_run_settings settings = kit_settings();
    kit_insert(kit, 1, 24);
    aq_replay_service_end(kit->service, "another run");
    assert_null(aq_replay_service_core(kit->service));
    kit_begin(kit, &settings);
    assert_int_equal(counters_of(kit).stored, 0);
    kit_insert(kit, 1, 8);
    assert_int_equal(counters_of(kit).stored, 8);
}

TEST_IN(idle_kit, kit, statistics_without_a_run_are_zero)
{
    aq_replay_stats stats;
    aq_replay_service_statistics(kit->service, &stats);
    assert_int_equal(stats.message.inserted, 0);
    assert_string_equal(stats.message.waiting, "");
    kit_pass(kit, 10);
}

TEST(create_without_memory_fails_clean)
{
    const aq_replay_service_owner owner = kit_owner(NULL, NULL);
    aq_replay_service *service;
    assert_made_despite_failures(service, aq_replay_service_create(&owner, 0, &service));
    aq_replay_service_destroy(service);
    aq_replay_service_destroy(NULL);
}
