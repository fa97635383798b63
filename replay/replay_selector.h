/*
 * Uniform selector: which live items a sample takes. Each draw is independent and every live item
 * is as likely as any other, so an item may come twice in a batch.
 *
 * It sees numbers only, not the table: another kind of selector (prioritized, first in first out)
 * is another file that fills the same two columns.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_REPLAY_SELECTOR_H
#define AQ_REPLAY_REPLAY_SELECTOR_H

#include <stdint.h>

#include "common/base/rng.h"

typedef struct aq_replay_selector {
    aq_rng rng;
} aq_replay_selector;

void aq_replay_selector_init(aq_replay_selector *selector, uint64_t seed);

/* Fills items[rows] with numbers in [first_item, end_item), which is not empty, and weights[rows]
 * with their importance weights, which are 1. */
void aq_replay_selector_draw(aq_replay_selector *selector, uint64_t first_item, uint64_t end_item,
                             uint32_t rows, uint64_t *items, float *weights);

#endif
