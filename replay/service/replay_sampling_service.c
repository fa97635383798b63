/*
 * First come, first served, also when a later request is smaller: a learner's requests are all of
 * one size, and nobody is overtaken for ever. Only requests of one table wait for each other.
 */
#include "replay/service/replay_sampling_service.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/rpc/rpc.h"
#include "common/wire/wire_sample.h"
#include "replay/service/replay_service.h"

/* Steps that are to be there for it. */
static uint32_t steps_for(const aq_held_sample *asked)
{
    return asked->steps > 0 ? asked->steps : asked->rows;
}

/* What all requests that wait want, table by table. */
static void tell_wants(const aq_sampling_service *sampling)
{
    uint64_t steps[AQ_TABLES_MAX] = {0};
    uint32_t version_min[AQ_TABLES_MAX] = {0};
    for (size_t i = 0; i < sampling->held_count; i++) {
        const aq_held_sample *held = &sampling->held[i];
        if (steps[held->table] == 0) { /* the oldest comes first */
            version_min[held->table] = held->version_min;
        }
        steps[held->table] += steps_for(held);
    }
    for (size_t i = 0; i < aq_replay_core_tables(sampling->host->core)->count; i++) {
        aq_replay_core_ask(sampling->host->core, i, steps[i], version_min[i]);
    }
}

static bool answer(aq_sampling_service *sampling, const aq_held_sample *asked)
{
    aq_replay_core *core = sampling->host->core;
    uint32_t rows = asked->rows;
    aq_replay_core_ask(core, asked->table, steps_for(asked), asked->version_min);
    if (asked->steps > 0) {
        rows = aq_replay_core_rows(core, asked->table, asked->steps, asked->rows);
    }
    aq_batch *batch = sampling->batches[asked->table];
    const aq_replay_table *table = aq_replay_core_tables(core)->shelves[asked->table].table;
    aq_replay_holdings holdings = aq_replay_table_holdings(table); /* as of the draws */
    if (aq_replay_core_sample(core, sampling->host->now_ns, asked->table, rows, asked->discount,
                              batch) != 0) {
        return false;
    }
    Actorq__V1__SampleReply reply;
    ProtobufCBinaryData recorded[AQ_BATCH_RECORDED_MAX];
    aq_wire_sample_view(batch, aq_replay_core_counters(core).inserted, recorded, &reply);
    reply.shard_incarnation = aq_replay_core_incarnation(core);
    reply.items = holdings.items;
    reply.mass = holdings.mass;
    reply.held_us = (uint32_t)((sampling->host->now_ns - asked->since_ns) / AQ_NS_PER_US);
    asked->closure(&reply, asked->closure_data);
    return true;
}

static void refuse_held(const aq_sampling_service *sampling, const aq_held_sample *held)
{
    const char *waiting = aq_replay_core_waiting(sampling->host->core);
    aq_rpc_fail(held->closure_data, AQ_RPC_UNAVAILABLE, "%s",
                waiting[0] != '\0' ? waiting : "earlier requests were not answered yet");
}

/* The table's position; -1 when the call was answered. */
static int find_table(const aq_sampling_service *sampling, const char *name, void *closure_data)
{
    int table = aq_replay_core_find_table(sampling->host->core, name);
    if (table < 0) {
        aq_rpc_fail(closure_data, AQ_RPC_NOT_FOUND, "this run has no table '%.64s'", name);
    }
    return table;
}

/* Of a queue, which is emptied from its head, steps are counted at once; of another table, in all
 * that it holds. False when the call was answered. */
static bool may_ask_steps(const aq_sampling_service *sampling, int table, void *closure_data)
{
    const aq_replay_shelf *shelf = &aq_replay_core_tables(sampling->host->core)->shelves[table];
    const aq_table_spec *spec = aq_replay_table_spec(shelf->table);
    if (spec->selector != AQ_SELECTOR_QUEUE) {
        aq_rpc_fail(closure_data, AQ_RPC_INVALID_ARGUMENT,
                    "table %s is no queue: a request says how many items it wants, and no steps",
                    spec->name);
        return false;
    }
    return true;
}

/* Whether an earlier request for the same table still waits. */
static bool is_behind(const aq_sampling_service *sampling, size_t table)
{
    for (size_t i = 0; i < sampling->held_count; i++) {
        if (sampling->held[i].table == table) {
            return true;
        }
    }
    return false;
}

