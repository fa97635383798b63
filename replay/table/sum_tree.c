/*
 * Draws and updates go level by level over a block of rows: the rows of a block do not depend on
 * each other, so that while one waits for its cache line, the processor works on the others.
 */
#include "replay/table/sum_tree.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"

enum { FAN = AQ_SUM_TREE_FAN, BLOCK_ROWS = 64 };

int aq_sum_tree_init(aq_sum_tree *tree, uint64_t leaf_count)
{
    AQ_ASSERT(leaf_count >= FAN);
    AQ_ASSERT((leaf_count & (leaf_count - 1)) == 0);
    size_t offsets[AQ_SUM_TREE_LEVELS_MAX];
    memset(tree, 0, sizeof(*tree));
    uint64_t count = leaf_count;
    for (;;) {
        AQ_ASSERT(tree->level_count < AQ_SUM_TREE_LEVELS_MAX);
        uint64_t padded = (count + FAN - 1) / FAN * FAN;
        offsets[tree->level_count] = aq_arrays_add(&tree->bytes, padded, sizeof(float));
        tree->counts[tree->level_count++] = count;
        if (count <= FAN) {
            break;
        }
        count = (count + FAN - 1) / FAN;
    }
    uint8_t *block = aq_alloc_unset(1, tree->bytes); /* in large pages: it is read all over */
    if (block == NULL) {
        memset(tree, 0, sizeof(*tree));
        return AQ_E_NOMEM;
    }
    memset(block, 0, tree->bytes);
    tree->block = block;
    for (uint32_t level = 0; level < tree->level_count; level++) {
        tree->levels[level] = (float *)(void *)(block + offsets[level]);
    }
    return 0;
}

void aq_sum_tree_fini(aq_sum_tree *tree)
{
    aq_free(tree->block);
    memset(tree, 0, sizeof(*tree));
}

/* ---- sums ---------------------------------------------------------------------------------- */

static inline float sum_of_four(const float *of)
{
    return (of[0] + of[1]) + (of[2] + of[3]);
}

static inline float group_sum(const float *group)
{
    return (sum_of_four(group) + sum_of_four(group + 4)) +
           (sum_of_four(group + 8) + sum_of_four(group + 12));
}

static inline void sum_node(aq_sum_tree *tree, uint32_t level, uint64_t node)
{
    tree->levels[level][node] = group_sum(tree->levels[level - 1] + node * FAN);
}

static void sum_total(aq_sum_tree *tree)
{
    const float *top = tree->levels[tree->level_count - 1];
    double total = 0.0;
    for (int i = 0; i < FAN; i++) {
        total += (double)top[i];
    }
    tree->total = total;
}

static void sum_range(aq_sum_tree *tree, uint64_t first, uint64_t end)
{
    for (uint32_t level = 1; level < tree->level_count; level++) {
        first /= FAN;
        end = (end + FAN - 1) / FAN;
        for (uint64_t node = first; node < end; node++) {
            sum_node(tree, level, node);
        }
    }
    sum_total(tree);
}

void aq_sum_tree_fill(aq_sum_tree *tree, uint64_t first, uint64_t count, float mass)
{
    AQ_ASSERT(first + count <= tree->counts[0]);
    for (uint64_t leaf = first; leaf < first + count; leaf++) {
        tree->levels[0][leaf] = mass;
    }
    sum_range(tree, first, first + count);
}

void aq_sum_tree_rebuild(aq_sum_tree *tree)
{
    sum_range(tree, 0, tree->counts[0]);
}

static void set_block(aq_sum_tree *tree, const uint32_t *leaves, const float *masses,
                      uint32_t count)
{
    uint32_t nodes[BLOCK_ROWS];
    for (uint32_t i = 0; i < count; i++) {
        AQ_ASSERT(leaves[i] < tree->counts[0]);
        tree->levels[0][leaves[i]] = masses[i];
        nodes[i] = leaves[i];
    }
    for (uint32_t level = 1; level < tree->level_count; level++) {
        if (tree->counts[level] <= count) { /* all of them, each once */
            for (uint64_t node = 0; node < tree->counts[level]; node++) {
                sum_node(tree, level, node);
            }
            continue; /* the levels above are shorter still */
        }
        for (uint32_t i = 0; i < count; i++) {
            nodes[i] /= FAN;
            sum_node(tree, level, nodes[i]);
        }
    }
}

void aq_sum_tree_set(aq_sum_tree *tree, const uint32_t *leaves, const float *masses, uint32_t count)
{
    for (uint32_t start = 0; start < count; start += BLOCK_ROWS) {
        uint32_t left = count - start;
        set_block(tree, leaves + start, masses + start, left < BLOCK_ROWS ? left : BLOCK_ROWS);
    }
    sum_total(tree);
}

/* ---- draws --------------------------------------------------------------------------------- */

/* Rounding led past the last one that has any mass. */
static __attribute__((noinline, cold)) uint32_t last_of(const float *group)
{
    uint32_t child = FAN;
    while (child > 0 && !(group[child - 1] > 0.0f)) {
        child--;
    }
    AQ_ASSERT(child > 0);
    return child - 1;
}

/* The child in whose part of the group's sum the share, in [0, 1), falls: first which four of them,
 * then which one of these. Nothing is branched on, as every other guess would be wrong; that is why
 * the sum before the four is looked up and not chosen. */
static inline uint32_t choose(const float *group, float share)
{
    float to[4] = {0.0f};
    to[1] = sum_of_four(group);
    to[2] = to[1] + sum_of_four(group + 4);
    to[3] = to[2] + sum_of_four(group + 8);
    float at = share * (to[3] + sum_of_four(group + 12));
    uint32_t four = (uint32_t)(at >= to[1]) + (uint32_t)(at >= to[2]) + (uint32_t)(at >= to[3]);
    at -= to[four];
    const float *of = group + (size_t)4 * four;
    float sum_2 = of[0] + of[1];
    uint32_t one =
        (uint32_t)(at >= of[0]) + (uint32_t)(at >= sum_2) + (uint32_t)(at >= sum_2 + of[2]);
    uint32_t child = 4 * four + one;
    return group[child] > 0.0f ? child : last_of(group);
}

static void draw_block(const aq_sum_tree *tree, aq_rng *rng, uint32_t count, uint32_t *leaves)
{
    uint64_t bits[BLOCK_ROWS];
    memset(leaves, 0, count * sizeof(*leaves));
    for (uint32_t level = tree->level_count; level-- > 0;) {
        const float *nodes = tree->levels[level];
        const float *below = level > 0 ? tree->levels[level - 1] : nodes;
        bool fresh =
            (tree->level_count - 1 - level) % 2 == 0; /* one random number for two levels */
        for (uint32_t i = 0; i < count; i++) {
            bits[i] = fresh ? aq_rng_next(rng) : bits[i] << 32;
            float share = (float)(uint32_t)(bits[i] >> 40) * 0x1p-24f;
            uint32_t node = leaves[i] * FAN;
            node += choose(nodes + node, share);
            __builtin_prefetch(below + (size_t)node * FAN);
            leaves[i] = node;
        }
    }
}

void aq_sum_tree_draw(const aq_sum_tree *tree, aq_rng *rng, uint32_t count, uint32_t *leaves)
{
    AQ_ASSERT(tree->total > 0.0);
    for (uint32_t start = 0; start < count; start += BLOCK_ROWS) {
        uint32_t left = count - start;
        draw_block(tree, rng, left < BLOCK_ROWS ? left : BLOCK_ROWS, leaves + start);
    }
}
