/*
 * Stream: everything that one actor process has sent in a run, as it was sent first. The identity
 * of a transition is (incarnation, lane, episode, index); here is checked that each lane's
 * transitions come once, in order, without holes, and that a message sent again is the same
 * message.
 */
#ifndef AQ_TESTS_SIM_SIM_STREAM_H
#define AQ_TESTS_SIM_SIM_STREAM_H

#include "common/rl/experience.h"
#include "tests/sim/sim_world.h"

enum { SIM_LANES_MAX = 16 };

typedef struct sim_sent {
    aq_chunk **chunks;
    uint32_t chunk_count;
    uint64_t fresh;
    uint64_t fresh_before; /* in all messages before this one */
    uint64_t stored_in;    /* the incarnation of the store that took it last; 0: none */
} sim_sent;

typedef struct sim_stream {
    sim_world *world;
    uint64_t incarnation;
    uint64_t actor; /* its member number; 0: it sent nothing yet */
    aq_chunk_layout layout;
    sim_sent *sent; /* message seq is sent[seq - 1] */
    uint64_t count;
    uint64_t capacity;
    const aq_chunk *last[SIM_LANES_MAX]; /* of each lane */
    uint64_t acknowledged;               /* the highest number that a shard has told */
    uint64_t version;                    /* the newest that it acted with */
} sim_stream;

void sim_stream_init(sim_stream *stream, sim_world *world, const aq_chunk_layout *layout,
                     uint64_t incarnation);
void sim_stream_fini(sim_stream *stream);

/* A message goes out, for the first time or again. */
void sim_stream_send(sim_stream *stream, const aq_experience *message);

/* NULL when none of that number was sent. */
sim_sent *sim_stream_message(const sim_stream *stream, uint64_t seq);

/* Whether the message holds what was sent under its number. */
bool sim_stream_holds(const sim_stream *stream, const aq_experience *message);

/* Fresh transitions in all messages up to `seq`. */
uint64_t sim_stream_fresh(const sim_stream *stream, uint64_t seq);

/* The actor acts with this version from here on; 0: at random. */
void sim_stream_acts(sim_stream *stream, uint64_t version);

#endif
