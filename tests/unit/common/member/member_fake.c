/*
 * The channel, the clock and the owner of a member under test.
 */
#include "tests/unit/common/member/member_fake.h"

#include "common/base/assert.h"
#include "proto/rpc.pb-c.h"
#include "tests/support/run_settings_kit.h"
#include "tests/unit/common/wire/wire_fixture.h"

/* ---- the channel ----------------------------------------------------------------------------- */

static int channel_send(aq_rpc_channel *channel, const uint8_t *frame, size_t size,
                        uint32_t timeout_ms, aq_rpc_answer_fn answer, void *user)
{
    member_fake *fake = (member_fake *)channel;
    AQ_ASSERT(fake->answer == NULL); /* one call at a time */
    if (fake->send_error != 0) {
        return fake->send_error;
    }
    fake->sends++;
    fake->timeout_ms = timeout_ms;
    aq_buffer_clear(&fake->request);
    AQ_ASSERT(aq_buffer_append(&fake->request, frame, size) == 0);
    fake->answer = answer;
    fake->answer_user = user;
    return 0;
}

static Actorq__V1__RpcRequest *open_request(const member_fake *fake)
{
    return (Actorq__V1__RpcRequest *)fixture_open(&fake->request,
                                                  &actorq__v1__rpc_request__descriptor);
}

static void free_message(void *message)
{
    protobuf_c_message_free_unpacked(message, NULL);
}

ProtobufCMessage *fake_request(member_fake *fake, const char *method,
                               const ProtobufCMessageDescriptor *descriptor)
{
    char name[64];
    assert_non_null(fake->answer);
    Actorq__V1__RpcRequest *request = open_request(fake);
    snprintf(name, sizeof(name), "actorq.v1.Membership/%s", method);
    assert_string_equal(request->method, name);
    ProtobufCMessage *body =
        protobuf_c_message_unpack(descriptor, NULL, request->body.len, request->body.data);
    assert_non_null(body);
    at_end(free_message, body);
    return body;
}

static void answer(member_fake *fake, int error, const uint8_t *frame, size_t size)
{
    aq_rpc_answer_fn answer_fn = fake->answer;
    assert_non_null(answer_fn);
    fake->answer = NULL;
    answer_fn(fake->answer_user, error, frame, size);
}

static void answer_envelope(member_fake *fake, Actorq__V1__RpcReply *reply)
{
    static uint8_t bytes[1 << 17];
    aq_buffer frame;
    reply->request_id = open_request(fake)->request_id;
    assert_true(protobuf_c_message_get_packed_size(&reply->base) <= sizeof(bytes));
    size_t size = protobuf_c_message_pack(&reply->base, bytes);
    aq_buffer_init(&frame, sizeof(bytes) + 100);
    fixture_frame(bytes, size, AQ_FRAME_RPC_REPLY, &frame);
    answer(fake, 0, frame.data, frame.size);
    aq_buffer_fini(&frame);
}

void fake_reply(member_fake *fake, const ProtobufCMessage *reply)
{
    static uint8_t body[1 << 16];
    Actorq__V1__RpcReply envelope;
    actorq__v1__rpc_reply__init(&envelope);
    assert_true(protobuf_c_message_get_packed_size(reply) <= sizeof(body));
    envelope.body.len = protobuf_c_message_pack(reply, body);
    envelope.body.data = body;
    answer_envelope(fake, &envelope);
}

void fake_status(member_fake *fake, enum aq_rpc_code code, const char *words)
{
    char message[256];
    Actorq__V1__RpcReply envelope;
    actorq__v1__rpc_reply__init(&envelope);
    envelope.status = (uint32_t)code;
    snprintf(message, sizeof(message), "%s", words);
    envelope.message = message;
    answer_envelope(fake, &envelope);
}

void fake_lose(member_fake *fake, int error)
{
    answer(fake, error, NULL, 0);
}

/* ---- the owner ------------------------------------------------------------------------------- */

void fake_destroy(member_fake *fake)
{
    aq_member *member = fake->member;
    fake->member = NULL;
    aq_member_destroy(member);
}

static void told(member_fake *fake, const aq_member_view *view)
{
    if (view != NULL) {
        fake->view = *view;
    }
    if (fake->destroy_when_told) {
        fake_destroy(fake);
    }
}

static void on_joined(void *user, const aq_member_view *view, int again)
{
    member_fake *fake = user;
    fake->joined++;
    fake->again = again;
    told(fake, view);
}

static void on_changed(void *user, const aq_member_view *view)
{
    member_fake *fake = user;
    fake->changed++;
    told(fake, view);
}

static void on_ended(void *user, const aq_member_view *view, const char *reason)
{
    member_fake *fake = user;
    fake->ended++;
    snprintf(fake->reason, sizeof(fake->reason), "%s", reason);
    told(fake, view);
}

static void on_trouble(void *user, const char *reason)
{
    member_fake *fake = user;
    fake->trouble++;
    snprintf(fake->reason, sizeof(fake->reason), "%s", reason);
    told(fake, NULL);
}

