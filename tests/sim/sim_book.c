/*
 * The same arithmetic as the shard's, done in the plainest way.
 */
#include "tests/sim/sim_book.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "replay/replay_credit.h"

void sim_book_init(sim_book *book, sim_world *world, const aq_run_settings *settings,
                   const aq_chunk_layout *layout, uint64_t incarnation, uint64_t member)
{
    *book = (sim_book){
        .world = world,
        .incarnation = incarnation,
        .member = member,
        .settings = *settings,
        .layout = *layout,
        .alive = true,
    };
}

void sim_book_fini(sim_book *book)
{
    aq_free(book->entries);
    book->entries = NULL;
}

static sim_account *account_of(sim_book *book, sim_stream *stream)
{
    for (size_t i = 0; i < book->account_count; i++) {
        if (book->accounts[i].stream == stream) {
            return &book->accounts[i];
        }
    }
    AQ_ASSERT(book->account_count < SIM_ACCOUNTS_MAX);
    sim_account *account = &book->accounts[book->account_count++];
    *account = (sim_account){
        .stream = stream,
        .polled_ns = sim_now_ns(book->world),
        .moved_ns = sim_now_ns(book->world),
    };
    return account;
}

/* ---- what goes in --------------------------------------------------------------------------- */

static void enter(sim_book *book, const aq_chunk *chunk)
{
    if (book->count == book->capacity) {
        size_t capacity = book->capacity > 0 ? 2 * book->capacity : 256;
        sim_entry *entries = aq_alloc(capacity, sizeof(*entries));
        AQ_ASSERT(entries != NULL);
        if (book->count > 0) {
            memcpy(entries, book->entries, book->count * sizeof(*entries));
        }
        aq_free(book->entries);
        book->entries = entries;
        book->capacity = capacity;
    }
    book->entries[book->count++] = (sim_entry){.chunk = chunk, .first_item = book->end_item};
    book->end_item += aq_chunk_items(chunk, &book->layout);
    book->transitions += aq_chunk_fresh(chunk);
    book->inserted += aq_chunk_fresh(chunk);
    while (book->transitions > book->settings.tables[0].capacity &&
           book->count - book->oldest > 1) {
        book->transitions -= aq_chunk_fresh(book->entries[book->oldest++].chunk);
    }
}

/* Messages between the mark and `seq` were left out: each must have been taken by another store,
 * which told the actor so, that the actor has no copy any more. */
static void check_hole(const sim_book *book, const sim_account *account, uint64_t seq)
{
    for (uint64_t missing = account->mark + 1; missing < seq; missing++) {
        const sim_sent *sent = sim_stream_message(account->stream, missing);
        if (sent == NULL || sent->stored_in == 0 || sent->stored_in == book->incarnation ||
            missing > account->stream->acknowledged) {
            sim_broken(book->world, SIM_STORED_ONCE,
                       "store %016" PRIx64 " takes message %" PRIu64 " of actor %" PRIu64
                       " but never had message %" PRIu64,
                       book->incarnation, seq, account->stream->actor, missing);
            return;
        }
    }
}

void sim_book_stored(sim_book *book, sim_stream *stream, const aq_experience *message)
{
    sim_account *account = account_of(book, stream);
    sim_sent *sent = sim_stream_message(stream, message->seq);
    if (!sim_stream_holds(stream, message)) {
        sim_broken(book->world, SIM_STORED_ONCE,
                   "store %016" PRIx64 " takes as message %" PRIu64 " of actor %" PRIu64
                   " what the actor did not send under that number",
                   book->incarnation, message->seq, stream->actor);
        return;
    }
    if (message->seq <= account->mark) {
        sim_broken(book->world, SIM_STORED_ONCE,
                   "store %016" PRIx64 " takes message %" PRIu64 " of actor %" PRIu64
                   " again; it had all up to %" PRIu64,
                   book->incarnation, message->seq, stream->actor, account->mark);
        return;
    }
    check_hole(book, account, message->seq);
    for (uint32_t i = 0; i < sent->chunk_count; i++) {
        enter(book, sent->chunks[i]);
    }
    account->mark = message->seq;
    account->moved_ns = sim_now_ns(book->world);
    uint64_t received = account->received + sent->fresh;
    uint64_t most = account->granted + book->settings.actor_envs;
    account->received = received < most ? received : most;
    account->forgiven += received - account->received; /* an earlier store granted them */
    sent->stored_in = book->incarnation;
}

