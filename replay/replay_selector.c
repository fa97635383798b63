/*
 * One random number an item; no state beside the generator's.
 */
#include "replay/replay_selector.h"

#include "common/base/assert.h"

/* Sets the selector's random numbers apart from all others that follow from the same seed. */
#define SELECTOR_STREAM UINT64_C(0x73656c6563746f72) /* "selector" */

void aq_replay_selector_init(aq_replay_selector *selector, uint64_t seed)
{
    aq_rng_init(&selector->rng, seed, SELECTOR_STREAM);
}

void aq_replay_selector_draw(aq_replay_selector *selector, uint64_t first_item, uint64_t end_item,
                             uint32_t rows, uint64_t *items, float *weights)
{
    AQ_ASSERT(first_item < end_item);
    for (uint32_t row = 0; row < rows; row++) {
        items[row] = first_item + aq_rng_below(&selector->rng, end_item - first_item);
        weights[row] = 1.0f;
    }
}
