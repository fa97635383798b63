/*
 * Ledger: what really happened, known to nobody in the cluster: what every actor made and sent,
 * every store's book, every version published. Whoever is simulated is held to it.
 */
#ifndef AQ_TESTS_SIM_SIM_LEDGER_H
#define AQ_TESTS_SIM_SIM_LEDGER_H

#include "common/config/run_settings.h"
#include "tests/sim/sim_book.h"
#include "tests/sim/sim_stream.h"

enum {
    SIM_SOURCES_MAX = SIM_ACCOUNTS_MAX,
    SIM_STREAMS_MAX = 4 * SIM_SOURCES_MAX,
    SIM_BOOKS_MAX = 64
};

typedef struct sim_version {
    uint64_t number;
    uint32_t digest;
} sim_version;

typedef struct sim_ledger {
    sim_world *world;
    uint64_t run_id;
    aq_run_settings settings;
    aq_layout layout;
    bool in_order; /* there is one shard */
    sim_source *sources[SIM_SOURCES_MAX];
    size_t source_count;
    sim_stream *streams[SIM_STREAMS_MAX];
    size_t stream_count;
    sim_book *books[SIM_BOOKS_MAX];
    size_t book_count;
    sim_version *versions; /* published, in order */
    size_t version_count;
    size_t version_capacity;
    uint64_t policy_gaps;
    uint64_t twice; /* messages that two living stores have */
    uint64_t learner_life;
    uint64_t env_steps; /* as that learner said last */
} sim_ledger;

void sim_ledger_init(sim_ledger *ledger, sim_world *world, uint64_t run_id,
                     const aq_run_settings *settings, const aq_layout *layout, bool in_order);
void sim_ledger_fini(sim_ledger *ledger);

/* Of an actor process. Finds it, or begins it. */
sim_source *sim_ledger_source(sim_ledger *ledger, uint64_t incarnation);

/* Its messages to one store; NULL: none yet. */
sim_stream *sim_ledger_stream(const sim_ledger *ledger, uint64_t incarnation, uint64_t store);

/* An EXPERIENCE frame leaves an actor, for its shard `number`. */
void sim_ledger_sent(sim_ledger *ledger, uint32_t number, const uint8_t *frame, size_t size);

/* The book of a store, with the settings that the run has (whatever the store makes of them). Finds
 * it, or begins it. */
sim_book *sim_ledger_book(sim_ledger *ledger, uint64_t store, bool durable);

/* A frame was handed to the store: `before` and `after` are its counters. */
void sim_ledger_offered(sim_ledger *ledger, sim_book *book, const uint8_t *frame, size_t size,
                        const aq_replay_counters *before, const aq_replay_counters *after);

/* A version goes out. */
void sim_ledger_published(sim_ledger *ledger, const aq_snapshot *policy);

uint64_t sim_ledger_newest(const sim_ledger *ledger); /* 0: none yet */

/* Somebody has that version now, however it came. */
void sim_ledger_received(sim_ledger *ledger, const aq_snapshot *policy);

/* An actor acts with this version. */
void sim_ledger_acts(sim_ledger *ledger, uint64_t incarnation, uint64_t version);

/* What the learner takes the run's steps to be. */
void sim_ledger_counted(sim_ledger *ledger, uint64_t learner_life, uint64_t env_steps);

/* Fresh transitions in all stores that ever were. */
uint64_t sim_ledger_inserted(const sim_ledger *ledger);

#endif