/* False when the call was answered. */
static bool is_possible(const aq_sampling_service *sampling, const Actorq__V1__SampleRequest *input,
                        void *closure_data)
{
    const aq_run_settings *settings = aq_replay_core_settings(sampling->host->core);
    const aq_layout *layout = aq_replay_core_layout(sampling->host->core);
    if (input->schema_hash != layout->hash) {
        aq_rpc_fail(closure_data, AQ_RPC_FAILED_PRECONDITION,
                    "the layout of this run is %016" PRIx64 ", not %016" PRIx64, layout->hash,
                    input->schema_hash);
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
    int table = find_table(sampling, input->table, closure_data);
    if (table < 0 || (input->steps > 0 && !may_ask_steps(sampling, table, closure_data))) {
        return;
    }
    aq_held_sample asked = {
        .table = (size_t)table,
        .rows = input->batch_rows * input->batch_count,
        .steps = input->steps,
        .version_min = input->version_min < UINT32_MAX ? (uint32_t)input->version_min : UINT32_MAX,
        .discount = input->discount,
        .since_ns = sampling->host->now_ns,
        .until_ns = aq_replay_host_until_ns(sampling->host, input->wait_ms, closure_data),
        .closure = closure,
        .closure_data = closure_data,
    };
    if (!is_behind(sampling, asked.table) && answer(sampling, &asked)) {
        tell_wants(sampling);
        return;
    }
    if (input->wait_ms == 0) {
        refuse_held(sampling, &asked);
        tell_wants(sampling);
    } else if (sampling->held_count == AQ_REPLAY_HELD_SAMPLES_MAX) {
        aq_rpc_fail(closure_data, AQ_RPC_RESOURCE_EXHAUSTED, "%d requests are waiting already",
                    AQ_REPLAY_HELD_SAMPLES_MAX);
    } else {
        sampling->held[sampling->held_count++] = asked;
        tell_wants(sampling);
        sampling->wanting(sampling->user);
    }
}

/* False when the call was answered. */
static bool are_priorities(const aq_sampling_service *sampling,
                           const Actorq__V1__PrioritizeRequest *input, void *closure_data)
{
    uint64_t incarnation = aq_replay_core_incarnation(sampling->host->core);
    size_t count = input->item.len / sizeof(uint64_t);
    const bool asks_for_process =
        input->item.len == 0 && input->shard_incarnation == sampling->host->process;
    if (input->shard_incarnation != incarnation && !asks_for_process) {
        aq_rpc_fail(closure_data, AQ_RPC_FAILED_PRECONDITION,
                    "these items were given by start %016" PRIx64
                    " of this shard; this is %016" PRIx64,
                    input->shard_incarnation, incarnation);
        return false;
    }
    if (count > AQ_PRIORITIZE_ITEMS_MAX || input->item.len != count * sizeof(uint64_t) ||
        input->priority.len != count * sizeof(float)) {
        aq_rpc_fail(
            closure_data, AQ_RPC_INVALID_ARGUMENT,
            "%zu bytes of items and %zu of priorities; 8 and 4 for each of at most %d items "
            "are possible",
            input->item.len, input->priority.len, AQ_PRIORITIZE_ITEMS_MAX);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        float priority;
        memcpy(&priority, input->priority.data + i * sizeof(priority), sizeof(priority));
        if (!(isfinite(priority) && priority >= 0.0f)) {
            aq_rpc_fail(closure_data, AQ_RPC_INVALID_ARGUMENT,
                        "a priority of %g; finite numbers from 0 on are possible",
                        (double)priority);
            return false;
        }
    }
    return true;
}

static void sampling_prioritize(Actorq__V1__Sampling_Service *service,
                                const Actorq__V1__PrioritizeRequest *input,
                                Actorq__V1__PrioritizeReply_Closure closure, void *closure_data)
{
    aq_sampling_service *sampling = (aq_sampling_service *)service;
    if (!aq_replay_host_accepts(sampling->host, input->run_id, 0, closure_data) ||
        !are_priorities(sampling, input, closure_data)) {
        return;
    }
    int table = find_table(sampling, input->table, closure_data);
    if (table < 0) {
        return;
    }
    /* protobuf-c's bytes are a block of their own, so they are aligned for anything. */
    Actorq__V1__PrioritizeReply reply = ACTORQ__V1__PRIORITIZE_REPLY__INIT;
    if (input->item.len > 0) {
        reply.applied = aq_replay_core_prioritize(sampling->host->core, (size_t)table,
                                                  (const uint64_t *)(const void *)input->item.data,
                                                  (const float *)(const void *)input->priority.data,
                                                  (uint32_t)(input->item.len / sizeof(uint64_t)));
    }
    closure(&reply, closure_data);
}

int aq_sampling_service_init(aq_sampling_service *sampling, const aq_replay_host *host,
                             void (*wanting)(void *user), void *user)
{
    *sampling = (aq_sampling_service){
        .base = ACTORQ__V1__SAMPLING__INIT(sampling_),
        .host = host,
        .wanting = wanting,
        .user = user,
        .held = aq_alloc(AQ_REPLAY_HELD_SAMPLES_MAX, sizeof(*sampling->held)),
    };
    return sampling->held != NULL ? 0 : AQ_E_NOMEM;
}

static void drop_batches(aq_sampling_service *sampling)
{
    for (size_t i = 0; i < AQ_TABLES_MAX; i++) {
        aq_batch_destroy(sampling->batches[i]);
        sampling->batches[i] = NULL;
    }
}

void aq_sampling_service_fini(aq_sampling_service *sampling)
{
    AQ_ASSERT(sampling->held_count == 0);
    drop_batches(sampling);
    aq_free(sampling->held);
    sampling->held = NULL;
}

static int create_batch(const aq_layout *layout, const aq_table_spec *spec, uint32_t rows,
                        size_t reply_bytes_max, aq_batch **ret_batch, aq_error *error)
{
    const size_t bytes = aq_wire_sample_bytes(layout, spec->sequence_length, rows);
    if (bytes > reply_bytes_max) {
        return aq_fail(error, AQ_E_TOO_BIG,
                       "sample requests of %" PRIu32 " rows of table %s make replies of %zu bytes; "
                       "at most %zu can be sent",
                       rows, spec->name, bytes, reply_bytes_max);
    }
    int rc = aq_batch_create(layout, spec->sequence_length, rows, ret_batch);
    return rc != 0 ? aq_fail(error, rc, "a batch of %" PRIu32 " rows: %s", rows, aq_error_text(rc))
                   : 0;
}

int aq_sampling_service_begin(aq_sampling_service *sampling, const aq_replay_core *core,
                              size_t reply_bytes_max, aq_error *error)
{
    const aq_run_settings *settings = aq_replay_core_settings(core);
    for (size_t i = 0; i < settings->table_count; i++) {
        AQ_ASSERT(sampling->batches[i] == NULL);
        int rc = create_batch(aq_replay_core_layout(core), &settings->tables[i],
                              settings->sample_rows, reply_bytes_max, &sampling->batches[i], error);
        if (rc != 0) {
            drop_batches(sampling);
            return rc;
        }
    }
    return 0;
}

/* The oldest of each table, until one of it has to wait. An answer is sent by others later, so none
 * of them brings a new request in the middle of this. */
void aq_sampling_service_serve(aq_sampling_service *sampling)
{
    bool waits[AQ_TABLES_MAX] = {false};
    size_t kept = 0;
    for (size_t i = 0; i < sampling->held_count; i++) {
        aq_held_sample *held = &sampling->held[i];
        if (waits[held->table] || !answer(sampling, held)) {
            waits[held->table] = true;
            sampling->held[kept++] = *held;
        }
    }
    if (sampling->held_count > 0) {
        sampling->held_count = kept;
        tell_wants(sampling);
    }
}

/* Its time is over, and it will be asked again, behind the others: they move up. The next one is
 * trained on in its stead, so what would have done for it does; else steps that are young enough
 * would be dropped for having taken long. */
static void give_up_place(aq_sampling_service *sampling, size_t place)
{
    uint32_t version_min = sampling->held[place].version_min;
    for (size_t i = place + 1; i < sampling->held_count; i++) {
        aq_held_sample *behind = &sampling->held[i];
        if (behind->table == sampling->held[place].table) {
            const uint32_t its_own = behind->version_min;
            behind->version_min = version_min;
            version_min = its_own;
        }
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
            give_up_place(sampling, i);
        } else {
            sampling->held[kept++] = *held;
        }
    }
    if (sampling->held_count > kept) {
        sampling->held_count = kept;
        tell_wants(sampling);
    }
}

void aq_sampling_service_release(aq_sampling_service *sampling, const char *reason)
{
    for (size_t i = 0; i < sampling->held_count; i++) {
        aq_rpc_fail(sampling->held[i].closure_data, AQ_RPC_UNAVAILABLE, "%s", reason);
    }
    sampling->held_count = 0;
    drop_batches(sampling);
}
