/*
 * Acrobot (Sutton, 1996) with the numbers of Gymnasium's: two links hang from a pivot, the joint
 * between them can be turned with torque -1, 0 or 1 (actions 0, 1, 2), and the free end has to get
 * above a line one link's length over the pivot. Reward -1 a step, 0 for the one that gets there.
 *
 * Observation: cosine and sine of the first angle, of the second, and the two velocities. The state
 * starts an episode rounded to float, as the original's does, and is double from there on. The
 * structs are public so that a test can put the links where it wants.
 */
#ifndef AQ_ENVS_CLASSIC_ACROBOT_H
#define AQ_ENVS_CLASSIC_ACROBOT_H

#include "envs/env.h"

typedef struct aq_acrobot_params {
    double gravity;       /* m/s^2 */
    double link_length;   /* m, of either */
    double link_mass;     /* kg */
    double link_centre;   /* m, from a link's joint to its centre of mass */
    double link_inertia;  /* kg m^2, about the centre of mass */
    double torque;        /* N m */
    double time_step;     /* s */
    double spin_limit[2]; /* rad/s */
} aq_acrobot_params;

typedef struct aq_acrobot_state {
    double angle[2]; /* rad, -pi to pi: of link 1, 0 is down; of link 2, from link 1 */
    double spin[2];  /* rad/s */
} aq_acrobot_state;

enum { AQ_ACROBOT_OBS = 6, AQ_ACROBOT_ACTIONS = 3 };

extern const aq_env_class aq_acrobot_v1;

#endif
