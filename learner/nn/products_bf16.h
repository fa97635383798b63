/*
 * Products in bf16: how rounded operands lie, and the kernels. Private to products.c and to the
 * file of each instruction set, which alone is compiled with its flags.
 *
 * The unit is a pair: two values that are neighbours along k, in 32 bits, the first in the low
 * ones. Pair p of row r of op(A) is at r * a_row + p * a_pair, one of which is 1, as A lay.
 * op(B) lies in panels of AQ_PANEL columns; pair p of column c of one is at p * AQ_PANEL + c. What
 * is beyond k is zero; what is beyond m and n is anything.
 */
#ifndef AQ_LEARNER_NN_PRODUCTS_BF16_H
#define AQ_LEARNER_NN_PRODUCTS_BF16_H

#include "learner/nn/products.h"

enum { AQ_PANEL = 32, AQ_TILE_ROWS = 12, AQ_TILE_ROWS_MIN = 8 };

typedef struct aq_bf16_product {
    const aq_product *is;
    size_t pairs; /* along k */
    size_t a_row, a_pair;
    size_t panel; /* pairs from panel to panel */
    uint32_t *a, *b;
} aq_bf16_product;

/* Part `part` of `parts` of rounding the operands; all are done before the product begins. */
void aq_round_avx512bf16(const aq_bf16_product *product, size_t part, size_t parts);

/* Part `part` of the product, one of so many where op(A)'s rows are shared out into `shares`. */
size_t aq_multiply_parts_avx512bf16(const aq_bf16_product *product, size_t shares);
void aq_multiply_avx512bf16(const aq_bf16_product *product, size_t part, size_t shares);

#endif
