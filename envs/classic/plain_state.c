/*
 * Plain state: see plain_state.h.
 */
#include "envs/classic/plain_state.h"

int aq_plain_put_2(const void *params, void *state, const aq_golden_values *values, aq_error *error)
{
    (void)params;
    return aq_golden_copy(values, "state", 2, state, error);
}

int aq_plain_put_4(const void *params, void *state, const aq_golden_values *values, aq_error *error)
{
    (void)params;
    return aq_golden_copy(values, "state", 4, state, error);
}
