/*
 * Found by linear search: there are a few dozen of each.
 */
#include "tests/sim/sim_ledger.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/net/rpc/frame.h"
#include "common/wire/wire_policy.h"
#include "tests/support/must.h"
#include "tests/unit/common/wire/experience_read.h"

void sim_ledger_init(sim_ledger *ledger, sim_world *world, uint64_t run_id,
                     const aq_run_settings *settings, const aq_layout *layout, bool in_order)
{
    *ledger = (sim_ledger){
        .world = world,
        .run_id = run_id,
        .settings = *settings,
        .layout = *layout,
        .in_order = in_order,
    };
}

void sim_ledger_fini(sim_ledger *ledger)
{
    for (size_t i = 0; i < ledger->stream_count; i++) {
        sim_stream_fini(ledger->streams[i]);
        aq_free(ledger->streams[i]);
    }
    for (size_t i = 0; i < ledger->source_count; i++) {
        sim_source_fini(ledger->sources[i]);
        aq_free(ledger->sources[i]);
    }
    for (size_t i = 0; i < ledger->book_count; i++) {
        sim_book_fini(ledger->books[i]);
        aq_free(ledger->books[i]);
    }
    aq_free(ledger->versions);
}

sim_source *sim_ledger_source(sim_ledger *ledger, uint64_t incarnation)
{
    for (size_t i = 0; i < ledger->source_count; i++) {
        if (ledger->sources[i]->incarnation == incarnation) {
            return ledger->sources[i];
        }
    }
    AQ_ASSERT(ledger->source_count < SIM_SOURCES_MAX);
    sim_source *source = must_alloc(1, sizeof(*source));
    sim_source_init(source, ledger->world, &ledger->layout, incarnation, ledger->in_order);
    ledger->sources[ledger->source_count++] = source;
    return source;
}

sim_stream *sim_ledger_stream(const sim_ledger *ledger, uint64_t incarnation, uint64_t store)
{
    for (size_t i = 0; i < ledger->stream_count; i++) {
        sim_stream *stream = ledger->streams[i];
        if (stream->source->incarnation == incarnation && sim_stream_is_for(stream, store)) {
            return stream;
        }
    }
    return NULL;
}

/* Finds it, or begins it. */
static sim_stream *stream_to(sim_ledger *ledger, uint64_t incarnation, uint32_t number)
{
    sim_source *source = sim_ledger_source(ledger, incarnation);
    for (size_t i = 0; i < ledger->stream_count; i++) {
        if (ledger->streams[i]->source == source && ledger->streams[i]->number == number) {
            return ledger->streams[i];
        }
    }
    AQ_ASSERT(ledger->stream_count < SIM_STREAMS_MAX);
    sim_stream *stream = must_alloc(1, sizeof(*stream));
    sim_stream_init(stream, source, number);
    ledger->streams[ledger->stream_count++] = stream;
    return stream;
}

static void read_frame(const sim_ledger *ledger, const uint8_t *frame, size_t size,
                       aq_experience *ret_message)
{
    aq_error error = {0};
    must(experience_read(frame, size, ledger->run_id, &ledger->layout, ret_message, &error));
}

void sim_ledger_sent(sim_ledger *ledger, uint32_t number, const uint8_t *frame, size_t size)
{
    aq_experience message;
    read_frame(ledger, frame, size, &message);
    sim_trace(ledger->world, "message sent", message.actor, message.seq);
    sim_stream_send(stream_to(ledger, message.incarnation, number), &message);
    experience_fini(&message);
}

static sim_book *find_book(const sim_ledger *ledger, uint64_t store)
{
    for (size_t i = 0; i < ledger->book_count; i++) {
        if (ledger->books[i]->store == store) {
            return ledger->books[i];
        }
    }
    return NULL;
}

sim_book *sim_ledger_book(sim_ledger *ledger, uint64_t store, bool durable)
{
    sim_book *book = find_book(ledger, store);
    if (book == NULL) {
        AQ_ASSERT(ledger->book_count < SIM_BOOKS_MAX);
        book = must_alloc(1, sizeof(*book));
        sim_book_init(book, ledger->world, &ledger->settings, &ledger->layout, store, durable);
        ledger->books[ledger->book_count++] = book;
    }
    return book;
}

/* What is in one store may come into another one only when the first is gone. */
static void check_other(sim_ledger *ledger, const sim_book *book, const sim_stream *stream,
                        uint64_t seq)
{
    const sim_sent *sent = sim_stream_message(stream, seq);
    const sim_book *other =
        sent != NULL && sent->stored_in != 0 ? find_book(ledger, sent->stored_in) : NULL;
    if (other == NULL || other == book) {
        return;
    }
    ledger->twice += other->alive;
    if (other->durable) {
        sim_broken(ledger->world, SIM_STORED_ONCE,
                   "store %016" PRIx64 " takes message %" PRIu64 " of actor %" PRIu64
                   ", which durable store %016" PRIx64 " has",
                   book->store, seq, stream->source->actor, other->store);
    }
}

