/*
 * A sum tree over the low bits of the items' numbers. Where all items are worth the same, it is for
 * the holes: an item that left has no mass.
 */
#include <float.h>
#include <math.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "replay/table/item_column.h"
#include "replay/table/replay_selector.h"
#include "replay/table/sum_tree.h"

enum { WINDOW_MIN = 256, BLOCK_ROWS = 256 };

typedef struct selector_weighted {
    aq_replay_selector base;
    aq_rng rng;
    aq_sum_tree tree;
    uint64_t window;     /* leaves; 0: none yet */
    uint64_t first, end; /* all items are in this range, which the window covers */
} selector_weighted;

static uint64_t leaf_of(const selector_weighted *weighted, uint64_t item)
{
    return item & (weighted->window - 1);
}

static int weighted_reserve(aq_replay_selector *selector, uint64_t first, uint64_t end)
{
    selector_weighted *weighted = (selector_weighted *)selector;
    if (end - first > weighted->window) {
        uint64_t window = aq_item_window(end - first, WINDOW_MIN);
        aq_sum_tree tree;
        if (aq_sum_tree_init(&tree, window) != 0) {
            return AQ_E_NOMEM;
        }
        for (uint64_t item = first; item < weighted->end; item++) {
            tree.levels[0][item & (window - 1)] = weighted->tree.levels[0][leaf_of(weighted, item)];
        }
        aq_sum_tree_rebuild(&tree);
        aq_sum_tree_fini(&weighted->tree);
        weighted->tree = tree;
        weighted->window = window;
    }
    weighted->first = first;
    return 0;
}

/* The range may wrap around the end of the leaves. */
static void fill(selector_weighted *weighted, uint64_t first, uint64_t count, float mass)
{
    uint64_t leaf = leaf_of(weighted, first);
    uint64_t ahead = weighted->window - leaf < count ? weighted->window - leaf : count;
    aq_sum_tree_fill(&weighted->tree, leaf, ahead, mass);
    if (ahead < count) {
        aq_sum_tree_fill(&weighted->tree, 0, count - ahead, mass);
    }
}

static void weighted_insert(aq_replay_selector *selector, uint64_t first, uint32_t count,
                            float mass)
{
    selector_weighted *weighted = (selector_weighted *)selector;
    AQ_ASSERT(first + count - weighted->first <= weighted->window);
    fill(weighted, first, count, mass);
    weighted->end = first + count;
}

static void weighted_remove(aq_replay_selector *selector, uint64_t first, uint32_t count)
{
    fill((selector_weighted *)selector, first, count, 0.0f);
}

static void weighted_weigh(aq_replay_selector *selector, const uint64_t *items, const float *masses,
                           uint32_t count)
{
    selector_weighted *weighted = (selector_weighted *)selector;
    uint32_t leaves[BLOCK_ROWS];
    for (uint32_t start = 0; start < count; start += BLOCK_ROWS) {
        uint32_t rows = count - start < BLOCK_ROWS ? count - start : BLOCK_ROWS;
        for (uint32_t row = 0; row < rows; row++) {
            leaves[row] = (uint32_t)leaf_of(weighted, items[start + row]);
        }
        aq_sum_tree_set(&weighted->tree, leaves, masses + start, rows);
    }
}

static void weighted_draw(aq_replay_selector *selector, uint32_t rows, uint64_t *items,
                          float *probabilities)
{
    selector_weighted *weighted = (selector_weighted *)selector;
    uint32_t leaves[BLOCK_ROWS];
    double scale = 1.0 / weighted->tree.total;
    for (uint32_t start = 0; start < rows; start += BLOCK_ROWS) {
        uint32_t count = rows - start < BLOCK_ROWS ? rows - start : BLOCK_ROWS;
        aq_sum_tree_draw(&weighted->tree, &weighted->rng, count, leaves);
        for (uint32_t row = 0; row < count; row++) {
            uint64_t past = leaf_of(weighted, leaves[row] - weighted->first);
            items[start + row] = weighted->first + past;
            double probability = (double)weighted->tree.levels[0][leaves[row]] * scale;
            probabilities[start + row] = fmaxf((float)probability, FLT_MIN); /* it was drawn */
        }
    }
}

static float weighted_mass(const aq_replay_selector *selector, uint64_t item)
{
    const selector_weighted *weighted = (const selector_weighted *)selector;
    return weighted->tree.levels[0][leaf_of(weighted, item)];
}

static double weighted_total(const aq_replay_selector *selector)
{
    return ((const selector_weighted *)selector)->tree.total;
}

static size_t weighted_bytes(const aq_replay_selector *selector)
{
    return sizeof(selector_weighted) + ((const selector_weighted *)selector)->tree.bytes;
}

static void weighted_destroy(aq_replay_selector *selector)
{
    aq_sum_tree_fini(&((selector_weighted *)selector)->tree);
    aq_free(selector);
}

static const aq_replay_selector_class weighted_class = {
    .reserve = weighted_reserve,
    .insert = weighted_insert,
    .remove = weighted_remove,
    .weigh = weighted_weigh,
    .draw = weighted_draw,
    .mass = weighted_mass,
    .total = weighted_total,
    .bytes = weighted_bytes,
    .destroy = weighted_destroy,
};

int aq_selector_weighted_create(uint64_t seed, aq_replay_selector **ret_selector)
{
    selector_weighted *weighted = aq_alloc(1, sizeof(*weighted));
    if (weighted == NULL) {
        return AQ_E_NOMEM;
    }
    weighted->base.class = &weighted_class;
    aq_rng_init(&weighted->rng, seed, AQ_SELECTOR_STREAM);
    *ret_selector = &weighted->base;
    return 0;
}
