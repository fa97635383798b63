/*
 * One service, one dispatcher, one caller.
 */
#include "tests/unit/replay/service_kit.h"

#include "common/wire/wire_experience.h"
#include "tests/support/test.h"

static void on_rejected(void *user, const char *peer, const aq_error *error)
{
    service_kit *kit = user;
    kit->rejections++;
    kit->rejection = *error;
    snprintf(kit->rejected_peer, sizeof(kit->rejected_peer), "%s", peer);
}

static void on_damaged(void *user, const char *what)
{
    service_kit *kit = user;
    snprintf(kit->damage, sizeof(kit->damage), "%s", what);
}

static void on_stop(void *user, const char *peer, const char *reason)
{
    service_kit *kit = user;
    assert_string_equal(peer, "tcp://10.0.0.9:4711");
    kit->stops++;
    snprintf(kit->stop_reason, sizeof(kit->stop_reason), "%s", reason);
}

aq_replay_service_owner kit_owner(service_kit *kit, const aq_seal *seal)
{
    return (aq_replay_service_owner){
        .user = kit,
        .process = KIT_PROCESS,
        .seal = seal,
        .rejected = on_rejected,
        .damaged = on_damaged,
        .stop = on_stop,
    };
}

void kit_create(service_kit *kit, const aq_seal *seal)
{
    kit->now_ns = AQ_NS_PER_S;
    kit->seal = seal;
    const aq_replay_service_owner owner = kit_owner(kit, seal);
    assert_int_equal(aq_replay_service_create(&owner, kit->now_ns, &kit->service), 0);
    assert_succeeds(aq_rpc_dispatcher_create(AQ_REPLAY_CALLS_MAX, LOOPBACK_FRAME_BYTES_MAX, 0,
                                             &kit->dispatcher));
    assert_int_equal(aq_replay_service_offer(kit->service, kit->dispatcher), 0);
    loopback_init(&kit->loop, kit->dispatcher);
}

void idle_kit_setup(idle_kit *kit)
{
    kit_create(kit, NULL);
}

void service_kit_setup(service_kit *kit)
{
    const aq_run_settings settings = kit_settings();
    kit_create(kit, NULL);
    kit_begin(kit, &settings);
}

void service_kit_teardown(service_kit *kit)
{
    aq_replay_service_destroy(kit->service);
    loopback_pump(&kit->loop);
    loopback_fini(&kit->loop);
    aq_rpc_dispatcher_destroy(kit->dispatcher);
}

void kit_begin(service_kit *kit, const aq_run_settings *settings)
{
    aq_shard_run run = kit_run(settings);
    run.incarnation = KIT_SHARD_INCARNATION;
    run.seed = test_seed();
    assert_int_equal(aq_replay_service_begin(kit->service, kit->now_ns, &run, NULL, NULL), 0);
}

void kit_pass(service_kit *kit, int64_t ms)
{
    for (int64_t passed = 0; passed < ms; passed += AQ_REPLAY_TICK_MS) {
        kit->now_ns += AQ_REPLAY_TICK_MS * AQ_NS_PER_MS;
        aq_replay_service_tick(kit->service, kit->now_ns);
        loopback_pump(&kit->loop);
    }
}

void kit_receive_frame(service_kit *kit, const uint8_t *bytes, size_t size)
{
    aq_lease *lease;
    assert_int_equal(aq_lease_copy(bytes, size, &lease), 0);
    aq_replay_service_experience(kit->service, kit->now_ns, lease, "tcp://10.0.0.7:1");
    aq_lease_unref(lease);
    loopback_pump(&kit->loop);
}

void kit_receive(service_kit *kit, aq_experience *message)
{
    const aq_layout layout = kit_layout();
    kit_receive_laid_out(kit, &layout, message);
}

void kit_receive_laid_out(service_kit *kit, const aq_layout *layout, aq_experience *message)
{
    aq_buffer frame;
    aq_buffer_init(&frame, LOOPBACK_FRAME_BYTES_MAX);
    message->is_sealed = kit->seal != NULL;
    assert_int_equal(aq_wire_experience_pack(message, layout, &frame), 0);
    if (kit->seal != NULL) {
        uint8_t *sealed = aq_alloc(1, frame.size + AQ_SEAL_BYTES);
        assert_non_null(sealed);
        aq_seal_copy(kit->seal, frame.data, frame.size, sealed);
        kit_receive_frame(kit, sealed, frame.size + AQ_SEAL_BYTES);
        aq_free(sealed);
    } else {
        kit_receive_frame(kit, frame.data, frame.size);
    }
    aq_buffer_fini(&frame);
    experience_fini(message);
}

void kit_insert(service_kit *kit, uint64_t seq, uint32_t steps)
{
    aq_experience message = kit_message(1, seq, seq - 1, 1000 * seq, steps);
    int rejections = kit->rejections;
    kit_receive(kit, &message);
    assert_int_equal(kit->rejections, rejections);
}

/* ---- calls --------------------------------------------------------------------------------- */

Actorq__V1__CreditRequest kit_credit_request(uint64_t known_acknowledged, uint64_t known_granted,
                                             uint32_t wait_ms)
{
    Actorq__V1__CreditRequest request = ACTORQ__V1__CREDIT_REQUEST__INIT;
    request.run_id = KIT_RUN_ID;
    request.actor = 1;
    request.incarnation = 1001;
    request.known_acknowledged = known_acknowledged;
    request.known_granted = known_granted;
    request.wait_ms = wait_ms;
    return request;
}

Actorq__V1__SampleRequest kit_sample_request(uint32_t rows, uint32_t count, uint32_t wait_ms)
{
    Actorq__V1__SampleRequest request = ACTORQ__V1__SAMPLE_REQUEST__INIT;
    aq_run_settings settings = kit_settings();
    request.run_id = KIT_RUN_ID;
    request.schema_hash = settings.schema_hash;
    request.batch_rows = rows;
    request.batch_count = count;
    request.discount = 0.5f;
    request.wait_ms = wait_ms;
    return request;
}

const loopback_answer *kit_call(service_kit *kit, uint64_t known_acknowledged,
                                uint64_t known_granted, uint32_t wait_ms)
{
    const Actorq__V1__CreditRequest request =
        kit_credit_request(known_acknowledged, known_granted, wait_ms);
    return loopback_call(&kit->loop, &request.base);
}

const loopback_answer *kit_draw(service_kit *kit, uint32_t rows, uint32_t count, uint32_t wait_ms)
{
    const Actorq__V1__SampleRequest request = kit_sample_request(rows, count, wait_ms);
    return loopback_call(&kit->loop, &request.base);
}

const Actorq__V1__StatusReply *kit_status(service_kit *kit)
{
    const Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    return loopback_ask(&kit->loop, &request.base);
}
