/*
 * Scenario: everything about a simulated run that is drawn from its seed before it starts: the
 * configuration, how many of whom, how fast they are, and how rough it gets. A configuration is one
 * that the learner accepts; within that it is as odd as can be.
 */
#ifndef AQ_TESTS_SIM_SIM_SCENARIO_H
#define AQ_TESTS_SIM_SIM_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/run_config.h"

enum { SIM_SHARDS_MAX = 3, SIM_ACTORS_MAX = 6, SIM_EVALUATORS_MAX = 1, SIM_RANKS_MAX = 3 };

/* A fault planted in somebody, to see that the checkers notice. */
enum sim_plant {
    SIM_PLANT_NONE,
    SIM_PLANT_DUPLICATE,    /* a shard takes a message a second time, under the next number */
    SIM_PLANT_LOSS,         /* a shard drops a chunk of a message that it acknowledges */
    SIM_PLANT_ACKNOWLEDGED, /* a message says that one more was acknowledged than the shard has */
    SIM_PLANT_VERSION,      /* a restarted learner goes on with the version of its checkpoint */
    SIM_PLANT_CREDIT,       /* a shard grants more than the run's tolerance */
    SIM_PLANT_SAMPLES,      /* a shard gives out samples beyond the run's ratio */
    SIM_PLANT_CONTENT,      /* a shard's memory flips a bit of what it stores */
    SIM_PLANT_ENV_STEPS,    /* a restarted learner counts its checkpoint's steps twice */
    SIM_PLANT_STREAM,       /* an actor leaves a message out */
    SIM_PLANT_DEADLOCK,     /* a learner does not ask for samples any more */
    SIM_PLANT_CORRUPT,      /* a byte of a message changes on the way */
    SIM_PLANT_POLICY,       /* a learner broadcasts a version that is not the one it keeps */
    SIM_PLANT_IDLE,         /* an actor that has nothing to do does not wait */
    SIM_PLANT_EARLY,        /* a disk says that it has what it has not written yet */
    SIM_PLANT_MISSING,      /* a record is not read back */
    SIM_PLANT_MARKS,        /* the marks at the heads of segments are not read back */
    SIM_PLANT_PRIORITIES,   /* the snapshot is not read back */
    SIM_PLANT_ACTOR_SECRET, /* a liar knows the incarnation of an actor */
    SIM_PLANT_SHARD_SECRET, /* a liar knows the incarnation of a shard */
    SIM_PLANT_RANK,         /* a parameter of one rank changes */
    SIM_PLANT_LAG,          /* a learner takes the first version for the newest */
};

typedef struct sim_scenario {
    uint64_t seed;
    aq_run_config config;
    uint32_t shards, actors, evaluators;
    uint32_t ranks; /* of the learner, others than the first; 0: it is alone */
    int64_t actor_step_ns, evaluator_step_ns, train_batch_ns, publish_ns;
    int64_t storm_ns; /* 0: no faults at all */
    int64_t quiet_ns; /* then: how long it runs, unless it ends before */
    bool durable;     /* shards have disks */
    bool disorder;    /* E1 may lose order, too */
    bool has_liar;    /* a member lies */
    enum sim_plant plant;
} sim_scenario;

/* Whether what was numbered for a store in memory, and is not acknowledged, may be left over: where
 * it was, a liar said that it has a shard, whose lane the next store got. */
static inline bool sim_inherits_lies(const sim_scenario *scenario)
{
    return scenario->has_liar && !scenario->durable;
}

/* A storm. */
void sim_scenario_draw(uint64_t seed, sim_scenario *ret_scenario);

/* A storm in a paced run, whose steps may be 0 to 3 versions behind; each group makes one. */
void sim_scenario_paced(uint64_t seed, sim_scenario *ret_scenario);

/* A storm, paced or not, in which the learner has several ranks. */
void sim_scenario_ranks(uint64_t seed, sim_scenario *ret_scenario);
/* A storm in a run whose actors send gradients. */
void sim_scenario_gradients(uint64_t seed, sim_scenario *ret_scenario);

/* No faults, and settings under which the task is learned quickly. */
void sim_scenario_learning(uint64_t seed, sim_scenario *ret_scenario);

#endif
