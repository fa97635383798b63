/*
 * How fast one shard's core and service are, without sockets: steps in and batches out per second.
 *
 *   bench_replay [repetitions]      prints mean and standard deviation over them
 *
 * Insert: experience frames of 8 chunks of 32 steps, checked, unpacked and stored in a full store
 * of 100,000 steps. Sample: batches of 256 rows, drawn and folded (core), and through a dispatcher
 * as a Sample call of 8 batches each (service).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/buffer.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/rl/batch.h"
#include "common/wire/wire_experience.h"
#include "proto/sampling.pb-c.h"
#include "replay/replay_service.h"
#include "tests/unit/replay/loopback.h"

enum { CHUNKS = 8, LENGTH = 32, N_STEP = 3, CAPACITY = 100000, BATCH_ROWS = 256, BATCHES = 8 };
#define ROUND_NS (AQ_NS_PER_S / 2)

typedef struct bench_case {
    const char *name;
    uint32_t obs_count;
    uint32_t action_count; /* 0: two choices */
} bench_case;

typedef struct test_bench {
    aq_run_settings settings;
    aq_chunk_layout layout;
    aq_replay_service *service;
    aq_rpc_dispatcher *dispatcher;
    loopback loop;
    aq_rpc_stub sampling;
    uint64_t seq;
    uint64_t batches;
} test_bench;

static void must(int rc)
{
    AQ_ASSERT(rc == 0);
}

static void ignore_rejection(void *user, const char *peer, const aq_error *error)
{
    (void)user;
    (void)peer;
    (void)fprintf(stderr, "%s\n", error->text);
    abort();
}

static void ignore_stop(void *user, const char *peer, const char *reason)
{
    (void)user;
    (void)peer;
    (void)reason;
}

static void bench_init(test_bench *bench, const bench_case *which)
{
    static const float low[32] = {0};
    static float high[32];
    const aq_replay_service_owner owner = {.rejected = ignore_rejection, .stop = ignore_stop};
    for (int i = 0; i < 32; i++) {
        high[i] = 1.0f;
    }
    memset(bench, 0, sizeof(*bench));
    bench->settings = (aq_run_settings){
        .task = "bench",
        .n_step = N_STEP,
        .chunk_length = LENGTH,
        .message_bytes = 1 << 20,
        .actor_envs = 8,
        .tables = {{.name = "main",
                    .capacity = CAPACITY,
                    .n_step = N_STEP,
                    .min_size = 1,
                    .samples_per_insert = 32.0,
                    .tolerance = 1e9}},
        .table_count = 1,
        .storage = {.segment_bytes = 1 << 20, .snapshot_ms = 1000},
        .sample_rows = BATCH_ROWS * BATCHES,
    };
    aq_space_init_box(&bench->settings.schema.obs, which->obs_count, low, high);
    if (which->action_count == 0) {
        aq_space_init_discrete(&bench->settings.schema.action, 2);
    } else {
        aq_space_init_box(&bench->settings.schema.action, which->action_count, low, high);
    }
    bench->settings.schema_hash = aq_schema_hash(&bench->settings.schema);
    must(aq_chunk_layout_init(&bench->settings.schema, N_STEP, LENGTH, &bench->layout, NULL));
    must(aq_replay_service_create(&owner, 0, &bench->service));
    must(aq_rpc_dispatcher_create(16, 16 << 20, 0, &bench->dispatcher));
    must(aq_replay_service_offer(bench->service, bench->dispatcher));
    must(aq_replay_service_begin(bench->service, 0, &bench->settings, 1, 2, 3, NULL));
    loopback_init(&bench->loop, bench->dispatcher);
    aq_rpc_stub_init(&bench->sampling, &bench->loop.channel, &actorq__v1__sampling__descriptor,
                     1000);
}

static void bench_fini(test_bench *bench)
{
    aq_replay_service_destroy(bench->service);
    aq_rpc_dispatcher_destroy(bench->dispatcher);
}

/* The next message's frame, as an actor packs it. */
static void make_frame(test_bench *bench, aq_buffer *frame)
{
    aq_chunk *chunks[CHUNKS];
    aq_experience message = {
        .run_id = 1,
        .actor = 1,
        .incarnation = 1,
        .seq = ++bench->seq,
        .acknowledged = bench->seq - 1,
        .schema_hash = bench->settings.schema_hash,
        .chunk_count = CHUNKS,
        .chunks = chunks,
    };
    for (int i = 0; i < CHUNKS; i++) {
        must(aq_chunk_create(&bench->layout, LENGTH, &chunks[i]));
        chunks[i]->length = LENGTH;
        chunks[i]->first = LENGTH;
        chunks[i]->overlap = N_STEP - 1;
        for (int row = 0; row < LENGTH; row++) {
            chunks[i]->reward[row] = (float)row;
        }
    }
    aq_buffer_clear(frame);
    must(aq_wire_experience_pack(&message, &bench->layout, frame));
    for (int i = 0; i < CHUNKS; i++) {
        aq_chunk_unref(chunks[i]);
    }
}

