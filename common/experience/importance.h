/*
 * Importance weights: rows that are drawn more often than others count less, so that what is
 * learned is as if they had been drawn evenly.
 *
 *   w = (N P)^-exponent, divided by the greatest such w in sight
 *   P = p * mass / (mass of all shards)
 *
 * N is the number of items over all shards, p the probability that one draw of the row's shard
 * takes its item, and mass / (mass of all) the share of draws that this shard gets. N and the sum
 * of the masses are the same for every row, and fall out of the quotient: with a row's own mass
 * q = p * mass, and the least q in sight,
 *
 *   w = (least q / q)^exponent
 *
 * Weights lie in (0, 1]. Where every row has the same q, they are exactly 1. "In sight" is the
 * batch, and, as a batch comes from one shard, the latest batch of each other shard: else the rows
 * of a shard of great masses would count as much as those of a shard of small ones.
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_EXPERIENCE_IMPORTANCE_H
#define AQ_COMMON_EXPERIENCE_IMPORTANCE_H

#include <stdint.h>

/* The least q of `rows` rows, 1 at least, whose probabilities are > 0, of a shard of `mass` > 0. */
double aq_importance_least(const float *probability, uint32_t rows, double mass);

/* The weights of such rows; `least` is no greater than any q of theirs. `ret_weight` may be
 * `probability`. `exponent` 0 gives 1 for every row, 1 corrects in full. */
void aq_importance_weigh(const float *probability, uint32_t rows, double mass, double least,
                         double exponent, float *ret_weight);

#endif
