/*
 * Sequence places: see sequence_places.h.
 */
#include "learner/nn/sequence_places.h"

#include <string.h>

#include "common/base/assert.h"

void aq_sequence_places_lay_out(aq_sequence_places *places, uint32_t steps_max, aq_arrays *at)
{
    places->steps_max = steps_max;
    places->active = aq_arrays_place(at, (size_t)steps_max + 1, sizeof(*places->active));
    places->next = aq_arrays_place(at, (size_t)steps_max + 1, sizeof(*places->next));
}

void aq_sequence_places_begin(aq_sequence_places *places)
{
    memset(places->active, 0, ((size_t)places->steps_max + 1) * sizeof(*places->active));
    places->steps = 0;
}

void aq_sequence_places_add(aq_sequence_places *places, uint32_t length)
{
    AQ_ASSERT(length > 0 && length <= places->steps_max);
    places->active[length - 1]++;
    places->steps = length > places->steps ? length : places->steps;
}

void aq_sequence_places_close(aq_sequence_places *places)
{
    for (uint32_t step = places->steps_max; step-- > 0;) {
        places->active[step] += places->active[step + 1];
    }
    /* Behind those that are longer, whose number is that of the step that they alone have. */
    memcpy(places->next, places->active, ((size_t)places->steps_max + 1) * sizeof(*places->next));
}

uint32_t aq_sequence_places_take(aq_sequence_places *places, uint32_t length)
{
    return places->next[length]++;
}
