/*
 * Plain state: recordings of an environment whose state is a struct of doubles alone, in the order
 * in which the original keeps them. No state; any thread.
 */
#ifndef AQ_ENVS_CLASSIC_PLAIN_STATE_H
#define AQ_ENVS_CLASSIC_PLAIN_STATE_H

#include <string.h>

#include "envs/env_golden.h"

static inline AQ_MUST_USE int aq_plain_state_set(const aq_golden_values *values, size_t count,
                                                 void *state, aq_error *error)
{
    return aq_golden_copy(values, "state", count, state, error);
}

static inline size_t aq_plain_state_get(const void *state, size_t count, const char *name,
                                        double *out, size_t room)
{
    if (strcmp(name, "state") != 0 || room < count) {
        return 0;
    }
    memcpy(out, state, count * sizeof(*out));
    return count;
}

#endif
