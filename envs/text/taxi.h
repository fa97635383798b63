/*
 * Taxi (Dietterich, 2000) with the rules of Gymnasium's: fetch a passenger at one of four stands of
 * a walled grid and set them down at another. Actions: south, north, east, west, pick up, set down.
 * Reward -1 a step, -10 for picking up or setting down where that can't be, and 20 for setting down
 * at the destination, which ends the episode.
 *
 * A state is ((row 5 + column) 5 + passenger) 4 + destination; passenger 0 to 3 waits at that
 * stand, 4 is in the taxi. An episode starts anywhere with the passenger at another stand than
 * their destination. v3 and v4 are the same task here: the original's differ in rain alone.
 */
#ifndef AQ_ENVS_TEXT_TAXI_H
#define AQ_ENVS_TEXT_TAXI_H

#include "envs/text/tabular.h"

extern const aq_env_class aq_taxi_v3;
extern const aq_env_class aq_taxi_v4;

#endif
