/*
 * Products in bf16: how rounded operands lie, and the kernels. Private to products.c and to the
 * file of each instruction set, which alone is compiled with its flags.
 *
 * The unit is a pair: two values that are neighbours along k, in 32 bits, the first in the low
 * ones. Pair p of row r of op(A) is at r * a_row + p * a_pair, one of which is 1. op(B) lies in
 * panels of AQ_PANEL columns; pair p of column c of one is at p * AQ_PANEL + c. What is beyond k is
 * zero; what is beyond m and n is anything.
 */
#ifndef AQ_LEARNER_NN_PRODUCTS_BF16_H
#define AQ_LEARNER_NN_PRODUCTS_BF16_H

#include "common/sys/tiles.h"
#include "learner/nn/products.h"

enum {
    AQ_PANEL = 32,
    AQ_ROWS_MAX = 12, /* of what is multiplied at a time, and the fewest where m has them */
    AQ_ROWS_MIN = 8,
    /* AMX: as many pairs and rows as a tile has, and two tiles of rows at a time. */
    AQ_AMX_PAIRS = AQ_TILE_ROWS,
    AQ_AMX_ROWS = AQ_TILE_ROWS,
    AQ_AMX_ROWS_MAX = 2 * AQ_AMX_ROWS,
};

typedef struct aq_bf16_product {
    const aq_product *is;
    size_t pairs; /* along k; for AMX, those of whole tiles */
    size_t a_row, a_pair;
    size_t panel; /* pairs from panel to panel */
    uint32_t *a, *b;
} aq_bf16_product;

/* Part `part` of `parts` of rounding the operands; all are done before the product begins. */
void aq_round_avx512bf16(const aq_bf16_product *product, size_t part, size_t parts);

/* Some rows of C, AQ_ROWS_MIN to AQ_ROWS_MAX, and whole panels of its columns, without its bias. */
void aq_multiply_avx512bf16(const aq_bf16_product *product, size_t first, size_t rows,
                            size_t first_column, size_t end_column);

/* The same of up to AQ_AMX_ROWS_MAX rows. op(A) lies in rows. */
void aq_multiply_amx(const aq_bf16_product *product, size_t first, size_t rows, size_t first_column,
                     size_t end_column);

#endif
