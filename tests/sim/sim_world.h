/*
 * World: what everything in a simulated cluster shares: the clock, the one source of chance, the
 * trace of what happened, and the verdict on it.
 *
 * The trace is a hash over every event that says anything; two runs of one seed must agree on it.
 * The verdict is the first invariant that did not hold, and the run stops there.
 */
#ifndef AQ_TESTS_SIM_SIM_WORLD_H
#define AQ_TESTS_SIM_SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/rng.h"
#include "tests/sim/sim_agenda.h"

enum sim_invariant {
    SIM_ALL_HOLD,
    SIM_STREAM,       /* an actor sends each transition of each lane once, in order */
    SIM_STORED_ONCE,  /* a shard stores what was sent, once, in order, without holes */
    SIM_ACKNOWLEDGED, /* what was acknowledged is stored, whoever was killed */
    SIM_RESTORED,     /* a store that was started again is what it was */
    SIM_CONTENT,      /* what is sampled is what an actor produced */
    SIM_VERSIONS,     /* policy versions only grow */
    SIM_POLICY,       /* what an actor has of a version is what the learner has, bit for bit */
    SIM_CREDIT,       /* inserted steps stay in the limiter's band */
    SIM_SAMPLES,      /* sampled rows stay in the limiter's band */
    SIM_LAG,          /* paced: no step is learned from that is too old, and none is lost */
    SIM_RANKS,        /* the ranks of a learner keep the same, bit for bit */
    SIM_ENV_STEPS,    /* the learner counts each inserted step once */
    SIM_PROGRESS,     /* without faults everybody takes part and everything moves */
    SIM_REFUSED,      /* nobody who belongs to the run is turned away */
    SIM_IDLE,         /* whoever has nothing to do waits for a time in the future */
};

const char *sim_invariant_name(enum sim_invariant invariant);

typedef struct sim_world {
    sim_agenda *agenda;
    aq_rng rng;
    uint64_t trace;
    bool prints_trace;
    enum sim_invariant broken;
    int64_t broken_ns;
    char words[512]; /* what is wrong */
    uint64_t *drawn; /* incarnations, stores and runs */
    size_t drawn_count, drawn_capacity;
} sim_world;

/* AQ_SIM_TRACE in the environment prints every line of the trace to standard error. */
void sim_world_init(sim_world *world, uint64_t seed);
void sim_world_fini(sim_world *world);

int64_t sim_now_ns(const sim_world *world);

/* `what` is a constant. */
void sim_trace(sim_world *world, const char *what, uint64_t a, uint64_t b);

/* Only the first is kept. */
void sim_broken(sim_world *world, enum sim_invariant invariant, const char *format, ...)
    AQ_PRINTF(3, 4);

/* ---- chance --------------------------------------------------------------------------------- */

bool sim_chance(aq_rng *rng, double share);
int64_t sim_draw_ns(aq_rng *rng, int64_t low_ns, int64_t high_ns);  /* in [low, high] */
uint64_t sim_draw_number(aq_rng *rng, uint64_t low, uint64_t high); /* in [low, high] */
uint64_t sim_draw_incarnation(sim_world *world);                    /* never 0 */

/* Whether the incarnation, or the store, was drawn here; else a liar made it up. */
bool sim_was_drawn(const sim_world *world, uint64_t incarnation);

#endif
