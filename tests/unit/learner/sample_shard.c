/*
 * See sample_shard.h.
 */
#include "tests/unit/learner/sample_shard.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/wire/wire_sample.h"

#define FRAME_BYTES_MAX ((size_t)1 << 20)

static sample_shard *of_service(Actorq__V1__Sampling_Service *service)
{
    return (sample_shard *)(void *)((char *)service - offsetof(sample_shard, service));
}

static void on_sample(Actorq__V1__Sampling_Service *service,
                      const Actorq__V1__SampleRequest *request,
                      Actorq__V1__SampleReply_Closure closure, void *call)
{
    sample_shard *shard = of_service(service);
    sample_call *newest = shard->incoming;
    AQ_ASSERT(shard->count < SHARD_CALLS_MAX);
    shard->calls[shard->count++] = newest;
    shard->asked++;
    newest->closure = closure;
    newest->call = call;
    newest->batch_rows = request->batch_rows;
    newest->batch_count = request->batch_count;
    newest->wait_ms = request->wait_ms;
    newest->run_id = request->run_id;
    newest->schema_hash = request->schema_hash;
    newest->discount = request->discount;
    newest->steps = request->steps;
    newest->version_min = request->version_min;
    (void)snprintf(newest->table, sizeof(newest->table), "%s", request->table);
}

static void on_prioritize(Actorq__V1__Sampling_Service *service,
                          const Actorq__V1__PrioritizeRequest *request,
                          Actorq__V1__PrioritizeReply_Closure closure, void *call)
{
    sample_shard *shard = of_service(service);
    sample_call *newest = shard->incoming;
    AQ_ASSERT(shard->update_count < SHARD_CALLS_MAX);
    shard->updates[shard->update_count++] = newest;
    newest->applied = closure;
    newest->call = call;
    newest->run_id = request->run_id;
    newest->incarnation = request->shard_incarnation;
    (void)snprintf(newest->table, sizeof(newest->table), "%s", request->table);
    newest->rows = (uint32_t)(request->item.len / sizeof(uint64_t));
    AQ_ASSERT(newest->rows <= SHARD_ROWS_MAX);
    AQ_ASSERT(request->priority.len == newest->rows * sizeof(float));
    memcpy(newest->items, request->item.data, request->item.len);
    memcpy(newest->priorities, request->priority.data, request->priority.len);
}

static void on_reply(void *user, const uint8_t *frame, size_t size)
{
    sample_call *call = user;
    AQ_ASSERT(!call->reply);
    call->reply = aq_alloc(size, 1);
    AQ_ASSERT(call->reply);
    memcpy(call->reply, frame, size);
    call->reply_size = size;
}

static int send(aq_rpc_channel *channel, const uint8_t *frame, size_t size, uint32_t timeout_ms,
                aq_rpc_answer_fn answer, void *user)
{
    sample_shard *shard = (sample_shard *)(void *)channel;
    if (shard->send_failure) {
        return shard->send_failure;
    }
    sample_call *call = aq_alloc(1, sizeof(*call));
    AQ_ASSERT(call);
    *call = (sample_call){.answer = answer, .answer_user = user, .timeout_ms = timeout_ms};
    shard->incoming = call;
    aq_rpc_dispatch(shard->dispatcher, frame, size, "10.0.0.1:1", on_reply, call);
    AQ_ASSERT(call->closure || call->applied);
    return 0;
}

void sample_shard_init(sample_shard *shard)
{
    memset(shard, 0, sizeof(*shard));
    aq_rpc_channel_init(&shard->channel, FRAME_BYTES_MAX, 1);
    shard->channel.send = send;
    actorq__v1__sampling__init(&shard->service, NULL);
    shard->service.sample = on_sample;
    shard->service.prioritize = on_prioritize;
    shard->mass = 100;
    int rc = aq_rpc_dispatcher_create((size_t)2 * SHARD_CALLS_MAX, FRAME_BYTES_MAX, 0,
                                      &shard->dispatcher);
    AQ_ASSERT(rc == 0);
    rc = aq_rpc_dispatcher_add(shard->dispatcher, &shard->service.base);
    AQ_ASSERT(rc == 0);
}

