/*
 * The same arithmetic as the shard's, done in the plainest way.
 */
#include "tests/sim/sim_book.h"
#include "tests/support/chunks.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "replay/shard/replay_credit.h"
#include "replay/table/replay_tables.h"
#include "tests/support/must.h"

void sim_book_init(sim_book *book, sim_world *world, const aq_run_settings *settings,
                   const aq_layout *layout, uint64_t store, bool durable)
{
    *book = (sim_book){
        .world = world,
        .store = store,
        .durable = durable,
        .settings = *settings,
        .layout = *layout,
        .base_lead = -(double)settings->tables[0].min_size,
        .saved_mass = -1.0,
    };
    book->layout.n_step = settings->tables[0].n_step;
}

void sim_book_fini(sim_book *book)
{
    aq_free(book->entries);
    aq_free(book->kept);
    book->entries = NULL;
    book->kept = NULL;
}

static sim_account *account_of(sim_book *book, uint64_t incarnation, sim_stream *stream)
{
    sim_account *account = NULL;
    for (size_t i = 0; i < book->account_count; i++) {
        if (book->accounts[i].incarnation == incarnation) {
            account = &book->accounts[i];
        }
    }
    if (account == NULL) {
        AQ_ASSERT(book->account_count < SIM_ACCOUNTS_MAX);
        account = &book->accounts[book->account_count++];
        *account = (sim_account){
            .incarnation = incarnation,
            .polled_ns = sim_now_ns(book->world),
            .moved_ns = sim_now_ns(book->world),
        };
    }
    if (account->stream == NULL) {
        account->stream = stream;
    }
    return account;
}

/* ---- lives ---------------------------------------------------------------------------------- */

/* Chunks leave, the oldest first, until the others fit. */
static void let_go(sim_book *book)
{
    if (sim_book_is_queue(book)) {
        return;
    }
    while (book->transitions > book->settings.tables[0].capacity &&
           book->count - book->oldest > 1) {
        book->transitions -= aq_chunk_view_fresh(&book->entries[book->oldest++].chunk->view);
    }
}

/* The newest message is lost. */
static void lose(sim_book *book)
{
    const sim_kept *kept = &book->kept[--book->kept_count];
    sim_account *account = kept->account;
    sim_sent *sent = sim_stream_message(account->stream, kept->seq);
    if (kept->seq <= account->stream->acknowledged) {
        sim_broken(book->world, SIM_ACKNOWLEDGED,
                   "store %016" PRIx64 " lost message %" PRIu64 " of actor %" PRIu64
                   ", and had acknowledged all up to %" PRIu64,
                   book->store, kept->seq, account->stream->source->actor,
                   account->stream->acknowledged);
    }
    account->mark = kept->seq - 1;
    sent->stored_in = 0;
    book->inserted -= sent->fresh;
    book->count = kept->first_entry;
}

void sim_book_begins(sim_book *book, uint64_t incarnation, uint64_t oldest, uint64_t newest)
{
    AQ_ASSERT(!book->alive);
    while (book->kept_count > newest) {
        lose(book);
    }
    if (book->kept_count < newest) {
        sim_broken(book->world, SIM_STORED_ONCE,
                   "store %016" PRIx64 " has %" PRIu64 " records of %zu messages", book->store,
                   newest, book->kept_count);
    }
    book->alive = true;
    book->incarnation = incarnation;
    book->first = oldest <= book->kept_count ? book->kept[oldest - 1].first_entry : book->count;
    book->oldest = book->first;
    book->end_item = 0;
    book->transitions = 0;
    book->base_inserted = book->inserted;
    for (size_t i = book->first; i < book->count; i++) {
        sim_entry *entry = &book->entries[i];
        entry->first_item = book->end_item;
        book->end_item += aq_chunk_view_items(&entry->chunk->view, &book->layout);
        book->transitions += aq_chunk_view_fresh(&entry->chunk->view);
    }
    let_go(book);
    for (size_t i = 0; i < book->account_count; i++) {
        sim_account *account = &book->accounts[i];
        account->granted = 0;
        account->received = 0;
        account->forgiven = 0;
        account->given_up = false;
    }
}

static void check_mark(const sim_book *book, const aq_replay_actor *actor)
{
    uint64_t mark = 0;
    for (size_t i = 0; i < book->account_count; i++) {
        if (book->accounts[i].incarnation == actor->incarnation) {
            mark = book->accounts[i].mark;
        }
    }
    if (actor->sequence.taken != mark || actor->sequence.acknowledged != mark) {
        sim_broken(book->world, SIM_RESTORED,
                   "store %016" PRIx64 " restores actor %" PRIu64 " up to message %" PRIu64
                   " (%" PRIu64 " acknowledged); it had taken %" PRIu64,
                   book->store, actor->actor, actor->sequence.taken, actor->sequence.acknowledged,
                   mark);
    }
}

