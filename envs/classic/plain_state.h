/*
 * Plain state: of an environment whose state is a struct of two or four doubles alone, in the order
 * in which the original keeps them, what is recorded as "state". As aq_env_class.put. No state; any
 * thread.
 */
#ifndef AQ_ENVS_CLASSIC_PLAIN_STATE_H
#define AQ_ENVS_CLASSIC_PLAIN_STATE_H

#include "envs/env_golden.h"

int aq_plain_put_2(const void *params, void *state, const aq_golden_values *values,
                   aq_error *error) AQ_MUST_USE;
int aq_plain_put_4(const void *params, void *state, const aq_golden_values *values,
                   aq_error *error) AQ_MUST_USE;

#endif
