/*
 * Plain state: recordings of an environment whose state is a struct of two or four doubles alone,
 * in the order in which the original keeps them. No state; any thread.
 */
#ifndef AQ_ENVS_CLASSIC_PLAIN_STATE_H
#define AQ_ENVS_CLASSIC_PLAIN_STATE_H

#include "envs/env_golden.h"

extern const struct aq_env_golden aq_plain_golden_2;
extern const struct aq_env_golden aq_plain_golden_4;

#endif
