/*
 * The rules are asked in each step, which for tasks as small as these costs less than a table
 * would in cache misses, and leaves nothing to allocate.
 */
#include "envs/text/tabular.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"

int aq_tabular_open(void *params, aq_env_opening *opening, aq_error *error)
{
    (void)opening;
    (void)error;
    aq_tabular *table = params;
    table->start_count = 0;
    for (uint32_t cell = 0; cell < table->state_count; cell++) {
        table->start_count += table->rules->is_start(table, cell);
    }
    AQ_ASSERT(table->start_count > 0);
    return 0;
}

uint32_t aq_tabular_moved(const aq_tabular *table, uint32_t cell, int down, int right)
{
    const uint32_t row = cell / table->columns, column = cell % table->columns;
    if ((down < 0 && row == 0) || (down > 0 && row == table->rows - 1) ||
        (right < 0 && column == 0) || (right > 0 && column == table->columns - 1)) {
        return cell;
    }
    return cell + (uint32_t)down * table->columns + (uint32_t)right;
}

aq_point aq_tabular_point(const aq_tabular *table, const aq_canvas *canvas, double row,
                          double column)
{
    const uint32_t side = aq_canvas_unit(canvas);
    return (aq_point){(column / table->columns - 0.5) * canvas->width / side,
                      (row / table->rows - 0.5) * canvas->height / side};
}

void aq_tabular_schema(const void *params, aq_schema *ret_schema)
{
    const aq_tabular *table = params;
    aq_space_init_discrete(&ret_schema->obs, table->state_count);
    aq_space_init_discrete(&ret_schema->action, table->action_count);
}

void aq_tabular_observe(const void *params, const void *state, void *obs)
{
    (void)params;
    *(int32_t *)obs = (int32_t)((const aq_tabular_state *)state)->cell;
}

bool aq_tabular_reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    const aq_tabular *table = params;
    aq_tabular_state *s = state;
    uint64_t skip = table->start_count > 1 ? aq_rng_below(rng, table->start_count) : 0;
    s->cell = 0;
    while (!table->rules->is_start(table, s->cell) || skip-- > 0) {
        s->cell++;
    }
    aq_tabular_observe(table, s, obs);
    return true;
}

enum aq_step_end aq_tabular_step(const void *params, void *state, aq_rng *rng, const void *action,
                                 void *obs, float *reward)
{
    const aq_tabular *table = params;
    aq_tabular_state *s = state;
    const int32_t choice = *(const int32_t *)action;
    aq_tabular_outcome outcomes[AQ_TABULAR_OUTCOMES_MAX];
    AQ_ASSERT(choice >= 0);
    AQ_ASSERT((uint32_t)choice < table->action_count);
    AQ_ASSERT(s->cell < table->state_count);

    const size_t count = table->rules->outcomes(table, s->cell, (uint32_t)choice, outcomes);
    const double drawn = count > 1 ? aq_rng_uniform(rng) : 0.0;
    size_t i = 0;
    for (double sum = outcomes[0].chance; i + 1 < count && sum <= drawn; i++) {
        sum += outcomes[i + 1].chance;
    }
    s->cell = outcomes[i].next;
    *reward = (float)outcomes[i].reward;
    aq_tabular_observe(table, s, obs);
    return outcomes[i].terminated ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

int aq_tabular_put(const void *params, void *state, const aq_golden_values *values, aq_error *error)
{
    const aq_tabular *table = params;
    double cell;
    int rc = aq_golden_copy(values, "state", 1, &cell, error);
    if (rc != 0) {
        return rc;
    }
    if (!(cell >= 0 && cell < table->state_count && cell == floor(cell))) {
        return aq_fail(error, AQ_E_INVALID, "state %g is none of 0 to %u", cell,
                       table->state_count - 1);
    }
    ((aq_tabular_state *)state)->cell = (uint32_t)cell;
    return 0;
}