/* ---- credit --------------------------------------------------------------------------------- */

void sim_book_called(sim_book *book, sim_stream *stream, uint64_t known_acknowledged,
                     uint64_t known_granted)
{
    sim_account *account = account_of(book, stream);
    uint64_t acknowledged_steps = sim_stream_fresh(stream, known_acknowledged);
    account->polled_ns = sim_now_ns(book->world);
    if (known_granted > account->granted) {
        uint64_t unspent = known_granted - acknowledged_steps;
        account->forgiven = unspent > account->forgiven ? unspent : account->forgiven;
        account->received += known_granted - account->granted;
        account->granted = known_granted;
    }
    if (acknowledged_steps > account->received) {
        account->received = acknowledged_steps;
    }
}

void sim_book_answered(sim_book *book, sim_stream *stream, uint64_t acknowledged, uint64_t granted)
{
    sim_account *account = account_of(book, stream);
    for (uint64_t seq = account->mark + 1; seq <= acknowledged; seq++) {
        const sim_sent *sent = sim_stream_message(stream, seq);
        if (sent == NULL || sent->stored_in == 0 || sent->stored_in == book->incarnation) {
            sim_broken(book->world, SIM_ACKNOWLEDGED,
                       "store %016" PRIx64 " acknowledges message %" PRIu64 " of actor %" PRIu64
                       ", which is stored nowhere",
                       book->incarnation, seq, stream->actor);
            return;
        }
    }
    account->mark = acknowledged > account->mark ? acknowledged : account->mark;
    if (acknowledged > stream->acknowledged) {
        stream->acknowledged = acknowledged;
    }
    if (granted > account->granted) {
        if (account->given_up) { /* it may have been granted that before, and was not told */
            account->forgiven += granted - account->granted;
        }
        account->granted = granted;
        account->moved_ns = sim_now_ns(book->world);
    }
    account->given_up = false;
}

/* An actor that is silent, or moves nothing, is given up: what it still holds may come on top. */
static void forgive(sim_book *book)
{
    int64_t now_ns = sim_now_ns(book->world);
    for (size_t i = 0; i < book->account_count; i++) {
        sim_account *account = &book->accounts[i];
        if (now_ns - account->polled_ns >= AQ_CREDIT_LIVE_NS ||
            now_ns - account->moved_ns >= AQ_CREDIT_LIVE_NS) {
            uint64_t held =
                account->granted > account->received ? account->granted - account->received : 0;
            account->given_up = true;
            account->forgiven = held > account->forgiven ? held : account->forgiven;
        }
    }
}

static double lead_max(const sim_book *book)
{
    const aq_run_settings *settings = &book->settings;
    double most = settings->tables[0].tolerance;
    for (size_t i = 0; i < book->account_count; i++) {
        most += (double)settings->actor_envs * settings->chunk_length;
        most += (double)book->accounts[i].forgiven;
    }
    return most;
}

static double lead_of(const sim_book *book, const aq_replay_counters *counters)
{
    return (double)counters->inserted - (double)book->settings.tables[0].min_size -
           (double)counters->sampled / book->settings.tables[0].samples_per_insert;
}

