/*
 * Plain state: see plain_state.h.
 */
#include "envs/classic/plain_state.h"

#include <string.h>

static size_t get(const void *state, size_t count, const char *name, double *out, size_t room)
{
    if (strcmp(name, "state") != 0 || room < count) {
        return 0;
    }
    memcpy(out, state, count * sizeof(*out));
    return count;
}

static int set_2(const void *params, void *state, const aq_golden_values *values, aq_error *error)
{
    (void)params;
    return aq_golden_copy(values, "state", 2, state, error);
}

static size_t get_2(const void *params, const void *state, const char *name, double *out,
                    size_t room)
{
    (void)params;
    return get(state, 2, name, out, room);
}

const struct aq_env_golden aq_plain_golden_2 = {.set = set_2, .get = get_2};

static int set_4(const void *params, void *state, const aq_golden_values *values, aq_error *error)
{
    (void)params;
    return aq_golden_copy(values, "state", 4, state, error);
}

static size_t get_4(const void *params, const void *state, const char *name, double *out,
                    size_t room)
{
    (void)params;
    return get(state, 4, name, out, room);
}

const struct aq_env_golden aq_plain_golden_4 = {.set = set_4, .get = get_4};