void sim_ledger_offered(sim_ledger *ledger, sim_book *book, const uint8_t *frame, size_t size,
                        const aq_replay_counters *before, const aq_replay_counters *after)
{
    aq_experience message;
    read_frame(ledger, frame, size, &message);
    if (after->messages > before->messages) {
        sim_stream *stream = sim_ledger_stream(ledger, message.incarnation, book->store);
        sim_trace(ledger->world, "message stored", message.actor, message.seq);
        if (stream == NULL) {
            sim_broken(ledger->world, SIM_STORED_ONCE,
                       "store %016" PRIx64 " takes message %" PRIu64 " of actor %" PRIu64
                       ", which was not for it",
                       book->store, message.seq, message.actor);
        } else {
            check_other(ledger, book, stream, message.seq);
            sim_book_stored(book, stream, &message);
        }
    }
    experience_fini(&message);
    sim_book_compare(book, after);
}

/* Of every byte of it. */
static uint32_t digest_of(const aq_snapshot *policy)
{
    aq_buffer frame;
    aq_buffer_init(&frame, SIZE_MAX);
    must(aq_wire_policy_pack(policy, &frame));
    const uint32_t digest = aq_frame_crc(frame.data);
    aq_buffer_fini(&frame);
    return digest;
}

uint64_t sim_ledger_newest(const sim_ledger *ledger)
{
    return ledger->version_count > 0 ? ledger->versions[ledger->version_count - 1].number : 0;
}

void sim_ledger_published(sim_ledger *ledger, const aq_snapshot *policy)
{
    const uint64_t version = policy->version;
    const uint64_t newest = sim_ledger_newest(ledger);
    sim_trace(ledger->world, "version published", version, 0);
    if (version <= newest) {
        sim_broken(ledger->world, SIM_VERSIONS,
                   "version %" PRIu64 " is published after version %" PRIu64, version, newest);
    }
    must_grow(&ledger->versions, &ledger->version_capacity, ledger->version_count,
              sizeof(*ledger->versions));
    ledger->versions[ledger->version_count++] = (sim_version){version, digest_of(policy)};
}

/* NULL: never published. */
static const sim_version *find_version(const sim_ledger *ledger, uint64_t version)
{
    for (size_t i = ledger->version_count; i > 0; i--) {
        if (ledger->versions[i - 1].number == version) {
            return &ledger->versions[i - 1];
        }
    }
    return NULL;
}

void sim_ledger_received(sim_ledger *ledger, const aq_snapshot *policy)
{
    const sim_version *version = find_version(ledger, policy->version);
    if (version == NULL || version->digest != digest_of(policy)) {
        sim_broken(ledger->world, SIM_POLICY,
                   "somebody has a version %" PRIu64 " that is not the learner's", policy->version);
    }
}

void sim_ledger_acts(sim_ledger *ledger, uint64_t incarnation, uint64_t version)
{
    sim_source *source = sim_ledger_source(ledger, incarnation);
    if (version == source->version) {
        return;
    }
    if (find_version(ledger, version) == NULL) {
        sim_broken(ledger->world, SIM_VERSIONS,
                   "actor %" PRIu64 " acts with version %" PRIu64 ", which was never published",
                   source->actor, version);
    }
    sim_trace(ledger->world, "actor acts with", source->actor, version);
    sim_source_acts(source, version);
}

uint64_t sim_ledger_inserted(const sim_ledger *ledger)
{
    uint64_t inserted = 0;
    for (size_t i = 0; i < ledger->book_count; i++) {
        inserted += ledger->books[i]->most_inserted;
    }
    return inserted;
}

void sim_ledger_counted(sim_ledger *ledger, uint64_t learner_life, uint64_t env_steps)
{
    if (learner_life == ledger->learner_life && env_steps < ledger->env_steps) {
        sim_broken(ledger->world, SIM_ENV_STEPS,
                   "the learner counted %" PRIu64 " steps before, now %" PRIu64, ledger->env_steps,
                   env_steps);
    }
    ledger->learner_life = learner_life;
    ledger->env_steps = env_steps;
    if (env_steps > sim_ledger_inserted(ledger)) {
        sim_broken(ledger->world, SIM_ENV_STEPS,
                   "the learner counts %" PRIu64 " steps; %" PRIu64 " were inserted", env_steps,
                   sim_ledger_inserted(ledger));
    }
}
