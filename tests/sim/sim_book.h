/*
 * Book: what one store of a replay shard (one start of the process) should hold, kept beside it
 * from what goes in and out, and compared with it after every step.
 *
 * The band: lead (replay_limiter.h) stays at or under the tolerance, but for one chunk in each
 * environment of an actor, and for what was granted to an actor that was given up or was granted by
 * an earlier store, and still came. The book follows these exceptions, so that the bound is as
 * tight as the contract (replay_credit.h).
 */
#ifndef AQ_TESTS_SIM_SIM_BOOK_H
#define AQ_TESTS_SIM_SIM_BOOK_H

#include "proto/sampling.pb-c.h"
#include "replay/replay_core.h"
#include "tests/sim/sim_stream.h"

enum { SIM_ACCOUNTS_MAX = 64 };

/* One actor process in one store. */
typedef struct sim_account {
    sim_stream *stream;
    uint64_t mark; /* the highest number that is stored, or need not be any more */
    uint64_t granted, received;
    uint64_t forgiven; /* steps that may come on top of the band */
    bool given_up;     /* since its last answer */
    int64_t polled_ns, moved_ns;
} sim_account;

typedef struct sim_entry {
    const aq_chunk *chunk; /* the stream's */
    uint64_t first_item;
} sim_entry;

typedef struct sim_book {
    sim_world *world;
    uint64_t incarnation;
    uint64_t member; /* the incarnation that its process joined with */
    aq_run_settings settings;
    aq_chunk_layout layout;
    sim_account accounts[SIM_ACCOUNTS_MAX];
    size_t account_count;
    sim_entry *entries; /* every chunk ever stored */
    size_t oldest;      /* that is still held */
    size_t count;
    size_t capacity;
    uint64_t end_item;
    uint64_t transitions; /* held */
    uint64_t inserted;
    bool alive;
} sim_book;

void sim_book_init(sim_book *book, sim_world *world, const aq_run_settings *settings,
                   const aq_chunk_layout *layout, uint64_t incarnation, uint64_t member);
void sim_book_fini(sim_book *book);

/* The store took this message. */
void sim_book_stored(sim_book *book, sim_stream *stream, const aq_experience *message);

/* A Credit call was taken; and one was answered. */
void sim_book_called(sim_book *book, sim_stream *stream, uint64_t known_acknowledged,
                     uint64_t known_granted);
void sim_book_answered(sim_book *book, sim_stream *stream, uint64_t acknowledged, uint64_t granted);

/* An answer to Sample went out. */
void sim_book_sampled(const sim_book *book, const Actorq__V1__SampleReply *reply, float discount);

/* Whether the learner took no more than the limiter allows; right after an answer to Sample, even
 * in the middle of a message. */
void sim_book_check_samples(const sim_book *book, const aq_replay_counters *counters);

/* What the store says of itself between two messages: its counts are the book's and in the band. */
void sim_book_compare(sim_book *book, const aq_replay_counters *counters);

#endif
