/*
 * Seeds of the targets that make calls and answer them: conversations as members have them.
 */
#include <string.h>

#include "common/net/rpc/rpc.h"
#include "common/wire/wire_experience.h"
#include "common/wire/wire_frame.h"
#include "common/wire/wire_run.h"
#include "common/wire/wire_sample.h"
#include "proto/exchange.pb-c.h"
#include "proto/experience.pb-c.h"
#include "proto/operations.pb-c.h"
#include "proto/policy.pb-c.h"
#include "proto/rpc.pb-c.h"
#include "proto/sampling.pb-c.h"
#include "tests/fuzz/fuzz_frame.h"
#include "tests/fuzz/fuzz_seed.h"
#include "tests/support/must.h"
#include "tests/unit/replay/replay_kit.h"

#define SERVICE        "actorq.v1."
#define LEARNER_RUN_ID UINT64_C(0x1122334455667788)

enum { STEPS_EACH = 20, MESSAGES = 3, ROWS = 4, MEMBER = 1 };

static void call_operations(aq_buffer *out)
{
    static char reason[] = "enough";
    Actorq__V1__StatusRequest status = ACTORQ__V1__STATUS_REQUEST__INIT;
    Actorq__V1__CheckpointRequest checkpoint = ACTORQ__V1__CHECKPOINT_REQUEST__INIT;
    Actorq__V1__StopRequest stop = ACTORQ__V1__STOP_REQUEST__INIT;
    stop.reason = reason;
    fuzz_seed_put_call(out, SERVICE "Operations/Status", &status.base);
    fuzz_seed_put_call(out, SERVICE "Operations/Checkpoint", &checkpoint.base);
    fuzz_seed_put_call(out, SERVICE "Operations/Stop", &stop.base);
}

/* ---- a shard -------------------------------------------------------------------------------- */

/* What the frame around a message holds. */
static void pack_experience(uint64_t seq, aq_buffer *out)
{
    aq_layout layout = kit_layout();
    aq_experience message = kit_message(1, seq, 0, seq * STEPS_EACH, STEPS_EACH);
    aq_buffer_init(out, FUZZ_SEED_BYTES_MAX);
    must(aq_wire_experience_pack(&message, &layout, out));
    experience_fini(&message);
}

static void send_experience(aq_buffer *out, uint64_t seq)
{
    aq_buffer frame;
    pack_experience(seq, &frame);
    fuzz_seed_put_step(out, FUZZ_STEP_EXPERIENCE, frame.data + AQ_FRAME_HEADER_BYTES,
                       frame.size - AQ_FRAME_HEADER_BYTES);
    aq_buffer_fini(&frame);
}

static void call_flow(aq_buffer *out, uint64_t acknowledged)
{
    Actorq__V1__CreditRequest credit = ACTORQ__V1__CREDIT_REQUEST__INIT;
    credit.run_id = KIT_RUN_ID;
    credit.actor = 1;
    credit.incarnation = 1001;
    credit.known_acknowledged = acknowledged;
    credit.wait_ms = 100;
    fuzz_seed_put_call(out, SERVICE "Flow/Credit", &credit.base);
    fuzz_seed_put_wait(out, 120);
}

static void call_sampling(aq_buffer *out)
{
    static const uint64_t items[] = {1, 2, 3, 4};
    static const float priorities[] = {0.5f, 1.0f, 2.0f, 0.0f};
    aq_run_settings settings = kit_settings();
    Actorq__V1__SampleRequest sample = ACTORQ__V1__SAMPLE_REQUEST__INIT;
    Actorq__V1__PrioritizeRequest prioritize = ACTORQ__V1__PRIORITIZE_REQUEST__INIT;
    sample.run_id = KIT_RUN_ID;
    sample.schema_hash = settings.schema_hash;
    sample.batch_rows = ROWS;
    sample.batch_count = 2;
    sample.discount = 0.99f;
    sample.wait_ms = 50;
    fuzz_seed_put_call(out, SERVICE "Sampling/Sample", &sample.base);
    prioritize.run_id = KIT_RUN_ID;
    prioritize.shard_incarnation = 5;
    prioritize.item = aq_wire_bytes(items, sizeof(items));
    prioritize.priority = aq_wire_bytes(priorities, sizeof(priorities));
    fuzz_seed_put_call(out, SERVICE "Sampling/Prioritize", &prioritize.base);
    fuzz_seed_put_wait(out, 60);
}

static void call_exchange(aq_buffer *out)
{
    Actorq__V1__ExportRequest export = ACTORQ__V1__EXPORT_REQUEST__INIT;
    Actorq__V1__ImportRequest import = ACTORQ__V1__IMPORT_REQUEST__INIT;
    aq_buffer frame;
    export.bytes_max = 100000;
    fuzz_seed_put_call(out, SERVICE "Exchange/Export", &export.base);
    pack_experience(MESSAGES + 1, &frame);
    import.frame = aq_wire_bytes(frame.data, frame.size);
    fuzz_seed_put_call(out, SERVICE "Exchange/Import", &import.base);
    aq_buffer_fini(&frame);
}

