/*
 * See replay_drawer.h.
 */
#include "bench/replay/replay_drawer.h"

#include <math.h>
#include <stdlib.h>

#include "bench/median.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/net/rpc/rpc_client.h"
#include "common/wire/wire_sample.h"
#include "proto/sampling.pb-c.h"

/* Latencies past these many are left out; a run of seconds has some thousands. */
enum { LATENCIES_MAX = 1 << 20, PRIORITY_CALLS_MAX = 64, WAIT_MS = 2000, SEED = 7 };
#define PATIENCE_NS (20 * AQ_NS_PER_S)

typedef struct draw {
    aq_replay_drawer *drawer;
    int64_t asked_ns;
} draw;

struct aq_replay_drawer {
    aq_drawer_config config;
    aq_replay_load *load;
    aq_rig_place place;
    aq_rpc_client *client;
    aq_rpc_stub stub;
    aq_batch *batch;
    float *priorities; /* one for each row of an answer */
    aq_rng rng;
    draw draws[AQ_DRAWER_CALLS_MAX];
    uint32_t under_way, priorities_under_way;
    bool is_drawing;
    bool must_check;
    uint64_t batches; /* that have come */
    double *latencies_ms;
    size_t latency_count;
    int failure;
    aq_error error;
};

static void ask(draw *asked);

/* ---- priorities ------------------------------------------------------------------------------ */

static void fail(aq_replay_drawer *drawer, const char *what)
{
    const aq_rpc_status *status = aq_rpc_stub_status(&drawer->stub);
    drawer->failure = aq_fail(&drawer->error, AQ_E_PEER, "%s failed: %s: %s", what,
                              aq_rpc_code_name(status->code), status->message);
}

static void on_prioritized(const Actorq__V1__PrioritizeReply *reply, void *user)
{
    aq_replay_drawer *drawer = user;
    drawer->priorities_under_way--;
    if (reply == NULL && drawer->is_drawing) {
        fail(drawer, "Prioritize");
    }
}

