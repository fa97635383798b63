/*
 * Of a policy without a state observations are taken from all sequences alike, and in an order in
 * which the first few are from all of them, too: who measures may leave it at those. Of one with a
 * state it is the longest sequence, from its beginning.
 */
#include "learner/train/measured_obs.h"

#include "common/base/memory.h"
#include "learner/algorithms/batch_steps.h"

enum { ROUND_ROWS = 32 };

int aq_measured_obs_init(aq_measured_obs *obs, const aq_net_spec *spec, uint32_t rows_max)
{
    *obs = (aq_measured_obs){.rows_max = rows_max,
                             .inputs = aq_net_spec_inputs(spec),
                             .is_one_episode = aq_net_spec_state(spec) > 0};
    if (rows_max > 0) {
        obs->copy = aq_alloc(rows_max * obs->inputs, sizeof(*obs->copy));
    }
    return rows_max > 0 && obs->copy == NULL ? AQ_E_NOMEM : 0;
}

void aq_measured_obs_fini(aq_measured_obs *obs)
{
    aq_free(obs->copy);
    *obs = (aq_measured_obs){0};
}

static uint32_t longest_row(const aq_batch *batch)
{
    uint32_t longest = 0;
    for (uint32_t row = 1; row < batch->rows; row++) {
        longest = batch->length[row] > batch->length[longest] ? row : longest;
    }
    return longest;
}

static bool are_bytes(const aq_measured_obs *obs, const aq_batch *batch)
{
    return batch->obs_bytes == obs->inputs;
}

/* One observation, as the `row`-th of the copy. */
static void copy_one(const aq_measured_obs *obs, const aq_batch *batch, const uint8_t *from,
                     size_t row)
{
    aq_observations_load(from, are_bytes(obs, batch) ? AQ_DTYPE_U8 : AQ_DTYPE_F32, obs->inputs,
                         obs->copy + row * obs->inputs);
}

/* Every `stride`-th observation of these rows, behind the first `skip`, after those that were
 * `taken` before, as many as there is room for. Returns how many there are now. */
static size_t copy_rows(const aq_measured_obs *obs, const aq_batch *batch, uint32_t first,
                        uint32_t end, size_t skip, size_t stride, size_t taken)
{
    const size_t row_bytes = (size_t)(batch->steps + 1) * batch->obs_bytes;
    for (uint32_t row = first; row < end; row++) {
        size_t step = skip;
        for (; step < batch->length[row] && taken < obs->rows_max; step += stride) {
            copy_one(obs, batch, batch->obs + row * row_bytes + step * batch->obs_bytes, taken++);
        }
        skip = step > batch->length[row] ? step - batch->length[row] : 0;
    }
    return taken;
}

/* In rounds, each of which goes through all rows. */
static size_t copy_spread(const aq_measured_obs *obs, const aq_batch *batch)
{
    size_t steps = 0, taken = 0;
    for (uint32_t row = 0; row < batch->rows; row++) {
        steps += batch->length[row];
    }
    const size_t of_round = obs->rows_max < ROUND_ROWS ? obs->rows_max : ROUND_ROWS;
    const size_t stride = (steps + of_round - 1) / of_round;
    const size_t wanted = (obs->rows_max + of_round - 1) / of_round;
    const size_t rounds = wanted < stride ? wanted : stride;
    for (size_t i = 0; i < rounds; i++) {
        taken = copy_rows(obs, batch, 0, batch->rows, i * stride / rounds, stride, taken);
    }
    return taken;
}

const float *aq_measured_obs_of(const aq_measured_obs *obs, const aq_batch *batch, size_t *ret_rows)
{
    *ret_rows = 0;
    if (obs->copy == NULL) {
        return NULL;
    }
    if (!aq_batch_has_sequences(batch)) {
        if (!are_bytes(obs, batch)) {
            *ret_rows = batch->rows;
            return (const float *)(const void *)batch->obs;
        }
        *ret_rows = batch->rows < obs->rows_max ? batch->rows : obs->rows_max;
        for (size_t row = 0; row < *ret_rows; row++) {
            copy_one(obs, batch, batch->obs + row * batch->obs_bytes, row);
        }
    } else if (obs->is_one_episode && batch->rows > 0) {
        const uint32_t longest = longest_row(batch);
        *ret_rows = copy_rows(obs, batch, longest, longest + 1, 0, 1, 0);
    } else {
        *ret_rows = copy_spread(obs, batch);
    }
    return *ret_rows > 0 ? obs->copy : NULL;
}
