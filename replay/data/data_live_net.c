/*
 * One call at a time: the shard has better things to do than to be emptied fast.
 */
#include "replay/data/data_live_net.h"

#include "common/base/clock.h"
#include "common/base/fnv1a.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/address/url.h"
#include "common/net/rpc/caller.h"
#include "common/net/rpc/rpc.h"
#include "common/wire/wire_frame.h"
#include "common/wire/wire_run.h"
#include "proto/exchange.pb-c.h"
#include "proto/experience.pb-c.h"
#include "replay/data/data_packer.h"

enum { CALL_MS = 10000, PAGE_BYTES = 4 << 20, CREDIT_WAIT_MS = 500, PATIENCE_S = 120 };
enum { EXPORT = 0, IMPORT = 1, CREDIT = 0 };

struct aq_data_live {
    char url[AQ_URL_MAX];
    aq_caller *caller;
    aq_data_live_info info;
};

/* ---- calls ----------------------------------------------------------------------------------- */

static int call(aq_data_live *live, const ProtobufCServiceDescriptor *service, unsigned index,
                const ProtobufCMessage *request, ProtobufCMessage **ret_reply, aq_error *error)
{
    aq_rpc_status status;
    return aq_caller_call(live->caller, (aq_caller_method){.service = service, .index = index},
                          request, CALL_MS, ret_reply, &status, error);
}

static int ask_page(aq_data_live *live, uint64_t after, uint32_t bytes_max,
                    Actorq__V1__ExportReply **ret_page, aq_error *error)
{
    Actorq__V1__ExportRequest request = ACTORQ__V1__EXPORT_REQUEST__INIT;
    ProtobufCMessage *reply;
    request.after = after;
    request.bytes_max = bytes_max;
    int rc = call(live, &actorq__v1__exchange__descriptor, EXPORT, &request.base, &reply, error);
    if (rc == 0) {
        *ret_page = (Actorq__V1__ExportReply *)reply;
    }
    return rc;
}

