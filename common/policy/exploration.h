/*
 * Exploration: actions that are not greedy. All of them are in the space, which is a choice or a
 * box of floats with finite bounds. One owner of the generator; no other state.
 */
#ifndef AQ_COMMON_POLICY_EXPLORATION_H
#define AQ_COMMON_POLICY_EXPLORATION_H

#include "common/base/rng.h"
#include "common/experience/schema.h"

/* How much; each head takes what it has a use for. */
typedef struct aq_exploration {
    double epsilon; /* share of random actions */
    double sigma;   /* standard deviation of noise, as a share of half an action's range */
} aq_exploration;

/* One action drawn evenly from all that there are. */
void aq_action_random(const aq_space *space, aq_rng *rng, void *action);

/* Epsilon-greedy: a random one instead of the greedy one now and then. */
void aq_action_epsilon_greedy(const aq_space *space, const aq_exploration *how, aq_rng *rng,
                              void *greedy);

/* Adds a normal deviate to each element of a box, and holds it between its bounds. */
void aq_action_perturb(const aq_space *space, const aq_exploration *how, aq_rng *rng, void *greedy);

/* How widely one acts around a greedy action, in nats: of epsilon-greedy choices; of noise, with
 * actions as shares of half their range, where the bounds are not minded, and -inf without any. */
double aq_exploration_entropy(const aq_space *space, const aq_exploration *how);

#endif