static void make_shard_calls(void)
{
    aq_buffer seed;
    aq_buffer_init(&seed, FUZZ_SEED_BYTES_MAX);
    call_flow(&seed, 0);
    for (uint64_t seq = 1; seq <= MESSAGES; seq++) {
        send_experience(&seed, seq);
    }
    fuzz_seed_write("replay_service", "filled", &seed);
    call_flow(&seed, 0);
    call_sampling(&seed);
    fuzz_seed_write("replay_service", "sampled", &seed);
    aq_buffer_clear(&seed);
    send_experience(&seed, 1);
    send_experience(&seed, 1);
    send_experience(&seed, 3);
    call_exchange(&seed);
    call_operations(&seed);
    fuzz_seed_put_step(&seed, FUZZ_STEP_BYTES, "GET / HTTP/1.1\r\n\r\n", 18);
    fuzz_seed_write("replay_service", "exchanged", &seed);
    aq_buffer_fini(&seed);
}

/* ---- a learner ------------------------------------------------------------------------------ */

static void call_join(aq_buffer *out, Actorq__V1__Role role, uint64_t incarnation)
{
    static char host[] = "ant", software[] = "0.1.0", rpc_url[] = "tcp://127.0.0.1:6000",
                push_url[] = "tcp://*:6001";
    Actorq__V1__JoinRequest join = ACTORQ__V1__JOIN_REQUEST__INIT;
    join.role = role;
    join.incarnation = incarnation;
    join.host = host;
    join.software = software;
    join.pid = 77;
    join.rpc_url = rpc_url;
    join.push_url = push_url;
    fuzz_seed_put_call(out, SERVICE "Membership/Join", &join.base);
}

static void call_heartbeats(aq_buffer *out)
{
    static char source[] = "rapl", processor[] = "some processor", name[] = "main";
    Actorq__V1__EnergyStats energy = ACTORQ__V1__ENERGY_STATS__INIT;
    Actorq__V1__ActorStats actor = ACTORQ__V1__ACTOR_STATS__INIT;
    Actorq__V1__TableStats table = ACTORQ__V1__TABLE_STATS__INIT;
    Actorq__V1__TableStats *tables[] = {&table};
    Actorq__V1__ReplayStats replay = ACTORQ__V1__REPLAY_STATS__INIT;
    Actorq__V1__HeartbeatRequest heartbeat = ACTORQ__V1__HEARTBEAT_REQUEST__INIT;
    uint64_t staleness[] = {1, 2, 3};
    energy.cpu_s = 1.5;
    energy.wall_s = 3;
    energy.source = source;
    energy.processor = processor;
    energy.processors = 2;
    energy.machine_j = 4;
    energy.measured_j = 2;
    actor.env_steps = 1000;
    actor.return_mean = 20;
    table.name = name;
    table.items = 30;
    replay.inserted = 500;
    replay.store = 2000;
    replay.n_tables = 1;
    replay.tables = tables;
    replay.n_staleness = 3;
    replay.staleness = staleness;
    heartbeat.run_id = LEARNER_RUN_ID;
    heartbeat.member = MEMBER;
    heartbeat.incarnation = 1000;
    heartbeat.actor = &actor;
    heartbeat.energy = &energy;
    fuzz_seed_put_call(out, SERVICE "Membership/Heartbeat", &heartbeat.base);
    heartbeat.member = MEMBER + 1;
    heartbeat.incarnation = 2000;
    heartbeat.actor = NULL;
    heartbeat.replay = &replay;
    fuzz_seed_put_call(out, SERVICE "Membership/Heartbeat", &heartbeat.base);
}

static void call_evaluations(aq_buffer *out)
{
    static char reason[] = "SIGTERM";
    Actorq__V1__PrecisionGap gap = ACTORQ__V1__PRECISION_GAP__INIT;
    Actorq__V1__EvaluationReport report = ACTORQ__V1__EVALUATION_REPORT__INIT;
    Actorq__V1__LeaveRequest leave = ACTORQ__V1__LEAVE_REQUEST__INIT;
    call_join(out, ACTORQ__V1__ROLE__ROLE_EVALUATOR, 3000);
    report.run_id = LEARNER_RUN_ID;
    report.member = MEMBER + 2;
    report.incarnation = 3000;
    report.number = 1;
    report.version = 1;
    report.episodes = 10;
    report.return_mean = 480;
    report.return_std = 1;
    report.return_min = 470;
    report.return_max = 490;
    fuzz_seed_put_call(out, SERVICE "Membership/ReportEvaluation", &report.base);
    gap.episodes = 10;
    gap.return_fp32 = 481;
    gap.mean = -1;
    gap.std = 0.5;
    report.gap = &gap;
    report.confirmed = 1;
    report.number = 2;
    fuzz_seed_put_call(out, SERVICE "Membership/ReportEvaluation", &report.base);
    leave.run_id = LEARNER_RUN_ID;
    leave.member = MEMBER + 2;
    leave.incarnation = 3000;
    leave.reason = reason;
    fuzz_seed_put_call(out, SERVICE "Membership/Leave", &leave.base);
}

