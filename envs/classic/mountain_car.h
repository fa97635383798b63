/*
 * Mountain car (Moore, 1990) with the numbers of Gymnasium's two forms: a car in a valley is too
 * weak to drive straight up to the flag on the right, so it has to swing.
 *
 * MountainCar-v0: push left, not at all or right (0, 1, 2); reward -1 a step.
 * MountainCarContinuous-v0: a push from -1 to 1; reward -0.1 push^2 a step, and 100 for the one
 * that reaches the flag. Its state is rounded to float after every step, as the original's is, but
 * not at reset.
 *
 * The structs are public so that a test can put the car where it wants.
 */
#ifndef AQ_ENVS_CLASSIC_MOUNTAIN_CAR_H
#define AQ_ENVS_CLASSIC_MOUNTAIN_CAR_H

#include "envs/env.h"

typedef struct aq_mountain_car_params {
    double position_low, position_high;
    double speed_limit;   /* positions a step */
    double goal_position; /* the flag */
    double goal_velocity; /* to be had there at least */
    double force;         /* what a whole push adds to the velocity */
    double gravity;       /* what a slope of 1 takes from it */
} aq_mountain_car_params;

typedef struct aq_mountain_car_state {
    double position; /* the valley's bottom is at -pi/6 */
    double velocity; /* positions a step */
} aq_mountain_car_state;

enum { AQ_MOUNTAIN_CAR_OBS = 2, AQ_MOUNTAIN_CAR_ACTIONS = 3 };

extern const aq_env_class aq_mountain_car_v0;
extern const aq_env_class aq_mountain_car_continuous_v0;

#endif