/* As after training: every row of every batch gets a new priority. */
static void prioritize(aq_replay_drawer *drawer, const Actorq__V1__SampleReply *answer)
{
    Actorq__V1__PrioritizeRequest request;
    const size_t rows = drawer->batch->rows;
    for (size_t i = 0; i < rows; i++) {
        drawer->priorities[i] = (float)aq_rng_uniform(&drawer->rng);
    }
    actorq__v1__prioritize_request__init(&request);
    request.run_id = drawer->place.run_id;
    request.shard_incarnation = answer->shard_incarnation;
    request.item = answer->item;
    request.priority =
        (ProtobufCBinaryData){.len = rows * sizeof(float), .data = (uint8_t *)drawer->priorities};
    drawer->priorities_under_way++;
    actorq__v1__sampling__prioritize(&drawer->stub.base, &request, on_prioritized, drawer);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void note_latency(aq_replay_drawer *drawer, int64_t asked_ns)
{
    if (drawer->latency_count < LATENCIES_MAX) {
        drawer->latencies_ms[drawer->latency_count++] =
            (double)(aq_clock_monotonic_ns() - asked_ns) / (double)AQ_NS_PER_MS;
    }
}

static void take(aq_replay_drawer *drawer, const Actorq__V1__SampleReply *answer)
{
    drawer->failure = aq_wire_sample_read(answer, drawer->batch, &drawer->error);
    if (drawer->failure == 0 && drawer->must_check) {
        drawer->must_check = false;
        drawer->failure = aq_replay_load_check(drawer->load, drawer->batch, drawer->config.discount,
                                               &drawer->error);
    }
    if (drawer->failure != 0) {
        return;
    }
    drawer->batches += drawer->config.batches;
    if (drawer->config.prioritizes) {
        prioritize(drawer, answer);
    }
}

static void on_sample(const Actorq__V1__SampleReply *answer, void *user)
{
    draw *asked = user;
    aq_replay_drawer *drawer = asked->drawer;
    drawer->under_way--;
    if (answer == NULL) {
        if (drawer->is_drawing) {
            fail(drawer, "Sample");
        }
        return;
    }
    note_latency(drawer, asked->asked_ns);
    if (drawer->failure == 0) {
        take(drawer, answer);
    }
    if (drawer->failure == 0 && drawer->is_drawing) {
        ask(asked);
    }
}

static void ask(draw *asked)
{
    aq_replay_drawer *drawer = asked->drawer;
    Actorq__V1__SampleRequest request;
    actorq__v1__sample_request__init(&request);
    request.run_id = drawer->place.run_id;
    request.schema_hash = drawer->load->layout.hash;
    request.batch_rows = drawer->config.batch_rows;
    request.batch_count = drawer->config.batches;
    request.discount = drawer->config.discount;
    request.wait_ms = WAIT_MS;
    asked->asked_ns = aq_clock_monotonic_ns();
    drawer->under_way++;
    actorq__v1__sampling__sample(&drawer->stub.base, &request, on_sample, asked);
}

/* ---- create ---------------------------------------------------------------------------------- */

static int connect_shard(aq_replay_drawer *drawer, uv_loop_t *loop, const aq_replay_rig *rig,
                         aq_error *error)
{
    const aq_run_settings *settings = aq_replay_rig_settings(rig);
    int rc = aq_rpc_client_create(loop, drawer->place.rpc_url, &drawer->place.limits,
                                  AQ_DRAWER_CALLS_MAX + PRIORITY_CALLS_MAX, &drawer->client, error);
    if (rc == 0) {
        aq_rpc_stub_init(&drawer->stub, aq_rpc_client_channel(drawer->client),
                         &actorq__v1__sampling__descriptor,
                         WAIT_MS + settings->config.net.rpc_timeout_ms);
    }
    return rc;
}

int aq_replay_drawer_create(uv_loop_t *loop, const aq_replay_rig *rig, aq_replay_load *load,
                            const aq_drawer_config *config, aq_replay_drawer **ret_drawer,
                            aq_error *error)
{
    const uint32_t rows = config->batch_rows * config->batches;
    aq_replay_drawer *drawer = aq_alloc(1, sizeof(*drawer));
    AQ_ASSERT(config->calls >= 1 && config->calls <= AQ_DRAWER_CALLS_MAX);
    if (drawer == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    drawer->config = *config;
    drawer->load = load;
    drawer->place = *aq_replay_rig_place(rig);
    drawer->latencies_ms = aq_alloc(LATENCIES_MAX, sizeof(double));
    drawer->priorities = aq_alloc(rows, sizeof(float));
    aq_rng_init(&drawer->rng, SEED, 0);
    int rc = drawer->latencies_ms == NULL || drawer->priorities == NULL ? AQ_E_NOMEM : 0;
    if (rc == 0) {
        rc = aq_batch_create(&load->layout, 0, rows, &drawer->batch);
    }
    rc = rc != 0 ? aq_fail(error, rc, "a batch of %u rows: %s", rows, aq_error_text(rc))
                 : connect_shard(drawer, loop, rig, error);
    if (rc != 0) {
        aq_replay_drawer_destroy(drawer);
        return rc;
    }
    *ret_drawer = drawer;
    return 0;
}

void aq_replay_drawer_destroy(aq_replay_drawer *drawer)
{
    if (drawer == NULL) {
        return;
    }
    drawer->is_drawing = false;
    aq_rpc_client_close(drawer->client); /* answers what is under way */
    aq_batch_destroy(drawer->batch);
    aq_free(drawer->priorities);
    aq_free(drawer->latencies_ms);
    aq_free(drawer);
}

/* ---- use ------------------------------------------------------------------------------------- */

static bool is_idle_or_failed(void *user)
{
    const aq_replay_drawer *drawer = user;
    return drawer->failure != 0 || (drawer->under_way == 0 && drawer->priorities_under_way == 0);
}

static bool has_failed(void *user)
{
    return ((const aq_replay_drawer *)user)->failure != 0;
}

int aq_replay_drawer_run(aq_replay_drawer *drawer, aq_replay_rig *rig, int64_t time_ns,
                         double *ret_batches_per_s, aq_error *error)
{
    const uint64_t batches = drawer->batches;
    const int64_t start_ns = aq_clock_monotonic_ns();
    drawer->is_drawing = true;
    drawer->must_check = true;
    for (uint32_t i = 0; i < drawer->config.calls; i++) {
        drawer->draws[i].drawer = drawer;
        ask(&drawer->draws[i]);
    }
    aq_error over;
    int rc = aq_replay_rig_run(rig, has_failed, drawer, time_ns, &over); /* it should time out */
    drawer->is_drawing = false;
    if (drawer->failure != 0) {
        *error = drawer->error;
        return drawer->failure;
    }
    if (rc != AQ_E_TIMEOUT) {
        *error = over;
        return rc;
    }
    rc = aq_replay_rig_run(rig, is_idle_or_failed, drawer, PATIENCE_NS, error);
    if (rc != 0) {
        return rc;
    }
    *ret_batches_per_s = (double)(drawer->batches - batches) * (double)AQ_NS_PER_S /
                         (double)(aq_clock_monotonic_ns() - start_ns);
    return 0;
}

uint64_t aq_replay_drawer_batches(const aq_replay_drawer *drawer)
{
    return drawer->batches;
}

double aq_replay_drawer_latency_ms(aq_replay_drawer *drawer, double quantile)
{
    const size_t count = drawer->latency_count;
    if (count == 0) {
        return NAN;
    }
    aq_sort_figures(drawer->latencies_ms, count);
    size_t index = (size_t)(quantile * (double)count);
    return drawer->latencies_ms[index < count ? index : count - 1];
}

size_t aq_replay_drawer_answer_bytes(const aq_replay_drawer *drawer)
{
    return (size_t)drawer->config.batch_rows * drawer->config.batches *
           aq_batch_row_bytes(&drawer->load->layout, 0);
}
