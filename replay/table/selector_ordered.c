/*
 * One bit for each number: whether the item is there. Draws go through the bits, 64 at a time, from
 * the oldest or the newest one on; where that was last is remembered, so that those that left are
 * not gone through again.
 */

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "replay/table/item_column.h"
#include "replay/table/replay_selector.h"

enum { WORD_BITS = 64 };

typedef struct selector_ordered {
    aq_replay_selector base;
    bool newest_first;
    aq_item_column words; /* of WORD_BITS numbers each */
    uint64_t first, end;  /* the items that are there lie in this range; it ends with them */
    uint64_t count;       /* of them */
} selector_ordered;

static uint64_t *word_of(const selector_ordered *ordered, uint64_t item)
{
    return aq_item_column_at(&ordered->words, item / WORD_BITS);
}

/* A word is zero again once its numbers have left. */
static int ordered_reserve(aq_replay_selector *selector, uint64_t first, uint64_t end)
{
    selector_ordered *ordered = (selector_ordered *)selector;
    const uint64_t known = ordered->end > first ? ordered->end : first;
    return aq_item_column_reserve(&ordered->words, first / WORD_BITS,
                                  (known + WORD_BITS - 1) / WORD_BITS,
                                  (end + WORD_BITS - 1) / WORD_BITS);
}

/* Sets or clears a range, word by word; returns how many bits that changed. */
static uint64_t change(selector_ordered *ordered, uint64_t first, uint64_t end, bool value)
{
    uint64_t changed = 0;
    while (first < end) {
        uint64_t bit = first % WORD_BITS;
        uint64_t count = WORD_BITS - bit < end - first ? WORD_BITS - bit : end - first;
        uint64_t mask = (count == WORD_BITS ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1) << bit;
        uint64_t *word = word_of(ordered, first);
        changed += (uint64_t)__builtin_popcountll((value ? ~*word : *word) & mask);
        *word = value ? *word | mask : *word & ~mask;
        first += count;
    }
    return changed;
}

/* The first item that is there from `item` on; there is one. */
static uint64_t next_item(const selector_ordered *ordered, uint64_t item)
{
    uint64_t word = *word_of(ordered, item) >> item % WORD_BITS << item % WORD_BITS;
    while (word == 0) {
        item += WORD_BITS;
        word = *word_of(ordered, item);
    }
    return item - item % WORD_BITS + (uint64_t)__builtin_ctzll(word);
}

/* The last item that is there up to `item`; there is one. */
static uint64_t previous_item(const selector_ordered *ordered, uint64_t item)
{
    uint64_t unused = WORD_BITS - 1 - item % WORD_BITS;
    uint64_t word = *word_of(ordered, item) << unused >> unused;
    while (word == 0) {
        item -= WORD_BITS;
        word = *word_of(ordered, item);
    }
    return item - item % WORD_BITS + (WORD_BITS - 1) - (uint64_t)__builtin_clzll(word);
}

static void ordered_insert(aq_replay_selector *selector, uint64_t first, uint32_t count, float mass)
{
    selector_ordered *ordered = (selector_ordered *)selector;
    (void)mass;
    if (ordered->count == 0) {
        ordered->first = first;
    }
    ordered->end = first + count;
    ordered->count += change(ordered, first, ordered->end, true);
}

static void ordered_remove(aq_replay_selector *selector, uint64_t first, uint32_t count)
{
    selector_ordered *ordered = (selector_ordered *)selector;
    ordered->count -= change(ordered, first, first + count, false);
    if (ordered->count == 0) {
        ordered->first = ordered->end;
        return;
    }
    if (first <= ordered->first) {
        ordered->first = next_item(ordered, ordered->first);
    }
    if (first + count >= ordered->end) {
        ordered->end = previous_item(ordered, ordered->end - 1) + 1;
    }
}

static void ordered_draw(aq_replay_selector *selector, uint32_t rows, uint64_t *items,
                         float *probabilities)
{
    const selector_ordered *ordered = (const selector_ordered *)selector;
    float probability = (float)(1.0 / (double)ordered->count);
    AQ_ASSERT(rows <= ordered->count);
    uint64_t item = ordered->newest_first ? ordered->end - 1 : ordered->first;
    for (uint32_t row = 0; row < rows; row++) {
        if (ordered->newest_first) {
            items[row] = previous_item(ordered, item);
            item = items[row] - 1;
        } else {
            items[row] = next_item(ordered, item);
            item = items[row] + 1;
        }
        probabilities[row] = probability;
    }
}

static size_t ordered_bytes(const aq_replay_selector *selector)
{
    const selector_ordered *ordered = (const selector_ordered *)selector;
    return sizeof(*ordered) + aq_item_column_bytes(&ordered->words);
}

static void ordered_destroy(aq_replay_selector *selector)
{
    aq_item_column_fini(&((selector_ordered *)selector)->words);
    aq_free(selector);
}

static const aq_replay_selector_class ordered_class = {
    .draws_each_once = true,
    .reserve = ordered_reserve,
    .insert = ordered_insert,
    .remove = ordered_remove,
    .draw = ordered_draw,
    .bytes = ordered_bytes,
    .destroy = ordered_destroy,
};

int aq_selector_ordered_create(bool newest_first, aq_replay_selector **ret_selector)
{
    selector_ordered *ordered = aq_alloc(1, sizeof(*ordered));
    if (ordered == NULL) {
        return AQ_E_NOMEM;
    }
    ordered->base.class = &ordered_class;
    ordered->newest_first = newest_first;
    aq_item_column_init(&ordered->words, sizeof(uint64_t));
    *ret_selector = &ordered->base;
    return 0;
}
