/*
 * First come, first served, also when a later request is smaller: a learner's requests are all of
 * one size, and nobody is overtaken for ever.
 */
#include "replay/replay_sampling_service.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/net/rpc.h"
#include "common/wire/wire_sample.h"
#include "replay/replay_service.h"

/* Envelope, frame and the tags and lengths of the columns. */
enum { REPLY_OVERHEAD_BYTES = 1024 };

static bool answer(aq_sampling_service *sampling, const aq_held_sample *asked)
{
    aq_replay_core *core = sampling->host->core;
    if (aq_replay_core_sample(core, asked->rows, asked->discount, sampling->batch) != 0) {
        return false;
    }
    Actorq__V1__SampleReply reply;
    aq_wire_sample_view(sampling->batch, aq_replay_core_counters(core).inserted, &reply);
    reply.shard_incarnation = aq_replay_core_incarnation(core);
    asked->closure(&reply, asked->closure_data);
    return true;
}

static void refuse_held(const aq_sampling_service *sampling, const aq_held_sample *held)
{
    const char *waiting = aq_replay_core_waiting(sampling->host->core);
    aq_rpc_fail(held->closure_data, AQ_RPC_UNAVAILABLE, "%s",
                waiting[0] != '\0' ? waiting : "earlier requests were not answered yet");
}

/* False when the call was answered. */
static bool is_possible(const aq_sampling_service *sampling, const Actorq__V1__SampleRequest *input,
                        void *closure_data)
{
    const aq_run_settings *settings = aq_replay_core_settings(sampling->host->core);
    if (input->schema_hash != settings->schema_hash) {
        aq_rpc_fail(closure_data, AQ_RPC_FAILED_PRECONDITION,
                    "the schema of this run is %016" PRIx64 ", not %016" PRIx64,
                    settings->schema_hash, input->schema_hash);
        return false;
    }
    if (input->batch_rows < 1 || input->batch_count < 1 ||
        input->batch_count > AQ_SAMPLE_BATCHES_MAX ||
        (uint64_t)input->batch_rows * input->batch_count > settings->sample_rows) {
        aq_rpc_fail(closure_data, AQ_RPC_INVALID_ARGUMENT,
                    "%" PRIu32 " batches of %" PRIu32 " rows; 1 to %d batches with at most %" PRIu32
                    " rows in all are possible in this run",
                    input->batch_count, input->batch_rows, AQ_SAMPLE_BATCHES_MAX,
                    settings->sample_rows);
        return false;
    }
    if (!(input->discount >= 0.0f && input->discount <= 1.0f)) {
        aq_rpc_fail(closure_data, AQ_RPC_INVALID_ARGUMENT, "a discount of %g; 0 to 1 are possible",
                    (double)input->discount);
        return false;
    }
    return true;
}

static void sampling_sample(Actorq__V1__Sampling_Service *service,
                            const Actorq__V1__SampleRequest *input,
                            Actorq__V1__SampleReply_Closure closure, void *closure_data)
{
    aq_sampling_service *sampling = (aq_sampling_service *)service;
    if (!aq_replay_host_accepts(sampling->host, input->run_id, input->wait_ms, closure_data) ||
        !is_possible(sampling, input, closure_data)) {
        return;
    }
    aq_held_sample asked = {
        .rows = input->batch_rows * input->batch_count,
        .discount = input->discount,
        .until_ns = aq_replay_host_until_ns(sampling->host, input->wait_ms, closure_data),
        .closure = closure,
        .closure_data = closure_data,
    };
    if (sampling->held_count == 0 && answer(sampling, &asked)) {
        return;
    }
    if (input->wait_ms == 0) {
        refuse_held(sampling, &asked);
    } else if (sampling->held_count == AQ_REPLAY_HELD_SAMPLES_MAX) {
        aq_rpc_fail(closure_data, AQ_RPC_RESOURCE_EXHAUSTED, "%d requests are waiting already",
                    AQ_REPLAY_HELD_SAMPLES_MAX);
    } else {
        sampling->held[sampling->held_count++] = asked;
    }
}

int aq_sampling_service_init(aq_sampling_service *sampling, const aq_replay_host *host)
{
    *sampling = (aq_sampling_service){
        .base = ACTORQ__V1__SAMPLING__INIT(sampling_),
        .host = host,
        .held = aq_alloc(AQ_REPLAY_HELD_SAMPLES_MAX, sizeof(*sampling->held)),
    };
    return sampling->held != NULL ? 0 : AQ_E_NOMEM;
}

void aq_sampling_service_fini(aq_sampling_service *sampling)
{
    AQ_ASSERT(sampling->held_count == 0);
    aq_batch_destroy(sampling->batch);
    aq_free(sampling->held);
    sampling->batch = NULL;
    sampling->held = NULL;
}

int aq_sampling_service_begin(aq_sampling_service *sampling, const aq_replay_core *core,
                              size_t reply_bytes_max, aq_error *error)
{
    const aq_chunk_layout *layout = aq_replay_core_layout(core);
    uint32_t rows = aq_replay_core_settings(core)->sample_rows;
    size_t bytes = rows * aq_batch_row_bytes(layout) + REPLY_OVERHEAD_BYTES;
    AQ_ASSERT(sampling->batch == NULL);
    if (bytes > reply_bytes_max) {
        return aq_fail(error, AQ_E_TOO_BIG,
                       "sample requests of %" PRIu32 " rows make replies of %zu bytes; at most %zu "
                       "can be sent: lower learner.batch_size or learner.batches_per_request",
                       rows, bytes, reply_bytes_max);
    }
    int rc = aq_batch_create(layout, rows, &sampling->batch);
    return rc != 0 ? aq_fail(error, rc, "a batch of %" PRIu32 " rows: %s", rows, aq_error_text(rc))
                   : 0;
}

/* The first `count` were answered. */
static void remove_oldest(aq_sampling_service *sampling, size_t count)
{
    sampling->held_count -= count;
    memmove(sampling->held, sampling->held + count, sampling->held_count * sizeof(*sampling->held));
}

void aq_sampling_service_serve(aq_sampling_service *sampling)
{
    size_t answered = 0;
    while (answered < sampling->held_count && answer(sampling, &sampling->held[answered])) {
        answered++;
    }
    if (answered > 0) {
        remove_oldest(sampling, answered);
    }
}

void aq_sampling_service_tick(aq_sampling_service *sampling)
{
    aq_sampling_service_serve(sampling);
    size_t kept = 0;
    for (size_t i = 0; i < sampling->held_count; i++) {
        aq_held_sample *held = &sampling->held[i];
        if (sampling->host->now_ns >= held->until_ns) {
            refuse_held(sampling, held);
        } else {
            sampling->held[kept++] = *held;
        }
    }
    sampling->held_count = kept;
}

void aq_sampling_service_release(aq_sampling_service *sampling, const char *reason)
{
    for (size_t i = 0; i < sampling->held_count; i++) {
        aq_rpc_fail(sampling->held[i].closure_data, AQ_RPC_UNAVAILABLE, "%s", reason);
    }
    sampling->held_count = 0;
    aq_batch_destroy(sampling->batch);
    sampling->batch = NULL;
}