void sim_book_check_samples(const sim_book *book, const aq_replay_counters *counters)
{
    const aq_run_settings *settings = &book->settings;
    double lead = lead_of(book, counters);
    if (counters->sampled > 0 && (counters->inserted < settings->tables[0].min_size ||
                                  lead < -settings->tables[0].tolerance - 1e-6)) {
        sim_broken(book->world, SIM_SAMPLES,
                   "store %016" PRIx64 ": the learner is %.1f steps ahead; %.1f are possible",
                   book->incarnation, -lead, settings->tables[0].tolerance);
    }
}

static void check_inserts(sim_book *book, const aq_replay_counters *counters)
{
    double lead = lead_of(book, counters);
    forgive(book);
    if (lead > lead_max(book)) {
        sim_broken(book->world, SIM_CREDIT,
                   "store %016" PRIx64 ": the actors are %.1f steps ahead; %.1f are possible",
                   book->incarnation, lead, lead_max(book));
    }
}

void sim_book_compare(sim_book *book, const aq_replay_counters *counters)
{
    if (counters->inserted != book->inserted || counters->stored != book->transitions) {
        sim_broken(book->world, SIM_STORED_ONCE,
                   "store %016" PRIx64 " holds %" PRIu64 " of %" PRIu64 " transitions; %" PRIu64
                   " of %" PRIu64 " were taken in",
                   book->incarnation, counters->stored, counters->inserted, book->transitions,
                   book->inserted);
    }
    if (counters->rejected != 0) {
        sim_broken(book->world, SIM_REFUSED,
                   "store %016" PRIx64 " rejects a message that is as it should be",
                   book->incarnation);
    }
    check_inserts(book, counters);
    sim_book_check_samples(book, counters);
}

/* ---- what comes out ------------------------------------------------------------------------- */

static const sim_entry *find_item(const sim_book *book, uint64_t item)
{
    size_t low = 0;
    size_t high = book->count;
    if (item >= book->end_item) {
        return NULL;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (book->entries[middle].first_item <= item) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &book->entries[low];
}

static uint64_t word_at(const ProtobufCBinaryData *column, size_t row, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, column->data + row * size, size);
    return word;
}

static float float_at(const ProtobufCBinaryData *column, size_t row)
{
    float number;
    memcpy(&number, column->data + row * sizeof(number), sizeof(number));
    return number;
}

static bool is_row_of(const sim_book *book, const Actorq__V1__SampleReply *reply, size_t at,
                      float discount, const sim_entry *entry, uint32_t row)
{
    const aq_chunk_layout *layout = &book->layout;
    const aq_chunk *chunk = entry->chunk;
    float reward, bootstrap;
    uint32_t next_row;
    aq_chunk_fold(chunk, layout, row, discount, &reward, &bootstrap, &next_row);
    return memcmp(reply->obs.data + at * layout->obs_bytes,
                  chunk->obs + (size_t)row * layout->obs_bytes, layout->obs_bytes) == 0 &&
           memcmp(reply->next_obs.data + at * layout->obs_bytes,
                  chunk->obs + (size_t)next_row * layout->obs_bytes, layout->obs_bytes) == 0 &&
           memcmp(reply->action.data + at * layout->action_bytes,
                  chunk->action + (size_t)row * layout->action_bytes, layout->action_bytes) == 0 &&
           word_at(&reply->version, at, 4) == chunk->version[row] &&
           float_at(&reply->reward, at) == reward && float_at(&reply->bootstrap, at) == bootstrap;
}

void sim_book_sampled(const sim_book *book, const Actorq__V1__SampleReply *reply, float discount)
{
    for (uint32_t i = 0; i < reply->rows; i++) {
        uint64_t item = word_at(&reply->item, i, 8);
        const sim_entry *entry = find_item(book, item);
        if (entry == NULL ||
            !is_row_of(book, reply, i, discount, entry, (uint32_t)(item - entry->first_item))) {
            sim_broken(book->world, SIM_CONTENT,
                       "store %016" PRIx64 " gives out item %" PRIu64
                       ", which is not what an actor produced",
                       book->incarnation, item);
            return;
        }
    }
}
