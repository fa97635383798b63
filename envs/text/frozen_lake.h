/*
 * Frozen lake with the rules of Gymnasium's: walk over ice from the start to the goal without
 * falling into a hole. Actions: left, down, right, up. On slippery ice (the default) a step goes
 * the way it should with a chance of 1/3, and to either side of it with as much. Reward 1 at the
 * goal, else 0; the goal and the holes end the episode.
 *
 * Options: map=4x4 (the default) or 8x8, either without a threshold where it isn't the task's own;
 * slippery=yes|no.
 */
#ifndef AQ_ENVS_TEXT_FROZEN_LAKE_H
#define AQ_ENVS_TEXT_FROZEN_LAKE_H

#include "envs/text/tabular.h"

extern const aq_env_class aq_frozen_lake_v1;
extern const aq_env_class aq_frozen_lake_8x8_v1; /* map=8x8 unless told otherwise; 200 steps */

#endif