/* Steps a second; only the shard's side is timed. */
static double insert_rate(test_bench *bench)
{
    aq_buffer frame;
    int64_t spent_ns = 0;
    uint64_t before = aq_replay_core_counters(aq_replay_service_core(bench->service)).inserted;
    aq_buffer_init(&frame, 1 << 20);
    while (spent_ns < ROUND_NS) {
        make_frame(bench, &frame);
        int64_t start_ns = aq_clock_monotonic_ns();
        aq_replay_service_experience(bench->service, 0, frame.data, frame.size, "bench");
        spent_ns += aq_clock_monotonic_ns() - start_ns;
    }
    aq_buffer_fini(&frame);
    uint64_t after = aq_replay_core_counters(aq_replay_service_core(bench->service)).inserted;
    return (double)(after - before) * 1e9 / (double)spent_ns;
}

/* Batches a second out of a core with a full store. */
static double core_sample_rate(const test_bench *bench)
{
    aq_replay_core *core;
    aq_batch *batch;
    uint64_t batches = 0;
    must(aq_replay_core_create(&bench->settings, 1, 2, 3, &core, NULL));
    must(aq_batch_create(&bench->layout, BATCH_ROWS, &batch));
    for (uint64_t seq = 1; seq <= CAPACITY / LENGTH + 1; seq++) {
        aq_experience message = {.run_id = 1, .actor = 1, .seq = seq, .chunk_count = 1};
        enum aq_replay_verdict verdict;
        message.chunks = aq_alloc(1, sizeof(aq_chunk *));
        must(aq_chunk_create(&bench->layout, LENGTH, &message.chunks[0]));
        message.chunks[0]->length = LENGTH;
        must(aq_replay_core_insert(core, 0, &message, &verdict, NULL));
    }
    int64_t start_ns = aq_clock_monotonic_ns();
    while (aq_clock_monotonic_ns() - start_ns < ROUND_NS) {
        for (int i = 0; i < 16; i++) {
            must(aq_replay_core_sample(core, BATCH_ROWS, 0.99f, batch));
            batches++;
        }
    }
    double elapsed_ns = (double)(aq_clock_monotonic_ns() - start_ns);
    aq_batch_destroy(batch);
    aq_replay_core_destroy(core);
    return (double)batches * 1e9 / elapsed_ns;
}

static void on_reply(void *user, const uint8_t *frame, size_t size)
{
    (void)frame;
    *(size_t *)user += size;
}

/* Batches a second through the dispatcher: unpacked request to packed and checksummed reply. */
static double service_sample_rate(test_bench *bench)
{
    Actorq__V1__SampleRequest request = ACTORQ__V1__SAMPLE_REQUEST__INIT;
    size_t reply_bytes = 0;
    uint64_t batches = 0;
    request.run_id = 1;
    request.schema_hash = bench->settings.schema_hash;
    request.batch_rows = BATCH_ROWS;
    request.batch_count = BATCHES;
    request.discount = 0.99f;
    /* One request frame, dispatched again and again: repeats are not kept here. */
    actorq__v1__sampling__sample(&bench->sampling.base, &request, NULL, NULL);
    loopback_passage *passage = bench->loop.passages;
    int64_t start_ns = aq_clock_monotonic_ns();
    while (aq_clock_monotonic_ns() - start_ns < ROUND_NS) {
        aq_rpc_dispatch(bench->dispatcher, passage->request, passage->request_size, "bench",
                        on_reply, &reply_bytes);
        batches += BATCHES;
    }
    int64_t elapsed_ns = aq_clock_monotonic_ns() - start_ns;
    AQ_ASSERT(reply_bytes / batches > BATCH_ROWS * aq_batch_row_bytes(&bench->layout));
    return (double)batches * 1e9 / (double)elapsed_ns;
}

static void print_row(const char *what, const double *values, int count)
{
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < count; i++) {
        mean += values[i] / count;
    }
    for (int i = 0; i < count; i++) {
        square += (values[i] - mean) * (values[i] - mean);
    }
    (void)printf("  %-28s %12.0f /s  +- %.0f  (n=%d)\n", what, mean,
                 count > 1 ? sqrt(square / (count - 1)) : 0.0, count);
}

int main(int argc, char **argv)
{
    static const bench_case cases[] = {
        {"obs 4 f32, 2 choices", 4, 0},
        {"obs 17 f32, action 6 f32", 17, 6},
    };
    enum { REPETITIONS_MAX = 50 };
    int repetitions = argc > 1 ? atoi(argv[1]) : 5;
    repetitions = repetitions < 1 || repetitions > REPETITIONS_MAX ? 5 : repetitions;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double insert[REPETITIONS_MAX], core[REPETITIONS_MAX], service[REPETITIONS_MAX];
        test_bench bench;
        bench_init(&bench, &cases[i]);
        (void)insert_rate(&bench); /* fills the store */
        for (int n = 0; n < repetitions; n++) {
            insert[n] = insert_rate(&bench);
            core[n] = core_sample_rate(&bench);
        }
        for (int n = 0; n < repetitions; n++) {
            service[n] = service_sample_rate(&bench);
        }
        aq_replay_counters counters =
            aq_replay_core_counters(aq_replay_service_core(bench.service));
        (void)printf("%s: %.1f bytes a step stored\n", cases[i].name,
                     (double)counters.bytes / (double)counters.stored);
        print_row("inserted steps", insert, repetitions);
        print_row("batches of 256, core", core, repetitions);
        print_row("batches of 256, service", service, repetitions);
        bench_fini(&bench);
    }
    return 0;
}