static void make_learner_calls(void)
{
    Actorq__V1__FetchPolicyRequest fetch = ACTORQ__V1__FETCH_POLICY_REQUEST__INIT;
    aq_buffer seed;
    aq_buffer_init(&seed, FUZZ_SEED_BYTES_MAX);
    call_join(&seed, ACTORQ__V1__ROLE__ROLE_ACTOR, 1000);
    call_join(&seed, ACTORQ__V1__ROLE__ROLE_REPLAY, 2000);
    call_heartbeats(&seed);
    fuzz_seed_write("learner_service", "joined", &seed);
    call_evaluations(&seed);
    call_operations(&seed);
    fuzz_seed_write("learner_service", "evaluated", &seed);
    aq_buffer_clear(&seed);
    fetch.run_id = LEARNER_RUN_ID;
    fuzz_seed_put_call(&seed, SERVICE "Policy/Fetch", &fetch.base);
    fetch.format = 1;
    fuzz_seed_put_call(&seed, SERVICE "Policy/Fetch", &fetch.base);
    call_join(&seed, ACTORQ__V1__ROLE__ROLE_ACTOR, 1000);
    fuzz_seed_put_wait(&seed, 4000);
    call_heartbeats(&seed);
    fuzz_seed_write("learner_service", "lost", &seed);
    aq_buffer_fini(&seed);
}

/* ---- replies -------------------------------------------------------------------------------- */

/* The number that the target's only call has. */
static uint64_t first_call(void)
{
    aq_rpc_channel channel;
    aq_rpc_channel_init(&channel, FUZZ_SEED_BYTES_MAX, 1);
    return channel.caller << 32 | channel.next_call;
}

static void write_reply(const char *name, char which, const ProtobufCMessage *message)
{
    Actorq__V1__RpcReply envelope = ACTORQ__V1__RPC_REPLY__INIT;
    aq_buffer body, seed;
    aq_buffer_init(&body, FUZZ_SEED_BYTES_MAX);
    aq_buffer_init(&seed, FUZZ_SEED_BYTES_MAX);
    fuzz_seed_put_message(&body, message);
    envelope.request_id = first_call();
    envelope.body = aq_wire_bytes(body.data, body.size);
    fuzz_seed_put(&seed, &which, 1);
    fuzz_seed_put_message(&seed, &envelope.base);
    fuzz_seed_write("rpc_reply", name, &seed);
    aq_buffer_fini(&body);
    aq_buffer_fini(&seed);
}

static void make_sample_reply(void)
{
    static const float low[2] = {-1, -1}, high[2] = {1, 1};
    Actorq__V1__SampleReply reply = ACTORQ__V1__SAMPLE_REPLY__INIT;
    ProtobufCBinaryData recorded[AQ_BATCH_RECORDED_MAX];
    aq_schema schema;
    aq_layout layout;
    aq_batch *batch;
    aq_space_init_box(&schema.obs, 2, low, high);
    aq_space_init_discrete(&schema.action, 2);
    must(aq_layout_init(&schema, 3, 8, &layout, NULL));
    must(aq_batch_create(&layout, 0, ROWS, &batch));
    batch->rows = ROWS;
    for (uint32_t i = 0; i < ROWS; i++) {
        batch->bootstrap[i] = 0.5f;
        batch->weight[i] = 0.25f;
    }
    aq_wire_sample_view(batch, 100, recorded, &reply);
    reply.items = ROWS;
    reply.mass = ROWS;
    write_reply("sample", '0', &reply.base);
    aq_batch_destroy(batch);
}

static void make_replies(void)
{
    static char policy_url[] = "tcp://*:5551", rpc_url[] = "tcp://10.0.0.7:1", task[] = "a:b";
    static aq_wire_settings_view view;
    aq_run_settings settings = kit_settings();
    Actorq__V1__JoinReply join = ACTORQ__V1__JOIN_REPLY__INIT;
    Actorq__V1__HeartbeatReply heartbeat = ACTORQ__V1__HEARTBEAT_REPLY__INIT;
    Actorq__V1__ShardAddress shard = ACTORQ__V1__SHARD_ADDRESS__INIT;
    Actorq__V1__ShardAddress *shards[] = {&shard};
    Actorq__V1__StatusReply status = ACTORQ__V1__STATUS_REPLY__INIT;
    aq_wire_settings_to(&settings, &view);
    join.run_id = KIT_RUN_ID;
    join.member = MEMBER;
    join.settings = &view.message;
    join.policy_url = policy_url;
    join.state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    write_reply("join", '1', &join.base);
    shard.member = MEMBER + 1;
    shard.rpc_url = rpc_url;
    shard.push_url = rpc_url;
    shard.store = 7;
    heartbeat.known = 1;
    heartbeat.state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    heartbeat.n_shards = 1;
    heartbeat.shards = shards;
    heartbeat.settings = &view.message;
    heartbeat.settings_generation = 2;
    write_reply("heartbeat", '2', &heartbeat.base);
    status.task = task;
    status.uptime_s = 12;
    write_reply("status", '3', &status.base);
    make_sample_reply();
}

void fuzz_seeds_make_calls(void)
{
    make_shard_calls();
    make_learner_calls();
    make_replies();
}
