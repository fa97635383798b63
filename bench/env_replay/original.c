/*
 * Original: see original.h. What puts a recording into a class says what its state is.
 */
#include "bench/env_replay/original.h"

#include <string.h>

#include "common/base/assert.h"
#include "envs/classic/plain_state.h"
#ifdef AQ_HAVE_MUJOCO
#include "envs/mujoco/suite.h"
#endif

/* ---- classics ------------------------------------------------------------------------------- */

static size_t get_plain(const void *state, size_t count, const char *name, double *out, size_t room)
{
    if (strcmp(name, "state") != 0 || room < count) {
        return 0;
    }
    memcpy(out, state, count * sizeof(*out));
    return count;
}

static size_t get_2(const void *params, const void *state, const char *name, double *out,
                    size_t room)
{
    (void)params;
    return get_plain(state, 2, name, out, room);
}

static size_t get_4(const void *params, const void *state, const char *name, double *out,
                    size_t room)
{
    (void)params;
    return get_plain(state, 4, name, out, room);
}

/* ---- tables --------------------------------------------------------------------------------- */

static size_t get_cell(const void *params, const void *state, const char *name, double *out,
                       size_t room)
{
    (void)params;
    if (strcmp(name, "state") != 0 || room == 0) {
        return 0;
    }
    out[0] = ((const aq_tabular_state *)state)->cell;
    return 1;
}

static size_t outcomes(const void *params, uint32_t cell, uint32_t action,
                       aq_tabular_outcome *ret_outcomes)
{
    const aq_tabular *table = params;
    AQ_ASSERT(cell < table->state_count);
    AQ_ASSERT(action < table->action_count);
    return table->rules->outcomes(table, cell, action, ret_outcomes);
}

static double start_chance(const void *params, uint32_t cell)
{
    const aq_tabular *table = params;
    AQ_ASSERT(cell < table->state_count);
    return table->rules->is_start(table, cell) ? 1.0 / table->start_count : 0.0;
}

/* ---- all ------------------------------------------------------------------------------------ */

const aq_original *aq_original_of(const aq_env_class *class)
{
    static const aq_original plain_2 = {.get = get_2}, plain_4 = {.get = get_4};
    static const aq_original table = {
        .get = get_cell, .outcomes = outcomes, .start_chance = start_chance};
    if (class->put == aq_plain_put_2) {
        return &plain_2;
    }
    if (class->put == aq_plain_put_4) {
        return &plain_4;
    }
#ifdef AQ_HAVE_MUJOCO
    if (class->put == aq_suite_put_golden) {
        return &aq_original_suite;
    }
#endif
    return class->put == aq_tabular_put ? &table : NULL;
}
