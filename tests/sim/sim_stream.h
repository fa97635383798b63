/*
 * Stream: the numbered messages of one actor process to one replay shard, as they were sent first;
 * a message sent again is the same message. They are numbered for one store, by whose name they are
 * stamped; only when that is gone for good, and was in memory, they may go to another one.
 */
#ifndef AQ_TESTS_SIM_SIM_STREAM_H
#define AQ_TESTS_SIM_SIM_STREAM_H

#include "common/experience/experience.h"
#include "tests/sim/sim_source.h"

enum { SIM_STORES_MAX = 32 };

typedef struct sim_sent {
    aq_chunk **chunks;
    uint32_t chunk_count;
    uint64_t fresh;
    uint64_t fresh_before; /* in all messages before this one */
    uint64_t stored_in;    /* the store that took it last; 0: none */
} sim_sent;

typedef struct sim_stream {
    sim_source *source;
    uint32_t number;                 /* which of the actor's shards it is for */
    uint64_t stores[SIM_STORES_MAX]; /* that it was numbered for, the last one now */
    size_t store_count;
    sim_sent *sent; /* message seq is sent[seq - 1] */
    uint64_t count;
    size_t capacity;
    uint64_t acknowledged; /* the highest number that a shard has told */
} sim_stream;

void sim_stream_init(sim_stream *stream, sim_source *source, uint32_t number);
void sim_stream_fini(sim_stream *stream);

/* Whether it is, or was, numbered for that store. */
bool sim_stream_is_for(const sim_stream *stream, uint64_t store);

/* A message goes out, for the first time or again. */
void sim_stream_send(sim_stream *stream, const aq_experience *message);

/* NULL when none of that number was sent. */
sim_sent *sim_stream_message(const sim_stream *stream, uint64_t seq);

/* Whether the message holds what was sent under its number. */
bool sim_stream_holds(const sim_stream *stream, const aq_experience *message);

/* Fresh transitions in all messages up to `seq`. */
uint64_t sim_stream_fresh(const sim_stream *stream, uint64_t seq);

#endif
