/*
 * Boundaries, observations and steps of sequences that are not all as long.
 */
#include "learner/algorithms/batch_steps.h"

#include <string.h>

#include "common/base/assert.h"
#include "learner/nn/passes.h"

void aq_batch_steps_take(aq_batch_steps *steps, const aq_batch *rows, uint32_t steps_max)
{
    steps->boundaries = 0;
    steps->count = 0;
    for (uint32_t row = 0; row < rows->rows; row++) {
        const uint32_t length = rows->length[row];
        AQ_ASSERT(steps->count + length <= steps_max);
        for (uint32_t t = 0; t <= length; t++) {
            if (t < length) {
                steps->steps[steps->count++] = steps->boundaries;
            }
            steps->observation[steps->boundaries++] = row * (rows->steps + 1) + t;
        }
        rows->priority[row] = 0.0f;
    }
}

size_t aq_batch_step_place(const aq_batch *rows, uint32_t observation)
{
    return observation - observation / (rows->steps + 1);
}

uint32_t aq_batch_choice(const aq_batch *rows, size_t place)
{
    int32_t choice;
    memcpy(&choice, rows->action + place * sizeof(choice), sizeof(choice));
    return (uint32_t)choice;
}

uint32_t aq_batch_part_begin(uint64_t count, uint32_t number, uint32_t parts)
{
    return (uint32_t)(count * number / parts);
}

aq_batch_part aq_batch_part_of(const aq_batch_steps *steps, uint32_t number, uint32_t parts)
{
    const uint32_t first = aq_batch_part_begin(steps->count, number, parts);
    aq_batch_part part = {.steps = steps->steps + first,
                          .count = aq_batch_part_begin(steps->count, number + 1, parts) - first};
    for (uint32_t rank = 0; rank < steps->ranks; rank++) {
        part.all += aq_batch_part_begin(steps->counts[rank], number + 1, parts) -
                    aq_batch_part_begin(steps->counts[rank], number, parts);
    }
    part.share = part.all / steps->ranks;
    return part;
}

uint32_t aq_batch_part_count(const aq_batch_steps *steps, uint32_t wanted)
{
    uint64_t most = 0;
    for (uint32_t rank = 0; rank < steps->ranks; rank++) {
        most = steps->counts[rank] > most ? steps->counts[rank] : most;
    }
    return wanted < most ? wanted : (uint32_t)most;
}

void aq_observations_load(const uint8_t *from, uint32_t dtype, size_t values, float *ret_values)
{
    if (dtype == AQ_DTYPE_U8) {
        aq_passes_best()->unit_from_u8(from, ret_values, values);
    } else {
        memcpy(ret_values, from, values * sizeof(*ret_values));
    }
}

void aq_batch_observe(const aq_batch *rows, uint32_t dtype, uint32_t observation, uint32_t inputs,
                      float *ret_inputs)
{
    aq_observations_load(rows->obs + (size_t)observation * rows->obs_bytes, dtype, inputs,
                         ret_inputs);
}
