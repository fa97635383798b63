/*
 * Environments in Python: "py:module:EnvId", any that follow Gymnasium's interface (python/).
 *
 * All lanes of a task live in one worker process. The actions of all are announced, then worked
 * through in one round, and an episode that ends has its next begun in the same round, so that a
 * step costs little more than the environment itself.
 *
 * An episode is reset with a seed drawn from the lane's random numbers; whether it is then the same
 * again is up to the environment.
 */
#ifndef AQ_ENVS_PYTHON_PYTHON_ENV_H
#define AQ_ENVS_PYTHON_PYTHON_ENV_H

#include "envs/env.h"

/* Option: timeout_s, the longest that a round of steps may take. */
extern const aq_env_class aq_python_env;

#endif
