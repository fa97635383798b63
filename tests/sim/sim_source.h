/*
 * Source: everything that one actor process has made and sent, whichever shard it went to. The
 * identity of a transition is (incarnation, lane, episode, index), a lane being one of the actor's
 * environments; here is checked that each is sent once, and that the pieces of an episode fit.
 *
 * With one shard a lane's pieces come in order. With several they overtake one another, so holes
 * can be told only when the actor has sent all it had.
 */
#ifndef AQ_TESTS_SIM_SIM_SOURCE_H
#define AQ_TESTS_SIM_SIM_SOURCE_H

#include "common/experience/chunk.h"
#include "tests/sim/sim_world.h"

enum { SIM_LANES_MAX = 16 };

/* One environment: its chunks in the order in which they were made. */
typedef struct sim_lane {
    const aq_chunk **chunks;
    size_t count;
    size_t capacity;
} sim_lane;

typedef struct sim_source {
    sim_world *world;
    uint64_t incarnation;
    uint64_t actor; /* its member number; 0: it sent nothing yet */
    bool in_order;  /* there is one shard */
    aq_layout layout;
    sim_lane lanes[SIM_LANES_MAX];
    uint64_t version; /* the newest that it acted with */
} sim_source;

void sim_source_init(sim_source *source, sim_world *world, const aq_layout *layout,
                     uint64_t incarnation, bool in_order);
void sim_source_fini(sim_source *source);

/* A chunk goes out for the first time; it must stay. */
void sim_source_sends(sim_source *source, const aq_chunk *chunk);

/* It has sent all that it made. */
void sim_source_check_whole(const sim_source *source);

/* The actor acts with this version from here on; 0: at random. */
void sim_source_acts(sim_source *source, uint64_t version);

#endif
