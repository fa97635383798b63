/*
 * Chunks are kept to the end of the run: a few megabytes.
 */
#include "tests/sim/sim_stream.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

void sim_stream_init(sim_stream *stream, sim_world *world, const aq_chunk_layout *layout,
                     uint64_t incarnation)
{
    *stream = (sim_stream){
        .world = world,
        .incarnation = incarnation,
        .layout = *layout,
    };
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

static bool is_same_chunk(const aq_chunk *a, const aq_chunk *b, const aq_chunk_layout *layout)
{
    size_t length = a->length;
    return a->episode == b->episode && a->first == b->first && a->lane == b->lane &&
           a->length == b->length && a->overlap == b->overlap && a->terminated == b->terminated &&
           a->truncated == b->truncated &&
           memcmp(a->obs, b->obs, (length + 1) * layout->obs_bytes) == 0 &&
           memcmp(a->action, b->action, length * layout->action_bytes) == 0 &&
           memcmp(a->reward, b->reward, length * sizeof(*a->reward)) == 0 &&
           memcmp(a->version, b->version, length * sizeof(*a->version)) == 0;
}

/* The repeated rows of `chunk` are the last ones of `last`, and the observation goes on. */
static bool overlaps(const aq_chunk *last, const aq_chunk *chunk, const aq_chunk_layout *layout)
{
    uint32_t overlap = chunk->overlap;
    if (last->length < overlap) {
        return false;
    }
    uint32_t row = last->length - overlap;
    return memcmp(chunk->obs, last->obs + (size_t)row * layout->obs_bytes,
                  (size_t)(overlap + 1) * layout->obs_bytes) == 0 &&
           memcmp(chunk->action, last->action + (size_t)row * layout->action_bytes,
                  (size_t)overlap * layout->action_bytes) == 0 &&
           memcmp(chunk->reward, last->reward + row, overlap * sizeof(*chunk->reward)) == 0 &&
           memcmp(chunk->version, last->version + row, overlap * sizeof(*chunk->version)) == 0;
}

static bool follows(const aq_chunk *last, const aq_chunk *chunk, const aq_chunk_layout *layout)
{
    if (last == NULL) {
        return chunk->episode == 1 && chunk->first == 0 && chunk->overlap == 0;
    }
    if (last->terminated || last->truncated) {
        return chunk->episode == last->episode + 1 && chunk->first == 0 && chunk->overlap == 0;
    }
    return chunk->episode == last->episode && chunk->overlap == layout->n_step - 1 &&
           chunk->first + chunk->overlap == last->first + last->length &&
           overlaps(last, chunk, layout);
}

static void check_versions(const sim_stream *stream, const aq_chunk *chunk)
{
    for (uint32_t i = 1; i < chunk->length; i++) {
        if (chunk->version[i] < chunk->version[i - 1]) {
            sim_broken(stream->world, SIM_VERSIONS,
                       "actor %" PRIu64 " lane %u episode %" PRIu64
                       ": step %u was chosen by version %u, the one before by %u",
                       stream->actor, chunk->lane, chunk->episode, chunk->first + i,
                       chunk->version[i], chunk->version[i - 1]);
        }
    }
}

static void take_chunk(sim_stream *stream, sim_sent *sent, aq_chunk *chunk)
{
    AQ_ASSERT(chunk->lane < SIM_LANES_MAX);
    const aq_chunk *last = stream->last[chunk->lane];
    if (!follows(last, chunk, &stream->layout)) {
        sim_broken(stream->world, SIM_STREAM,
                   "actor %" PRIu64 " lane %u: a chunk of episode %" PRIu64
                   " from step %u on (%u of its %u rows repeated) follows one of episode %" PRIu64
                   " from step %u on with %u rows",
                   stream->actor, chunk->lane, chunk->episode, chunk->first, chunk->overlap,
                   chunk->length, last != NULL ? last->episode : 0, last != NULL ? last->first : 0,
                   last != NULL ? last->length : 0);
    }
    check_versions(stream, chunk);
    sent->chunks[sent->chunk_count++] = aq_chunk_ref(chunk);
    sent->fresh += aq_chunk_fresh(chunk);
    stream->last[chunk->lane] = chunk;
}

/* ---- messages ------------------------------------------------------------------------------- */

static void grow(sim_stream *stream)
{
    if (stream->count < stream->capacity) {
        return;
    }
    uint64_t capacity = stream->capacity > 0 ? 2 * stream->capacity : 64;
    sim_sent *sent = aq_alloc(capacity, sizeof(*sent));
    AQ_ASSERT(sent != NULL);
    if (stream->count > 0) {
        memcpy(sent, stream->sent, stream->count * sizeof(*sent));
    }
    aq_free(stream->sent);
    stream->sent = sent;
    stream->capacity = capacity;
}

bool sim_stream_holds(const sim_stream *stream, const aq_experience *message)
{
    const sim_sent *sent = sim_stream_message(stream, message->seq);
    if (sent == NULL || sent->chunk_count != message->chunk_count) {
        return false;
    }
    for (uint32_t i = 0; i < sent->chunk_count; i++) {
        if (!is_same_chunk(sent->chunks[i], message->chunks[i], &stream->layout)) {
            return false;
        }
    }
    return true;
}

void sim_stream_send(sim_stream *stream, const aq_experience *message)
{
    if (stream->actor != 0 && stream->actor != message->actor) {
        sim_broken(stream->world, SIM_STREAM, "actor %" PRIu64 " calls itself %" PRIu64,
                   stream->actor, message->actor);
    }
    stream->actor = message->actor;
    if (message->seq <= stream->count) {
        if (!sim_stream_holds(stream, message)) {
            sim_broken(stream->world, SIM_STREAM,
                       "actor %" PRIu64 " sends message %" PRIu64 " again with another content",
                       stream->actor, message->seq);
        }
        return;
    }
    if (message->seq != stream->count + 1) {
        sim_broken(stream->world, SIM_STREAM,
                   "actor %" PRIu64 " sends message %" PRIu64 " after message %" PRIu64,
                   stream->actor, message->seq, stream->count);
        return;
    }
    grow(stream);
    sim_sent *sent = &stream->sent[stream->count];
    *sent = (sim_sent){
        .chunks = aq_alloc(message->chunk_count, sizeof(*sent->chunks)),
        .fresh_before = sim_stream_fresh(stream, stream->count),
    };
    AQ_ASSERT(sent->chunks != NULL);
    stream->count++;
    for (uint32_t i = 0; i < message->chunk_count; i++) {
        take_chunk(stream, sent, message->chunks[i]);
    }
}

void sim_stream_acts(sim_stream *stream, uint64_t version)
{
    if (version < stream->version) {
        sim_broken(stream->world, SIM_VERSIONS,
                   "actor %" PRIu64 " acts with version %" PRIu64 " after version %" PRIu64,
                   stream->actor, version, stream->version);
    }
    stream->version = version;
}
