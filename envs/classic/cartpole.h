/*
 * Cart-pole balancing (Barto, Sutton and Anderson, 1983) with the numbers of Gymnasium's CartPole:
 * push a cart left (0) or right (1) so that the pole on it stays up. Reward 1 a step, the one that
 * ends the episode included.
 *
 * The physics is in double, one explicit Euler step per control step; observations are the state
 * rounded to float. The structs are public so that a test can put the cart where it wants.
 */
#ifndef AQ_ENVS_CLASSIC_CARTPOLE_H
#define AQ_ENVS_CLASSIC_CARTPOLE_H

#include "envs/env.h"

typedef struct aq_cartpole_params {
    double gravity;          /* m/s^2 */
    double cart_mass;        /* kg */
    double pole_mass;        /* kg */
    double pole_half_length; /* m, hinge to centre of mass */
    double force;            /* N, the size of a push */
    double time_step;        /* s */
    double x_limit;          /* m; beyond it on either side the episode ends */
    double theta_limit;      /* rad; likewise */
} aq_cartpole_params;

typedef struct aq_cartpole_state {
    double x;         /* m */
    double x_dot;     /* m/s */
    double theta;     /* rad, 0 is upright */
    double theta_dot; /* rad/s */
} aq_cartpole_state;

enum { AQ_CARTPOLE_OBS = 4, AQ_CARTPOLE_ACTIONS = 2 };

extern const aq_env_class aq_cartpole_v0; /* 200 steps, solved at 195 */
extern const aq_env_class aq_cartpole_v1; /* 500 steps, solved at 475 */

#endif
