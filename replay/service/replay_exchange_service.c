/*
 * Who sent what is told apart in a page, and by names alone: an incarnation is its member's secret.
 */
#include "replay/service/replay_exchange_service.h"

#include "common/base/lease.h"
#include "common/net/rpc/frame.h"
#include "common/net/rpc/rpc.h"
#include "common/net/security/incarnation.h"
#include "common/wire/wire_experience.h"
#include "common/wire/wire_frame.h"
#include "common/wire/wire_run.h"

/* Fills the page; the frames point into it. */
static int fill(aq_exchange_service *exchange, const Actorq__V1__ExportRequest *input,
                aq_buffer *page, Actorq__V1__ExportReply *reply)
{
    const aq_replay_core *core = exchange->host->core;
    const aq_stored_message *message = aq_replay_core_message_after(core, input->after);
    size_t count = 0;
    size_t at = 0;
    reply->last = input->after;
    for (; message != NULL && count < AQ_EXCHANGE_FRAMES_MAX; message = message->newer) {
        const aq_arrival *arrival = message->arrival;
        if (count > 0 && page->size + arrival->frame->size > input->bytes_max) {
            break;
        }
        int rc = aq_wire_experience_copy_as(arrival->frame,
                                            aq_incarnation_name(arrival->incarnation), page);
        if (rc != 0) {
            return rc;
        }
        exchange->frames[count++].len = arrival->frame->size;
        reply->last = message->number;
    }
    for (size_t i = 0; i < count; i++) {
        exchange->frames[i].data = page->data + at;
        at += exchange->frames[i].len;
    }
    reply->frames = exchange->frames;
    reply->n_frames = count;
    return 0;
}

static void exchange_export(Actorq__V1__Exchange_Service *service,
                            const Actorq__V1__ExportRequest *input,
                            Actorq__V1__ExportReply_Closure closure, void *closure_data)
{
    aq_exchange_service *exchange = (aq_exchange_service *)service;
    const aq_replay_core *core = exchange->host->core;
    if (!aq_replay_host_has_run(exchange->host, closure_data)) {
        return;
    }
    if (input->bytes_max < 1 || input->bytes_max > AQ_EXCHANGE_BYTES_MAX) {
        aq_rpc_fail(closure_data, AQ_RPC_INVALID_ARGUMENT,
                    "a page of %u bytes; 1 to %d are possible", (unsigned)input->bytes_max,
                    AQ_EXCHANGE_BYTES_MAX);
        return;
    }
    const aq_run_settings *settings = aq_replay_core_settings(core);
    if (settings->gradient_values > 0) {
        aq_rpc_fail(closure_data, AQ_RPC_FAILED_PRECONDITION,
                    "this run's actors send gradients (actor.gradients): there are no steps here");
        return;
    }
    Actorq__V1__ExportReply reply = ACTORQ__V1__EXPORT_REPLY__INIT;
    aq_buffer page;
    aq_buffer_init(&page, AQ_EXCHANGE_BYTES_MAX + AQ_FRAME_HEADER_BYTES +
                              settings->config.net.message_bytes);
    int rc = fill(exchange, input, &page, &reply);
    if (rc != 0) {
        aq_buffer_fini(&page);
        aq_rpc_fail(closure_data, aq_rpc_code_from_error(rc), "a page cannot be made: %s",
                    aq_error_text(rc));
        return;
    }
    aq_wire_schema_view schema;
    aq_wire_schema_to(&settings->schema, &schema);
    reply.schema = &schema.message;
    reply.more = aq_replay_core_message_after(core, reply.last) != NULL;
    reply.run_id = aq_replay_core_run_id(core);
    reply.task = aq_wire_text(settings->task);
    reply.schema_hash = aq_replay_core_layout(core)->hash;
    reply.store = aq_replay_core_store(core);
    reply.messages = aq_replay_core_stored(core).messages;
    reply.n_step = settings->n_step;
    reply.chunk_length = (uint32_t)settings->config.replay.chunk_length;
    reply.message_bytes = (uint32_t)settings->config.net.message_bytes;
    closure(&reply, closure_data);
    aq_buffer_fini(&page);
}

static int take(const aq_replay_host *host, const ProtobufCBinaryData *bytes,
                enum aq_replay_verdict *ret_verdict, aq_error *error)
{
    aq_replay_core *core = host->core;
    const aq_run_settings *settings = aq_replay_core_settings(core);
    aq_lease *frame;
    aq_arrival *arrival;
    if (bytes->len > settings->config.net.message_bytes + AQ_FRAME_HEADER_BYTES) {
        aq_replay_core_reject(core);
        return aq_fail(error, AQ_E_TOO_BIG, "a message of %zu bytes; at most %zu are possible",
                       bytes->len, settings->config.net.message_bytes + AQ_FRAME_HEADER_BYTES);
    }
    int rc = aq_lease_copy(bytes->data, bytes->len, &frame);
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for a message");
    }
    rc = aq_wire_experience_arrive(frame, false, aq_replay_core_run_id(core),
                                   aq_replay_core_layout(core), &arrival, error);
    aq_lease_unref(frame);
    if (rc != 0) {
        aq_replay_core_reject(core);
        return rc;
    }
    return aq_replay_core_insert(core, host->now_ns, arrival, ret_verdict, error);
}

static void exchange_import(Actorq__V1__Exchange_Service *service,
                            const Actorq__V1__ImportRequest *input,
                            Actorq__V1__ImportReply_Closure closure, void *closure_data)
{
    const aq_replay_host *host = ((aq_exchange_service *)service)->host;
    Actorq__V1__ImportReply reply = ACTORQ__V1__IMPORT_REPLY__INIT;
    enum aq_replay_verdict verdict;
    aq_error error;
    if (!aq_replay_host_has_run(host, closure_data)) {
        return;
    }
    int rc = take(host, &input->frame, &verdict, &error);
    if (rc != 0) {
        aq_rpc_fail(closure_data, aq_rpc_code_from_error(rc), "%s", error.text);
        return;
    }
    reply.stored = verdict == AQ_REPLAY_STORED || verdict == AQ_REPLAY_DUPLICATE;
    closure(&reply, closure_data);
}

void aq_exchange_service_init(aq_exchange_service *exchange, const aq_replay_host *host)
{
    *exchange = (aq_exchange_service){
        .base = ACTORQ__V1__EXCHANGE__INIT(exchange_),
        .host = host,
    };
}
