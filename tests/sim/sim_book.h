/*
 * Book: what one store of a replay shard should hold, over all its lives, kept beside it from what
 * goes in and out, and compared with it after every step and every restart.
 *
 * A durable store that was killed may have lost the newest of its messages, as many as its disk
 * says, but none that it had acknowledged; of the others nothing may be missing or come back. One
 * in memory has one life.
 *
 * The band: lead (replay_limiter.h) stays at or under the tolerance, but for one chunk in each
 * environment of an actor and one more (replay_credit.h), and for what was granted to an actor that
 * was given up or was granted by an earlier life, and still came. The book follows these
 * exceptions, so that the bound is as tight as the contract.
 *
 * Of a paced run, in which steps leave as they are drawn, or when they are too old, it knows no
 * band and no items, but that each step was drawn, or dropped and counted, or is still there.
 */
#ifndef AQ_TESTS_SIM_SIM_BOOK_H
#define AQ_TESTS_SIM_SIM_BOOK_H

#include "proto/sampling.pb-c.h"
#include "replay/shard/replay_core.h"
#include "tests/sim/sim_stream.h"

enum { SIM_ACCOUNTS_MAX = 64 };

/* One actor process in one store. */
typedef struct sim_account {
    uint64_t incarnation;
    sim_stream *stream;         /* NULL: nothing was sent yet */
    uint64_t mark;              /* the highest number that is stored, or need not be any more */
    uint64_t granted, received; /* in this life of the store */
    uint64_t forgiven;          /* steps that may come on top of the band */
    bool given_up;              /* since its last answer */
    int64_t polled_ns, moved_ns;
} sim_account;

/* A message that was stored: a record of the log. */
typedef struct sim_kept {
    sim_account *account;
    uint64_t seq;
    size_t first_entry;
} sim_kept;

typedef struct sim_entry {
    const aq_chunk *chunk; /* the stream's */
    uint64_t first_item;   /* in this life */
} sim_entry;

typedef struct sim_book {
    sim_world *world;
    uint64_t store;
    bool durable;
    uint64_t incarnation; /* of this life */
    aq_run_settings settings;
    aq_layout layout; /* as the main table folds */
    sim_account accounts[SIM_ACCOUNTS_MAX];
    size_t account_count;
    sim_kept *kept;
    size_t kept_count;
    size_t kept_capacity;
    sim_entry *entries; /* every chunk ever stored, but those that a kill took */
    size_t first;       /* that this life knows of */
    size_t oldest;      /* that is still held */
    size_t count;
    size_t capacity;
    uint64_t end_item;
    uint64_t transitions; /* held */
    uint64_t inserted;
    uint64_t most_inserted; /* ever: what a kill took was inserted, too */
    double base_lead;       /* of the limiter when this life began */
    uint64_t base_inserted;
    uint64_t base_items; /* that could be drawn then */
    double saved_mass;   /* by an orderly end; negative: unknown */
    bool alive;
} sim_book;

/* Whose steps leave as they are drawn. */
static inline bool sim_book_is_queue(const sim_book *book)
{
    return book->settings.tables[0].selector == AQ_SELECTOR_QUEUE;
}

void sim_book_init(sim_book *book, sim_world *world, const aq_run_settings *settings,
                   const aq_layout *layout, uint64_t store, bool durable);
void sim_book_fini(sim_book *book);

/* ---- lives ---------------------------------------------------------------------------------- */

/* A life begins, in which records `oldest` to `newest` are there. Those behind are lost; none of
 * them may have been acknowledged. */
void sim_book_begins(sim_book *book, uint64_t incarnation, uint64_t oldest, uint64_t newest);

/* What the store restored is what it had: counts, marks, the band, after an orderly end priorities.
 */
void sim_book_check_restored(sim_book *book, const aq_replay_core *core);

/* It ends, in order (with a core) or not (NULL). */
void sim_book_ends(sim_book *book, const aq_replay_core *core);

/* ---- what goes in and out ------------------------------------------------------------------- */

/* The store took this message. */
void sim_book_stored(sim_book *book, sim_stream *stream, const aq_experience *message);

/* What a Credit call says, or its answer. `stream` is NULL while nothing was sent to this store. */
typedef struct sim_credit {
    uint64_t incarnation; /* the actor's */
    sim_stream *stream;
    uint64_t acknowledged, granted;
    uint64_t steps; /* a call: of those granted, in the messages acknowledged */
} sim_credit;

void sim_book_called(sim_book *book, const sim_credit *known);
void sim_book_answered(sim_book *book, const sim_credit *answer);

/* An answer to Sample went out. */
void sim_book_sampled(const sim_book *book, const Actorq__V1__SampleReply *reply, float discount);

/* Whether the learner took no more than the limiter allows; right after an answer to Sample, even
 * in the middle of a message. */
void sim_book_check_samples(const sim_book *book, const aq_replay_counters *counters);

/* What the store says of itself between two messages: its counts are the book's and in the band. */
void sim_book_compare(sim_book *book, const aq_replay_counters *counters);

#endif