static sample_call *take(sample_shard *shard, size_t index)
{
    AQ_ASSERT(index < shard->count);
    sample_call *call = shard->calls[index];
    shard->count--;
    memmove(&shard->calls[index], &shard->calls[index + 1],
            (shard->count - index) * sizeof(shard->calls[0]));
    return call;
}

/* After the dispatcher has made the reply, as a network would. */
static void deliver(sample_call *call)
{
    AQ_ASSERT(call->reply);
    call->answer(call->answer_user, 0, call->reply, call->reply_size);
    aq_free(call->reply);
    aq_free(call);
}

void sample_shard_reply(sample_shard *shard, size_t index, const Actorq__V1__SampleReply *reply)
{
    sample_call *call = take(shard, index);
    call->closure(reply, call->call);
    deliver(call);
}

void sample_shard_answer(sample_shard *shard, size_t index, const aq_batch *batch,
                         uint64_t inserted)
{
    Actorq__V1__SampleReply reply;
    ProtobufCBinaryData recorded[AQ_BATCH_RECORDED_MAX];
    aq_wire_sample_view(batch, inserted, recorded, &reply);
    reply.shard_incarnation = shard->incarnation;
    reply.items = 1000;
    reply.mass = shard->mass;
    reply.held_us = shard->held_us;
    sample_shard_reply(shard, index, &reply);
}

static sample_call *take_update(sample_shard *shard)
{
    AQ_ASSERT(shard->update_count > 0);
    sample_call *update = shard->updates[0];
    shard->update_count--;
    memmove(&shard->updates[0], &shard->updates[1],
            shard->update_count * sizeof(shard->updates[0]));
    return update;
}

void sample_shard_apply(sample_shard *shard, uint32_t applied)
{
    sample_call *update = take_update(shard);
    Actorq__V1__PrioritizeReply reply = ACTORQ__V1__PRIORITIZE_REPLY__INIT;
    reply.applied = applied;
    update->applied(&reply, update->call);
    deliver(update);
}

void sample_shard_refuse_update(sample_shard *shard, enum aq_rpc_code code)
{
    sample_call *update = take_update(shard);
    aq_rpc_fail(update->call, code, "refused with %s", aq_rpc_code_name(code));
    deliver(update);
}

void sample_shard_refuse(sample_shard *shard, size_t index, enum aq_rpc_code code)
{
    sample_call *call = take(shard, index);
    aq_rpc_fail(call->call, code, "refused with %s", aq_rpc_code_name(code));
    deliver(call);
}

/* The dispatcher must get its answer; nobody else hears of it. */
static void forget(sample_call *call)
{
    aq_rpc_fail(call->call, AQ_RPC_CANCELLED, "nobody listens");
    aq_free(call->reply);
    aq_free(call);
}

void sample_shard_break(sample_shard *shard, size_t index, int error)
{
    sample_call *call = take(shard, index);
    call->answer(call->answer_user, error, NULL, 0);
    forget(call);
}

void sample_shard_garble(sample_shard *shard, size_t index)
{
    static const uint8_t garbage[] = "this is no frame, and it never was one";
    sample_call *call = take(shard, index);
    call->answer(call->answer_user, 0, garbage, sizeof(garbage));
    forget(call);
}

void sample_shard_close(sample_shard *shard)
{
    shard->send_failure = AQ_E_CLOSED;
    while (shard->count > 0) {
        sample_shard_break(shard, 0, AQ_E_CLOSED);
    }
    while (shard->update_count > 0) {
        sample_call *update = take_update(shard);
        update->answer(update->answer_user, AQ_E_CLOSED, NULL, 0);
        forget(update);
    }
    aq_rpc_dispatcher_destroy(shard->dispatcher);
}