/* Every actor of whom something is stored is known. */
static void check_marks(const sim_book *book, const aq_replay_core *core)
{
    size_t known = 0;
    size_t met = aq_replay_core_actors(core);
    for (size_t i = 0; i < met; i++) {
        const aq_replay_actor *actor = aq_replay_core_actor(core, i);
        if (sim_was_drawn(book->world, actor->incarnation)) {
            check_mark(book, actor);
            known += actor->sequence.taken > 0;
        }
    }
    size_t expected = 0;
    for (size_t i = 0; i < book->account_count; i++) {
        expected += book->accounts[i].mark > 0;
    }
    if (known != expected) {
        sim_broken(book->world, SIM_RESTORED,
                   "store %016" PRIx64 " restores the marks of %zu actors; it had %zu", book->store,
                   known, expected);
    }
}

void sim_book_check_restored(sim_book *book, const aq_replay_core *core)
{
    const aq_replay_shelf *shelf = &aq_replay_core_tables(core)->shelves[0];
    const aq_replay_holdings holdings = aq_replay_table_holdings(shelf->table);
    const aq_replay_counters counters = aq_replay_core_counters(core);
    const double tolerance = book->settings.tables[0].tolerance;
    const double min_size = (double)book->settings.tables[0].min_size;
    book->base_items = holdings.items;
    if (book->kept_count == 0) {
        return; /* it begins */
    }
    check_marks(book, core);
    if (sim_book_is_queue(book)) {
        return;
    }
    book->base_lead = aq_replay_limiter_lead(&shelf->limiter);
    if (book->base_lead > tolerance + 1e-6 ||
        (book->base_lead < -tolerance - 1e-6 && book->base_lead < -min_size)) {
        sim_broken(book->world, SIM_RESTORED,
                   "store %016" PRIx64 " begins with its actors %.1f steps ahead", book->store,
                   book->base_lead);
    }
    if (counters.inserted != book->inserted || counters.stored != book->transitions) {
        sim_broken(book->world, SIM_RESTORED,
                   "store %016" PRIx64 " restores %" PRIu64 " of %" PRIu64
                   " transitions; it had %" PRIu64 " of %" PRIu64,
                   book->store, counters.stored, counters.inserted, book->transitions,
                   book->inserted);
    }
    if (book->saved_mass >= 0.0 &&
        fabs(holdings.mass - book->saved_mass) > 1e-4 * (1.0 + book->saved_mass)) {
        sim_broken(book->world, SIM_RESTORED,
                   "store %016" PRIx64 " restores priorities of %.6g in all; they were %.6g",
                   book->store, holdings.mass, book->saved_mass);
    }
}

void sim_book_ends(sim_book *book, const aq_replay_core *core)
{
    book->alive = false;
    book->saved_mass =
        core != NULL ? aq_replay_table_holdings(aq_replay_core_tables(core)->shelves[0].table).mass
                     : -1.0;
}

/* ---- what goes in --------------------------------------------------------------------------- */

static void enter(sim_book *book, const aq_chunk *chunk)
{
    must_grow(&book->entries, &book->capacity, book->count, sizeof(*book->entries));
    book->entries[book->count++] = (sim_entry){.chunk = chunk, .first_item = book->end_item};
    book->end_item += aq_chunk_view_items(&chunk->view, &book->layout);
    book->transitions += aq_chunk_view_fresh(&chunk->view);
    book->inserted += aq_chunk_view_fresh(&chunk->view);
    let_go(book);
}

/* Messages between the mark and `seq` were left out: each must have been taken by another store,
 * which told the actor so, that the actor has no copy any more. */
static void check_hole(const sim_book *book, const sim_account *account, uint64_t seq)
{
    for (uint64_t missing = account->mark + 1; missing < seq; missing++) {
        const sim_sent *sent = sim_stream_message(account->stream, missing);
        if (sent == NULL || sent->stored_in == 0 || sent->stored_in == book->store ||
            missing > account->stream->acknowledged) {
            sim_broken(book->world, SIM_STORED_ONCE,
                       "store %016" PRIx64 " takes message %" PRIu64 " of actor %" PRIu64
                       " but never had message %" PRIu64,
                       book->store, seq, account->stream->source->actor, missing);
            return;
        }
    }
}

