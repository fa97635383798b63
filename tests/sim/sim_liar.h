/*
 * A simulated liar: a process with the rights of every member, which joins as actors, evaluators
 * and shards and calls every method that members may call with anything in it: counts, versions,
 * names, credit, acknowledgements, evaluations, the address of an honest shard. It says things and
 * does nothing: where its shards are said to be, nobody listens.
 */
#ifndef AQ_TESTS_SIM_SIM_LIAR_H
#define AQ_TESTS_SIM_SIM_LIAR_H

#include "tests/sim/sim_actor.h"
#include "tests/sim/sim_replay.h"
#include "tests/support/hostile_message.h"

/* Whose secrets a planted fault gives away. */
typedef struct sim_honest {
    const sim_replay *shards; /* the names of their stores every member knows */
    const sim_actor *actors;
} sim_honest;

typedef struct sim_liar {
    sim_site *site;
    sim_honest honest;
    bool runs;
    hostile source;
    const char *addresses[HOSTILE_ADDRESSES];
    sim_client *learner;
    sim_client *shards[SIM_SHARDS_MAX];
    uint64_t answered; /* with OK */
} sim_liar;

void sim_liar_init(sim_liar *liar, sim_site *site, const sim_honest *honest);
void sim_liar_start(sim_liar *liar);
void sim_liar_stop(sim_liar *liar); /* one that does not run is fine */

#endif
