/*
 * Cluster: a learner, replay shards, actors and evaluators in one process, from their start in any
 * order, through a storm of faults, to the end of the run.
 *
 *   storm     faults as drawn from the seed, or none
 *   recovery  no faults any more: within a bounded time everybody takes part and everything moves
 *   drain     the actors are told to stop: each finishes and leaves, every step is accounted for
 *   farewell  the run is stopped: everybody hears of it and leaves
 *
 * The run ends early at the first invariant that does not hold.
 */
#ifndef AQ_TESTS_SIM_SIM_CLUSTER_H
#define AQ_TESTS_SIM_SIM_CLUSTER_H

#include "tests/sim/sim_actor.h"
#include "tests/sim/sim_evaluator.h"
#include "tests/sim/sim_learner.h"
#include "tests/sim/sim_liar.h"
#include "tests/sim/sim_replay.h"

typedef struct sim_cluster {
    sim_site site;
    sim_learner learner;
    sim_replay shards[SIM_SHARDS_MAX];
    sim_actor actors[SIM_ACTORS_MAX];
    sim_evaluator evaluators[SIM_EVALUATORS_MAX];
    sim_liar liar;
    uint64_t wanted; /* bit per host: it is to be started when it is down */
    aq_rng faults;
    bool stormy;
    int64_t storm_end_ns;
} sim_cluster;

typedef struct sim_outcome {
    enum sim_invariant broken;
    int64_t broken_ns;
    char words[512];
    uint64_t trace;      /* of everything that happened */
    int64_t end_ns;      /* how long the run took, in its own time */
    int64_t recovery_ns; /* of it, from the last fault until everybody moved */
    uint64_t events;
    uint64_t env_steps, learner_steps;
    uint64_t messages_lost, messages_doubled, breaks, timeouts;
    uint64_t policy_gaps;  /* versions heard that change one which had been missed */
    uint64_t stored_twice; /* messages that two shards had at a time */
    uint64_t records, records_lost, segments_dropped; /* of shards' disks */
    uint64_t lies;                                    /* that were answered with OK */
    uint64_t evaluations;
    double first_return, best_return;
    sim_tally tally;
} sim_outcome;

/* The whole of it. */
void sim_run(const sim_scenario *scenario, sim_outcome *ret_outcome);

/* ---- inside: sim_faults.c ------------------------------------------------------------------- */

/* From here until storm_end_ns. */
void sim_faults_begin(sim_cluster *cluster);

/* Puts an end to all that is wrong; who is down is started. */
void sim_faults_end(sim_cluster *cluster);

/* Starts, or kills, whoever lives on the host. */
bool sim_host_runs(const sim_cluster *cluster, uint32_t host);
void sim_host_begin(sim_cluster *cluster, uint32_t host);
void sim_host_kill(sim_cluster *cluster, uint32_t host);

/* ---- inside: sim_reckoning.c ---------------------------------------------------------------- */

/* Each shard that lives has told the learner what it has. */
bool sim_counts_are_told(sim_cluster *cluster);

/* The living count with all they have, nobody with more than came. */
void sim_check_counts(sim_cluster *cluster);

/* All that the actor, which left after so many steps, has sent was acknowledged, without holes, and
 * it kept back no more than what makes no item. */
void sim_check_actor(sim_cluster *cluster, const sim_actor *actor, uint64_t steps);

#endif
