/*
 * A simulated actor: what actor_net.c does with sockets, threads and timers, done with the
 * simulated network, around the same session with a real environment. One object for all lives of a
 * process on one host.
 */
#ifndef AQ_TESTS_SIM_SIM_ACTOR_H
#define AQ_TESTS_SIM_SIM_ACTOR_H

#include "actor/session/actor_session.h"
#include "tests/sim/sim_ear.h"

typedef struct sim_actor sim_actor;

/* The connections to one shard. */
typedef struct sim_shard_link {
    sim_actor *actor;
    uint32_t lane;
    sim_client *flow; /* with `sender`: while they are open */
    sim_sender *sender;
} sim_shard_link;

struct sim_actor {
    sim_site *site;
    uint32_t host;
    uint64_t incarnation;
    sim_pump pump;
    sim_ear ear;
    aq_actor_session *session; /* NULL: it does not run */
    sim_client *learner;
    sim_shard_link links[AQ_SPREAD_SHARDS_MAX]; /* by their lanes */
    int exit_code; /* of the last life that ended by itself; -1: none yet */
    bool has_plant;
};

void sim_actor_init(sim_actor *actor, sim_site *site, uint32_t index);
void sim_actor_start(sim_actor *actor);
void sim_actor_kill(sim_actor *actor);
void sim_actor_stop(sim_actor *actor); /* SIGTERM: it finishes and ends by itself */

bool sim_actor_takes_part(const sim_actor *actor);

#endif
