/*
 * Golden values: an environment's state in the terms of a recording, so that what the original did
 * can be put into ours (aq_env_class.put); never on the way of training.
 *
 * Names of values are the recording's: "state" of Gymnasium's classics (the numbers of
 * `env.unwrapped.state`) and of toy text (one: the cell); "qpos", "qvel", "act", "ctrl",
 * "qacc_warmstart", "target_geom_pos", "target_site_pos" of the control suite.
 *
 * No state; any thread.
 */
#ifndef AQ_ENVS_ENV_GOLDEN_H
#define AQ_ENVS_ENV_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

enum { AQ_GOLDEN_VALUES_MAX = 16 };

typedef struct aq_golden_value {
    const char *name;
    size_t count;
    const double *numbers;
} aq_golden_value;

typedef struct aq_golden_values {
    size_t count;
    aq_golden_value rows[AQ_GOLDEN_VALUES_MAX];
} aq_golden_values;

/* The numbers of that value; NULL when the recording does not name it or has another count. */
const double *aq_golden_find(const aq_golden_values *values, const char *name, size_t count);

/* AQ_E_INVALID, saying that the value is missing, if it is needed, or has how many numbers. */
int aq_golden_check(const aq_golden_values *values, const char *name, size_t count, bool is_needed,
                    aq_error *error) AQ_MUST_USE;

/* Copies to out a value that is needed; likewise. */
int aq_golden_copy(const aq_golden_values *values, const char *name, size_t count, double *out,
                   aq_error *error) AQ_MUST_USE;

#endif