int aq_data_live_open(const char *url, aq_data_live **ret_live, aq_error *error)
{
    Actorq__V1__ExportReply *page;
    aq_data_live *live = aq_alloc(1, sizeof(*live));
    if (live == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    int rc = aq_text_set(live->url, sizeof(live->url), url);
    rc = rc != 0 ? aq_fail(error, rc, "the address is too long")
                 : aq_caller_open(url, &live->caller, error);
    if (rc == 0) {
        rc = ask_page(live, UINT64_MAX, 1, &page, error);
    }
    if (rc == 0) {
        live->info = (aq_data_live_info){
            .run_id = page->run_id,
            .schema_hash = page->schema_hash,
            .store = page->store,
            .n_step = page->n_step,
            .chunk_length = page->chunk_length,
            .message_bytes = page->message_bytes,
        };
        rc = aq_text_set(live->info.task, sizeof(live->info.task), page->task);
        if (rc != 0) {
            (void)aq_fail(error, rc, "%s: the name of its task is too long", url);
        }
        if (rc == 0) {
            rc = aq_wire_schema_from(page->schema, &live->info.schema, error);
        }
        actorq__v1__export_reply__free_unpacked(page, NULL);
    }
    if (rc != 0) {
        aq_data_live_close(live);
        return rc;
    }
    *ret_live = live;
    return 0;
}

void aq_data_live_close(aq_data_live *live)
{
    if (live != NULL) {
        aq_caller_close(live->caller);
        aq_free(live);
    }
}

const aq_data_live_info *aq_data_live_about(const aq_data_live *live)
{
    return &live->info;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int take_frame(const aq_data_live *live, const ProtobufCBinaryData *bytes,
                      const aq_layout *layout, const aq_data_sink *sink, aq_error *error)
{
    aq_lease *frame;
    int rc = aq_lease_copy(bytes->data, bytes->len, &frame);
    if (rc != 0) {
        return aq_fail(error, rc, "out of memory");
    }
    rc = aq_data_source_frame(frame, live->info.run_id, layout, sink, error);
    aq_lease_unref(frame);
    return rc;
}

int aq_data_live_read(aq_data_live *live, const aq_data_set_info *info, const aq_data_sink *sink,
                      aq_error *error)
{
    aq_layout layout;
    uint64_t after = 0;
    uint64_t count = 0;
    bool more = true;
    int rc = aq_data_set_layout(info, &layout, error);
    while (rc == 0 && more) {
        Actorq__V1__ExportReply *page;
        rc = ask_page(live, after, PAGE_BYTES, &page, error);
        if (rc != 0) {
            break;
        }
        if (page->store != live->info.store) {
            rc = aq_fail(error, AQ_E_FOREIGN, "%s: another store has taken its place meanwhile",
                         live->url);
        }
        for (size_t i = 0; rc == 0 && i < page->n_frames; i++) {
            rc = take_frame(live, &page->frames[i], &layout, sink, error);
        }
        count += page->n_frames;
        more = page->more && page->last > after;
        after = page->last;
        if (rc == 0 && page->messages > 0) {
            const double done = (double)count / (double)page->messages;
            rc = aq_data_progress_tell(&sink->progress, done < 1.0 ? done : 1.0, error);
        }
        actorq__v1__export_reply__free_unpacked(page, NULL);
    }
    return rc;
}

/* ---- bringing -------------------------------------------------------------------------------- */

typedef struct sender_state {
    aq_data_sender sent; /* first */
    uint64_t granted, acknowledged;
    uint64_t known_steps; /* in messages of an earlier attempt */
} sender_state;

typedef struct bringing {
    aq_data_live *live;
    aq_data_lanes *senders;
    aq_data_imported imported;
} bringing;

/* One long poll. A shard that does not go on where it was sent to has lost what came before, which
 * is not there any more to be sent again. */
static int ask_credit(bringing *work, const aq_data_lane *sender, uint32_t wait_ms, aq_error *error)
{
    Actorq__V1__CreditRequest request = ACTORQ__V1__CREDIT_REQUEST__INIT;
    ProtobufCMessage *reply;
    sender_state *state = sender->memory;
    request.run_id = work->live->info.run_id;
    request.actor = sender->actor;
    request.incarnation = sender->incarnation;
    request.known_acknowledged = state->acknowledged;
    request.known_granted = state->granted;
    request.acknowledged_steps = state->known_steps;
    request.wait_ms = wait_ms;
    request.store = work->live->info.store;
    int rc = call(work->live, &actorq__v1__flow__descriptor, CREDIT, &request.base, &reply, error);
    if (rc != 0) {
        return rc;
    }
    const Actorq__V1__CreditReply *credit = (const Actorq__V1__CreditReply *)reply;
    if (credit->store != work->live->info.store) {
        rc = aq_fail(error, AQ_E_FOREIGN, "%s: another store has taken its place meanwhile",
                     work->live->url);
    } else if (credit->expected <= state->sent.seq) {
        rc = aq_fail(error, AQ_E_PEER,
                     "%s was started again meanwhile, and lost what it had not acknowledged: "
                     "import the data set once more, which brings what is missing",
                     work->live->url);
    } else {
        state->granted = credit->granted;
        state->acknowledged = credit->acknowledged;
    }
    protobuf_c_message_free_unpacked(reply, NULL);
    return rc;
}

static int send_frame(bringing *work, const aq_lease *frame, bool *ret_stored, aq_error *error)
{
    Actorq__V1__ImportRequest request = ACTORQ__V1__IMPORT_REQUEST__INIT;
    ProtobufCMessage *reply;
    request.frame = aq_wire_bytes(frame->bytes, frame->size);
    int rc =
        call(work->live, &actorq__v1__exchange__descriptor, IMPORT, &request.base, &reply, error);
    if (rc == 0) {
        *ret_stored = ((const Actorq__V1__ImportReply *)reply)->stored;
        protobuf_c_message_free_unpacked(reply, NULL);
    }
    return rc;
}

static int on_message(void *user, const aq_data_message *message, aq_error *error)
{
    bringing *work = user;
    sender_state *state = message->sender->memory;
    const int64_t until_ns = aq_clock_monotonic_ns() + PATIENCE_S * AQ_NS_PER_S;
    bool known = false;
    bool stored = false;
    int rc = 0;
    for (int tries = 0; rc == 0 && !stored && !known; tries++) {
        if (aq_clock_monotonic_ns() >= until_ns) {
            return aq_fail(error, AQ_E_TIMEOUT,
                           "%s has taken nothing for %d s: its rate limiter waits for the learner, "
                           "or it has no room for what is still to be written",
                           work->live->url, PATIENCE_S);
        }
        if (message->seq > state->acknowledged && message->transitions_total > state->granted) {
            rc = ask_credit(work, message->sender, tries == 0 ? 0 : CREDIT_WAIT_MS, error);
        } else if (message->seq <= state->acknowledged) {
            known = true; /* from an earlier attempt, whose grant a later life does not know */
            state->known_steps = message->transitions_total;
            if (state->granted < state->known_steps) {
                state->granted = state->known_steps;
            }
        } else {
            rc = send_frame(work, message->frame, &stored, error);
            if (rc == 0 && !stored) { /* not now; it says when that may be another matter */
                rc = ask_credit(work, message->sender, CREDIT_WAIT_MS, error);
            }
        }
    }
    work->imported.messages += stored;
    work->imported.transitions += stored ? message->transitions : 0;
    work->imported.known += known ? message->transitions : 0;
    return rc;
}

/* Until the shard says that it would not lose any of it. */
static int settle(bringing *work, aq_error *error)
{
    for (size_t i = 0; i < aq_data_lanes_count(work->senders); i++) {
        const aq_data_lane *sender = aq_data_lanes_at(work->senders, i);
        const sender_state *state = sender->memory;
        const int64_t until_ns = aq_clock_monotonic_ns() + PATIENCE_S * AQ_NS_PER_S;
        while (state->acknowledged < state->sent.seq) {
            int rc = aq_clock_monotonic_ns() < until_ns
                         ? ask_credit(work, sender, CREDIT_WAIT_MS, error)
                         : aq_fail(error, AQ_E_TIMEOUT, "%s does not acknowledge what it was sent",
                                   work->live->url);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

/* What is sent has senders of its own: another data set of the run, or the same one cut otherwise,
 * has other messages of the same numbers. */
static uint64_t salt_of(const aq_data_live_info *live, uint64_t run_id, uint64_t digest)
{
    const uint64_t words[] = {live->run_id,        live->n_step, live->chunk_length,
                              live->message_bytes, run_id,       digest};
    uint64_t hash = AQ_FNV1A_START;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        hash = aq_fnv1a_word(hash, (uint32_t)words[i]);
        hash = aq_fnv1a_word(hash, (uint32_t)(words[i] >> 32));
    }
    return aq_fnv1a_end(hash);
}

static int lay_out(const aq_data_live *live, const aq_data_set_info *info, aq_layout *ret_layout,
                   aq_error *error)
{
    return aq_data_set_run_layout(info, live->info.n_step, live->info.chunk_length, ret_layout,
                                  error);
}

int aq_data_live_import(aq_data_live *live, aq_data_set_reader *reader,
                        const aq_data_progress *progress, aq_data_imported *ret_imported,
                        aq_error *error)
{
    aq_data_set_info info = *aq_data_set_reader_info(reader);
    uint64_t digest;
    bringing work = {.live = live};
    aq_data_packing packing = {
        .run_id = live->info.run_id,
        .store = live->info.store,
        .message_bytes = live->info.message_bytes,
        .steps_max = live->info.chunk_length, /* which every actor is granted at some time */
        .send = on_message,
        .user = &work,
    };
    int rc = lay_out(live, &info, &packing.layout, error);
    if (rc == 0 && packing.layout.hash != live->info.schema_hash) {
        info.recorded_count = 0; /* the run may record nothing */
        rc = lay_out(live, &info, &packing.layout, error);
    }
    if (rc != 0) {
        return rc;
    }
    if (packing.layout.hash != live->info.schema_hash) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "the data set is of %s, the shard of %s: another task, or other recorded "
                       "columns, as of another algorithm",
                       info.task, live->info.task);
    }
    rc = aq_data_set_reader_digest(reader, &digest, error);
    if (rc != 0) {
        return rc;
    }
    packing.salt = salt_of(&live->info, info.run_id, digest);
    rc = aq_data_lanes_create(sizeof(sender_state), &work.senders);
    if (rc != 0) {
        return aq_fail(error, rc, "out of memory");
    }
    packing.senders = work.senders;
    rc = aq_data_pack(reader, &packing, progress, &work.imported.left_out, error);
    if (rc == 0) {
        rc = settle(&work, error);
    }
    if (rc == 0) {
        *ret_imported = work.imported;
    }
    aq_data_lanes_destroy(work.senders);
    return rc;
}
