/*
 * The tasks of the control suite, in the order of their names. A new one is a word here.
 */
#ifndef AQ_ENVS_MUJOCO_SUITE_CLASSES_H
#define AQ_ENVS_MUJOCO_SUITE_CLASSES_H

#include "envs/env.h"

#define AQ_SUITE_CLASSES(X)                                                                        \
    X(acrobot_swingup), X(acrobot_swingup_sparse), X(ball_in_cup_catch), X(cartpole_balance),      \
        X(cartpole_balance_sparse), X(cartpole_swingup), X(cartpole_swingup_sparse),               \
        X(cheetah_run), X(finger_spin), X(finger_turn_easy), X(finger_turn_hard), X(hopper_hop),   \
        X(hopper_stand), X(humanoid_run), X(humanoid_stand), X(humanoid_walk),                     \
        X(pendulum_swingup), X(point_mass_easy), X(reacher_easy), X(reacher_hard), X(walker_run),  \
        X(walker_stand), X(walker_walk)

#define AQ_SUITE_CLASS_NAME(id) aq_dmc_##id
extern const aq_env_class AQ_SUITE_CLASSES(AQ_SUITE_CLASS_NAME);

#endif
