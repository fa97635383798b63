/*
 * Cliff walking (Sutton and Barto's example) with the rules of Gymnasium's: along the lower edge of
 * a grid from the left corner to the right one, with a cliff between. Actions: up, right, down,
 * left. Reward -1 a step; a step over the cliff costs 100 and leads back to the start. The goal
 * alone ends the episode, and there is no step limit.
 *
 * Options: slippery=yes|no (no): a step goes the way it should with a chance of 1/3, and to either
 * side of it with as much.
 */
#ifndef AQ_ENVS_TEXT_CLIFF_WALKING_H
#define AQ_ENVS_TEXT_CLIFF_WALKING_H

#include "envs/text/tabular.h"

extern const aq_env_class aq_cliff_walking_v1;

#endif
