/*
 * Policies that keep a state are trained on whole sequences, each from the state that its actor
 * began it with. Minibatches are of sequences then, laid out side by side (net_train.h).
 *
 * The network of values keeps none: at each boundary it sees the state that the actor's policy had
 * there, beside the observation.
 */
#include <string.h>

#include "learner/algorithms/on_policy/on_policy_priv.h"

void aq_on_policy_memory_lay_out(aq_on_policy_memory *memory, uint32_t width,
                                 uint32_t sequence_steps, uint32_t steps_max, aq_arrays *at)
{
    memory->width = width;
    if (width > 0) {
        memory->first = aq_arrays_place(at, steps_max, sizeof(uint32_t));
        memory->order = aq_arrays_place(at, steps_max, sizeof(uint32_t));
        memory->steps = aq_arrays_place(at, steps_max, sizeof(uint32_t));
        memory->state = aq_arrays_place(at, steps_max, width * sizeof(float));
        aq_sequence_places_lay_out(&memory->places, sequence_steps, at);
    }
}

void aq_on_policy_memory_begin(aq_on_policy_memory *memory, const aq_batch *rows,
                               const float *recorded)
{
    uint32_t first = 0;
    memory->recorded = recorded;
    memory->sequences = 0;
    for (uint32_t row = 0; row < rows->rows; row++) {
        if (rows->length[row] > 0) {
            memory->order[memory->sequences++] = row;
        }
        memory->first[row] = first;
        first += rows->length[row] + 1;
    }
}

void aq_on_policy_memory_shuffle(aq_on_policy_memory *memory, aq_rng *rng)
{
    aq_rng_shuffle(rng, memory->order, memory->sequences);
}

uint32_t aq_on_policy_memory_lay(aq_on_policy_memory *memory, const aq_on_policy_group *group,
                                 uint32_t begin, uint32_t end)
{
    const aq_batch *rows = group->rows;
    const uint32_t *order = memory->order + begin;
    const uint32_t count = end - begin;
    aq_sequence_places *places = &memory->places;
    uint32_t laid = 0;
    aq_sequence_places_begin(places);
    for (uint32_t i = 0; i < count; i++) {
        aq_sequence_places_add(places, rows->length[order[i]]);
    }
    aq_sequence_places_close(places);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = order[i], length = rows->length[row];
        const uint32_t place = aq_sequence_places_take(places, length);
        const size_t boundary = group->own.observation[memory->first[row]];
        uint32_t at = place;
        for (uint32_t t = 0; t < length; at += places->active[t++]) {
            memory->steps[at] = memory->first[row] + t;
        }
        memcpy(memory->state + (size_t)place * memory->width,
               memory->recorded + boundary * memory->width, memory->width * sizeof(float));
        laid += length;
    }
    memory->laid = (aq_net_sequences){
        .steps = places->steps, .active = places->active, .state = memory->state};
    return laid;
}
