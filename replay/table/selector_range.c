/*
 * Two numbers and a generator: the live items are one range.
 */
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "replay/table/replay_selector.h"

typedef struct selector_range {
    aq_replay_selector base;
    aq_rng rng;
    uint64_t first, end;
} selector_range;

static int range_reserve(aq_replay_selector *selector, uint64_t first, uint64_t end)
{
    (void)selector;
    (void)first;
    (void)end;
    return 0;
}

static void range_insert(aq_replay_selector *selector, uint64_t first, uint32_t count, float mass)
{
    selector_range *range = (selector_range *)selector;
    (void)mass;
    AQ_ASSERT(first == range->end);
    range->end += count;
}

static void range_remove(aq_replay_selector *selector, uint64_t first, uint32_t count)
{
    selector_range *range = (selector_range *)selector;
    AQ_ASSERT(first == range->first);
    AQ_ASSERT(range->end - range->first >= count);
    range->first += count;
}

static void range_draw(aq_replay_selector *selector, uint32_t rows, uint64_t *items,
                       float *probabilities)
{
    selector_range *range = (selector_range *)selector;
    uint64_t count = range->end - range->first;
    float probability = (float)(1.0 / (double)count);
    aq_rng rng = range->rng;
    for (uint32_t row = 0; row < rows; row++) {
        items[row] = range->first + aq_rng_below(&rng, count);
        probabilities[row] = probability;
    }
    range->rng = rng;
}

static size_t range_bytes(const aq_replay_selector *selector)
{
    (void)selector;
    return sizeof(selector_range);
}

static void range_destroy(aq_replay_selector *selector)
{
    aq_free(selector);
}

static const aq_replay_selector_class range_class = {
    .reserve = range_reserve,
    .insert = range_insert,
    .remove = range_remove,
    .draw = range_draw,
    .bytes = range_bytes,
    .destroy = range_destroy,
};

int aq_selector_range_create(uint64_t seed, aq_replay_selector **ret_selector)
{
    selector_range *range = aq_alloc(1, sizeof(*range));
    if (range == NULL) {
        return AQ_E_NOMEM;
    }
    range->base.class = &range_class;
    aq_rng_init(&range->rng, seed, AQ_SELECTOR_STREAM);
    *ret_selector = &range->base;
    return 0;
}