static void on_left(void *user)
{
    member_fake *fake = user;
    fake->left++;
    told(fake, NULL);
}

static void give_statistics(void *user, Actorq__V1__HeartbeatRequest *request)
{
    member_fake *fake = user;
    request->actor = &fake->statistics;
}

static uint64_t give_seen_version(void *user)
{
    const member_fake *fake = user;
    return fake->seen_version;
}

void fake_leave(member_fake *fake)
{
    aq_member_leave(fake->member, "the test is over", on_left, fake);
}

/* ---- life and time --------------------------------------------------------------------------- */

int fake_open_metered(member_fake *fake, uint64_t seed, aq_energy_meter *meter)
{
    const aq_member_owner owner = {
        .user = fake,
        .joined = on_joined,
        .changed = on_changed,
        .ended = on_ended,
        .trouble = on_trouble,
        .statistics = give_statistics,
        .seen_version = give_seen_version,
    };
    const aq_member_identity identity = {
        .role = AQ_ROLE_ACTOR,
        .meter = meter,
        .incarnation = FAKE_INCARNATION,
        .host = "worker-3",
        .pid = 4711,
        .rpc_url = "tcp://*:6000",
        .push_url = "tcp://*:6001",
    };
    memset(fake, 0, sizeof(*fake));
    aq_rpc_channel_init(&fake->channel, 1 << 16, 1);
    fake->channel.send = channel_send;
    aq_buffer_init(&fake->request, 1 << 16);
    actorq__v1__actor_stats__init(&fake->statistics);
    fake->statistics.env_steps = 987654;
    fake->now_ns = 5 * AQ_NS_PER_S;
    fake_join_init(&fake->join);
    fake_beat_init(&fake->beat);
    return aq_member_create(&fake->channel, &identity, &owner, seed, &fake->member);
}

int fake_open(member_fake *fake, uint64_t seed)
{
    return fake_open_metered(fake, seed, NULL);
}

void fake_close(member_fake *fake)
{
    if (fake->answer != NULL) {
        fake_lose(fake, AQ_E_CLOSED);
    }
    aq_member_destroy(fake->member);
    aq_buffer_fini(&fake->request);
}

member_fake *fake_new(void)
{
    static member_fake fake;
    assert_int_equal(fake_open(&fake, 99), 0);
    return &fake;
}

void fake_pass(member_fake *fake, int64_t ms)
{
    fake->now_ns += ms * AQ_NS_PER_MS;
    aq_member_tick(fake->member, fake->now_ns, &fake->next_ns);
}

int64_t fake_wait_for_call(member_fake *fake, int64_t limit_ms)
{
    uint32_t sends = fake->sends;
    int64_t waited_ms = 0;
    fake_pass(fake, 0);
    while (fake->sends == sends) {
        assert_true(waited_ms < limit_ms);
        fake_pass(fake, 1);
        waited_ms++;
    }
    return waited_ms;
}

/* ---- good answers ---------------------------------------------------------------------------- */

void fake_join_init(fake_join *join)
{
    static char policy_url[] = "tcp://*:5551";
    join->settings = run_settings_kit();
    join->settings.config.net.rpc_timeout_ms = 1500;
    join->settings.config.net.reconnect_min_ms = 20;
    join->settings.config.net.reconnect_max_ms = 640;
    aq_wire_settings_to(&join->settings, &join->view);
    actorq__v1__join_reply__init(&join->reply);
    join->reply.run_id = FAKE_RUN;
    join->reply.member = 7;
    join->reply.slot = 2;
    join->reply.settings = &join->view.message;
    join->reply.policy_url = policy_url;
    join->reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
}

void fake_beat_init(fake_beat *beat)
{
    static char rpc_url[] = "tcp://10.0.0.2:6000";
    static char push_url[] = "tcp://10.0.0.2:6001";
    actorq__v1__shard_address__init(&beat->shard);
    beat->shard.member = 3;
    beat->shard.rpc_url = rpc_url;
    beat->shard.push_url = push_url;
    beat->pointer = &beat->shard;
    actorq__v1__heartbeat_reply__init(&beat->reply);
    beat->reply.known = 1;
    beat->reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    beat->reply.version = 5;
    beat->reply.n_shards = 1;
    beat->reply.shards = &beat->pointer;
}

void fake_beat_once(member_fake *fake)
{
    fake_wait_for_call(fake, 5000);
    fake_reply(fake, &fake->beat.reply.base);
}

void fake_settle(member_fake *fake)
{
    fake_wait_for_call(fake, 5000);
    fake_reply(fake, &fake->join.reply.base);
    assert_int_equal(fake_wait_for_call(fake, 1), 0);
    fake_reply(fake, &fake->beat.reply.base);
    assert_int_equal(aq_member_look(fake->member)->state, AQ_MEMBER_JOINED);
}

member_fake *fake_settled(void)
{
    member_fake *fake = fake_new();
    fake_settle(fake);
    return fake;
}
