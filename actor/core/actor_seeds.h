/*
 * Actor seeds: what an actor's chance begins with. Of the run's seed, the actor's slot and its
 * incarnation: a restarted actor must not play the same episodes again.
 */
#ifndef AQ_ACTOR_CORE_ACTOR_SEEDS_H
#define AQ_ACTOR_CORE_ACTOR_SEEDS_H

#include "common/base/rng.h"

typedef struct aq_actor_seeds {
    uint64_t env, explore, learn; /* of environments, of actions, of gradients */
} aq_actor_seeds;

static inline aq_actor_seeds aq_actor_seeds_of(uint64_t seed, uint32_t slot, uint64_t incarnation)
{
    aq_actor_seeds seeds;
    aq_rng rng;
    aq_rng_init(&rng, seed, slot);
    aq_rng_init(&rng, aq_rng_next(&rng), incarnation);
    seeds.env = aq_rng_next(&rng);
    seeds.explore = aq_rng_next(&rng);
    seeds.learn = aq_rng_next(&rng);
    return seeds;
}

#endif