static bool may_be_stored(const sim_book *book, const sim_account *account,
                          const aq_experience *message)
{
    const uint64_t actor = account->stream->source->actor;
    if (!sim_stream_holds(account->stream, message)) {
        sim_broken(book->world, SIM_STORED_ONCE,
                   "store %016" PRIx64 " takes as message %" PRIu64 " of actor %" PRIu64
                   " what the actor did not send under that number",
                   book->store, message->seq, actor);
        return false;
    }
    if (message->seq <= account->mark) {
        sim_broken(book->world, SIM_STORED_ONCE,
                   "store %016" PRIx64 " takes message %" PRIu64 " of actor %" PRIu64
                   " again; it had all up to %" PRIu64,
                   book->store, message->seq, actor, account->mark);
        return false;
    }
    return true;
}

void sim_book_stored(sim_book *book, sim_stream *stream, const aq_experience *message)
{
    sim_account *account = account_of(book, message->incarnation, stream);
    sim_sent *sent = sim_stream_message(stream, message->seq);
    if (!may_be_stored(book, account, message)) {
        return;
    }
    check_hole(book, account, message->seq);
    must_grow(&book->kept, &book->kept_capacity, book->kept_count, sizeof(*book->kept));
    book->kept[book->kept_count++] =
        (sim_kept){.account = account, .seq = message->seq, .first_entry = book->count};
    for (uint32_t i = 0; i < sent->chunk_count; i++) {
        enter(book, sent->chunks[i]);
    }
    book->most_inserted =
        book->inserted > book->most_inserted ? book->inserted : book->most_inserted;
    account->mark = message->seq;
    account->moved_ns = sim_now_ns(book->world);
    uint64_t received = account->received + sent->fresh;
    uint64_t most = account->granted + aq_run_settings_lanes(&book->settings);
    account->received = received < most ? received : most;
    account->forgiven += received - account->received; /* an earlier life granted them */
    sent->stored_in = book->store;
}

/* ---- credit --------------------------------------------------------------------------------- */

/* Only a store that is gone can have told an actor more than this one has. Of a durable store there
 * is none before it. */
static void check_known(const sim_book *book, const sim_account *account, uint64_t acknowledged)
{
    const bool may_not_be_known = account->stream == NULL && !book->durable;
    for (uint64_t seq = account->mark + 1; seq <= acknowledged && !may_not_be_known; seq++) {
        const sim_sent *sent =
            account->stream != NULL ? sim_stream_message(account->stream, seq) : NULL;
        if (sent == NULL || sent->stored_in == 0 || sent->stored_in == book->store) {
            sim_broken(book->world, SIM_ACKNOWLEDGED,
                       "message %" PRIu64 " of actor incarnation %016" PRIx64
                       " was acknowledged and is not in store %016" PRIx64 ", nor anywhere",
                       seq, account->incarnation, book->store);
            return;
        }
    }
}

void sim_book_called(sim_book *book, const sim_credit *known)
{
    sim_account *account = account_of(book, known->incarnation, known->stream);
    check_known(book, account, known->acknowledged);
    account->polled_ns = sim_now_ns(book->world);
    if (known->granted > account->granted) {
        uint64_t unspent = known->granted > known->steps ? known->granted - known->steps : 0;
        account->forgiven = unspent > account->forgiven ? unspent : account->forgiven;
        account->received += known->granted - account->granted;
        account->granted = known->granted;
    }
    if (known->steps > account->received) {
        account->received = known->steps;
    }
}

void sim_book_answered(sim_book *book, const sim_credit *answer)
{
    sim_account *account = account_of(book, answer->incarnation, answer->stream);
    sim_stream *stream = account->stream;
    check_known(book, account, answer->acknowledged);
    account->mark = answer->acknowledged > account->mark ? answer->acknowledged : account->mark;
    if (stream != NULL && answer->acknowledged > stream->acknowledged) {
        stream->acknowledged = answer->acknowledged;
    }
    if (answer->granted > account->granted) {
        if (account->given_up) { /* it may have been granted that before, and was not told */
            account->forgiven += answer->granted - account->granted;
        }
        account->granted = answer->granted;
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
        most += ((double)settings->config.actor.envs + 1.0) * settings->config.replay.chunk_length;
        most += (double)book->accounts[i].forgiven;
    }
    return most;
}

static double lead_of(const sim_book *book, const aq_replay_counters *counters)
{
    return book->base_lead + ((double)counters->inserted - (double)book->base_inserted) -
           (double)counters->sampled / book->settings.tables[0].samples_per_insert;
}

