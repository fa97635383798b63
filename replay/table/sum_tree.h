/*
 * Sum tree: draws a leaf in proportion to its mass, in time logarithmic in their number.
 *
 * Sixteen children a node: one cache line of floats a level, five levels for a million leaves. Sums
 * are made anew from the children whenever one of these changes, never by adding a difference, so
 * that nothing drifts. A draw takes a fresh random number at each level, so that a leaf's
 * probability is right to the precision of a float however many leaves there are.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_TABLE_SUM_TREE_H
#define AQ_REPLAY_TABLE_SUM_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/rng.h"

enum { AQ_SUM_TREE_FAN = 16, AQ_SUM_TREE_LEVELS_MAX = 8 };

typedef struct aq_sum_tree {
    float *levels[AQ_SUM_TREE_LEVELS_MAX]; /* [0]: the leaves */
    uint64_t counts[AQ_SUM_TREE_LEVELS_MAX];
    uint32_t level_count;
    double total;
    void *block;
    size_t bytes;
} aq_sum_tree;

/* All leaves 0. `leaf_count`: a power of two, 16 to 2^32. AQ_E_NOMEM. */
int aq_sum_tree_init(aq_sum_tree *tree, uint64_t leaf_count) AQ_MUST_USE;
void aq_sum_tree_fini(aq_sum_tree *tree); /* zeroed is fine */

/* Masses are finite and >= 0, and so is their sum in a float. */
void aq_sum_tree_fill(aq_sum_tree *tree, uint64_t first, uint64_t count, float mass);

/* Of a leaf that comes twice, the last mass counts. */
void aq_sum_tree_set(aq_sum_tree *tree, const uint32_t *leaves, const float *masses,
                     uint32_t count);

/* Makes all sums anew after leaves were written directly (levels[0]). */
void aq_sum_tree_rebuild(aq_sum_tree *tree);

/* `count` independent draws; the total is not 0. Leaves of mass 0 are never drawn. */
void aq_sum_tree_draw(const aq_sum_tree *tree, aq_rng *rng, uint32_t count, uint32_t *leaves);

#endif
