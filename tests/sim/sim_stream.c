/*
 * Chunks are kept to the end of the run: a few megabytes.
 */
#include "tests/sim/sim_stream.h"
#include "tests/support/chunks.h"

#include <inttypes.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "tests/support/must.h"

void sim_stream_init(sim_stream *stream, sim_source *source, uint32_t number)
{
    *stream = (sim_stream){.source = source, .number = number};
}

void sim_stream_fini(sim_stream *stream)
{
    for (uint64_t i = 0; i < stream->count; i++) {
        for (uint32_t k = 0; k < stream->sent[i].chunk_count; k++) {
            aq_chunk_unref(stream->sent[i].chunks[k]);
        }
        aq_free(stream->sent[i].chunks);
    }
    aq_free(stream->sent);
    stream->sent = NULL;
    stream->count = 0;
}

sim_sent *sim_stream_message(const sim_stream *stream, uint64_t seq)
{
    return seq >= 1 && seq <= stream->count ? &stream->sent[seq - 1] : NULL;
}

uint64_t sim_stream_fresh(const sim_stream *stream, uint64_t seq)
{
    const sim_sent *sent = sim_stream_message(stream, seq);
    return sent != NULL ? sent->fresh_before + sent->fresh : 0;
}

/* ---- one chunk ------------------------------------------------------------------------------ */

static bool is_same_chunk(const aq_chunk_view *a, const aq_chunk_view *b, const aq_layout *layout)
{
    return a->episode == b->episode && a->first == b->first && a->lane == b->lane &&
           a->length == b->length && a->overlap == b->overlap && a->terminated == b->terminated &&
           a->truncated == b->truncated && has_same_rows(layout, a, 0, b, a->length);
}

/* ---- messages ------------------------------------------------------------------------------- */

bool sim_stream_holds(const sim_stream *stream, const aq_experience *message)
{
    const sim_sent *sent = sim_stream_message(stream, message->seq);
    if (sent == NULL || sent->chunk_count != message->chunk_count) {
        return false;
    }
    for (uint32_t i = 0; i < sent->chunk_count; i++) {
        if (!is_same_chunk(&sent->chunks[i]->view, &message->chunks[i]->view,
                           &stream->source->layout)) {
            return false;
        }
    }
    return true;
}

bool sim_stream_is_for(const sim_stream *stream, uint64_t store)
{
    for (size_t i = 0; i < stream->store_count; i++) {
        if (stream->stores[i] == store) {
            return true;
        }
    }
    return false;
}

static void note_store(sim_stream *stream, uint64_t store)
{
    if (stream->store_count > 0 && stream->stores[stream->store_count - 1] == store) {
        return;
    }
    if (sim_stream_is_for(stream, store)) {
        sim_broken(stream->source->world, SIM_STREAM,
                   "actor %" PRIu64 " goes back to store %016" PRIx64, stream->source->actor,
                   store);
        return;
    }
    AQ_ASSERT(stream->store_count < SIM_STORES_MAX);
    stream->stores[stream->store_count++] = store;
}

static void send_first(sim_stream *stream, const aq_experience *message)
{
    must_grow(&stream->sent, &stream->capacity, stream->count, sizeof(*stream->sent));
    sim_sent *sent = &stream->sent[stream->count];
    *sent = (sim_sent){
        .chunks = must_alloc(message->chunk_count, sizeof(*sent->chunks)),
        .fresh_before = sim_stream_fresh(stream, stream->count),
    };
    stream->count++;
    for (uint32_t i = 0; i < message->chunk_count; i++) {
        sent->chunks[sent->chunk_count++] = aq_chunk_ref(message->chunks[i]);
        sent->fresh += aq_chunk_view_fresh(&message->chunks[i]->view);
        sim_source_sends(stream->source, message->chunks[i]);
    }
}

void sim_stream_send(sim_stream *stream, const aq_experience *message)
{
    sim_source *source = stream->source;
    if (source->actor != 0 && source->actor != message->actor) {
        sim_broken(source->world, SIM_STREAM, "actor %" PRIu64 " calls itself %" PRIu64,
                   source->actor, message->actor);
    }
    source->actor = message->actor;
    note_store(stream, message->store);
    if (message->seq == stream->count + 1) {
        send_first(stream, message);
    } else if (message->seq > stream->count) {
        sim_broken(source->world, SIM_STREAM,
                   "actor %" PRIu64 " sends message %" PRIu64 " after message %" PRIu64,
                   source->actor, message->seq, stream->count);
    } else if (!sim_stream_holds(stream, message)) {
        sim_broken(source->world, SIM_STREAM,
                   "actor %" PRIu64 " sends message %" PRIu64 " again with another content",
                   source->actor, message->seq);
    }
}
