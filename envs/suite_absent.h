/*
 * What stands for the control suite where MuJoCo is not there.
 */
#ifndef AQ_ENVS_SUITE_ABSENT_H
#define AQ_ENVS_SUITE_ABSENT_H

#include "envs/env.h"

extern const aq_env_class aq_dmc_absent;

#endif