void sim_book_check_samples(const sim_book *book, const aq_replay_counters *counters)
{
    const aq_run_settings *settings = &book->settings;
    double lead = lead_of(book, counters);
    if (counters->sampled > 0 && !sim_book_is_queue(book) &&
        (counters->inserted < settings->tables[0].min_size ||
         lead < -settings->tables[0].tolerance - 1e-6)) {
        sim_broken(book->world, SIM_SAMPLES,
                   "store %016" PRIx64 ": the learner is %.1f steps ahead; %.1f are possible",
                   book->store, -lead, settings->tables[0].tolerance);
    }
}

static void check_inserts(sim_book *book, const aq_replay_counters *counters)
{
    double lead = lead_of(book, counters);
    forgive(book);
    if (lead > lead_max(book)) {
        sim_broken(book->world, SIM_CREDIT,
                   "store %016" PRIx64 ": the actors are %.1f steps ahead; %.1f are possible",
                   book->store, lead, lead_max(book));
    }
}

/* The chunk that is drawn from counts whole until it leaves, and so does one that was restored. */
static void compare_paced(const sim_book *book, const aq_replay_counters *counters)
{
    const uint64_t came = counters->inserted - book->base_inserted + book->base_items;
    const uint64_t left = counters->sampled + counters->outdated;
    const uint64_t most = 2 * (aq_run_settings_chunk_length(&book->settings) - 1);
    if (counters->inserted != book->inserted || came < left || came - left > counters->stored ||
        counters->stored - (came - left) > most) {
        sim_broken(book->world, SIM_LAG,
                   "store %016" PRIx64 " was given %" PRIu64 " steps, of which %" PRIu64
                   " were drawn, %" PRIu64 " dropped and %" PRIu64 " are there",
                   book->store, came, counters->sampled, counters->outdated, counters->stored);
    }
}

void sim_book_compare(sim_book *book, const aq_replay_counters *counters)
{
    if (sim_book_is_queue(book)) {
        compare_paced(book, counters);
        return;
    }
    if (counters->inserted != book->inserted || counters->stored != book->transitions) {
        sim_broken(book->world, SIM_STORED_ONCE,
                   "store %016" PRIx64 " holds %" PRIu64 " of %" PRIu64 " transitions; %" PRIu64
                   " of %" PRIu64 " were taken in",
                   book->store, counters->stored, counters->inserted, book->transitions,
                   book->inserted);
    }
    if (counters->rejected != 0) {
        sim_broken(book->world, SIM_REFUSED,
                   "store %016" PRIx64 " rejects a message that is as it should be", book->store);
    }
    check_inserts(book, counters);
    sim_book_check_samples(book, counters);
}

/* ---- what comes out ------------------------------------------------------------------------- */

static const sim_entry *find_item(const sim_book *book, uint64_t item)
{
    size_t low = book->first;
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
    const aq_chunk *chunk = entry->chunk;
    const size_t obs = book->layout.columns[AQ_COLUMN_OBS].bytes;
    const size_t action = book->layout.columns[AQ_COLUMN_ACTION].bytes;
    float reward, bootstrap;
    uint32_t next_row;
    chunk_fold(&chunk->view, book->layout.n_step, row, discount, &reward, &bootstrap, &next_row);
    return memcmp(reply->obs.data + at * obs, obs_of(chunk) + row * obs, obs) == 0 &&
           memcmp(reply->next_obs.data + at * obs, obs_of(chunk) + next_row * obs, obs) == 0 &&
           memcmp(reply->action.data + at * action, action_of(chunk) + row * action, action) == 0 &&
           word_at(&reply->version, at, 4) == version_of(chunk)[row] &&
           float_at(&reply->reward, at) == reward && float_at(&reply->bootstrap, at) == bootstrap;
}

void sim_book_sampled(const sim_book *book, const Actorq__V1__SampleReply *reply, float discount)
{
    for (uint32_t i = 0; i < reply->rows && !sim_book_is_queue(book); i++) {
        uint64_t item = word_at(&reply->item, i, 8);
        const sim_entry *of = find_item(book, item);
        if (!of || !is_row_of(book, reply, i, discount, of, (uint32_t)(item - of->first_item))) {
            sim_broken(book->world, SIM_CONTENT,
                       "store %016" PRIx64 " gives out item %" PRIu64
                       ", which is not what an actor produced",
                       book->store, item);
            return;
        }
    }
}
