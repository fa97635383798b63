/*
 * Pendulum swing-up with the numbers of Gymnasium's: a rod that hangs from a motor has to stand
 * upright, with a torque from -2 to 2 that is too weak to lift it at once. The reward of a step is
 * the negative of angle^2 + 0.1 velocity^2 + 0.001 torque^2 before it; episodes have no end but the
 * step limit.
 *
 * Observation: cosine and sine of the angle, and the velocity. The physics is in double, and so is
 * the torque from the action on, as in the original under NumPy's rules before version 2. The
 * structs are public so that a test can put the rod where it wants.
 */
#ifndef AQ_ENVS_CLASSIC_PENDULUM_H
#define AQ_ENVS_CLASSIC_PENDULUM_H

#include "envs/env.h"

typedef struct aq_pendulum_params {
    double gravity;    /* m/s^2 */
    double length;     /* m */
    double mass;       /* kg */
    double time_step;  /* s */
    double max_speed;  /* rad/s */
    double max_torque; /* N m */
} aq_pendulum_params;

typedef struct aq_pendulum_state {
    double theta;     /* rad, 0 is upright; counts whole turns */
    double theta_dot; /* rad/s */
} aq_pendulum_state;

enum { AQ_PENDULUM_OBS = 3 };

extern const aq_env_class aq_pendulum_v1;

#endif
