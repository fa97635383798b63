/*
 * The tasks of the control suite, in the order of their names. A new one is a line here.
 */
#ifndef AQ_ENVS_MUJOCO_SUITE_CLASSES_H
#define AQ_ENVS_MUJOCO_SUITE_CLASSES_H

#include "envs/env.h"

#define AQ_SUITE_CLASSES(X)                                                                        \
    X(cheetah_run)                                                                                 \
    X(hopper_hop)                                                                                  \
    X(hopper_stand)                                                                                \
    X(humanoid_run)                                                                                \
    X(humanoid_stand)                                                                              \
    X(humanoid_walk)                                                                               \
    X(pendulum_swingup)                                                                            \
    X(point_mass_easy)                                                                             \
    X(walker_run)                                                                                  \
    X(walker_stand)                                                                                \
    X(walker_walk)

#define AQ_SUITE_DECLARE(id) extern const aq_env_class aq_dmc_##id;
AQ_SUITE_CLASSES(AQ_SUITE_DECLARE)
#undef AQ_SUITE_DECLARE

#endif
