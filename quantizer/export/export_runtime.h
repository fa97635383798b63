/*
 * Export runtime: the C text of what layers of several kinds compute with, in pieces, of which a
 * file gets those that its layers need; what one kind alone computes is its row's (export_layer.h).
 * The operations and their order are those of the kernels (qkernels.h) and of the float passes
 * (float_passes_rung.c), so the bits are the same.
 *
 * Constant; any thread.
 */
#ifndef AQ_QUANTIZER_EXPORT_EXPORT_RUNTIME_H
#define AQ_QUANTIZER_EXPORT_EXPORT_RUNTIME_H

#include <stdint.h>

enum aq_export_piece {
    AQ_PIECE_COMPILER,     /* headers, and what the compiler is told; first in every file */
    AQ_PIECE_BITS,         /* the bits of a float */
    AQ_PIECE_FLOAT,        /* the float of bits */
    AQ_PIECE_DOUBLE,       /* that a double has 64 bits */
    AQ_PIECE_FUSED,        /* a product and a sum, rounded once */
    AQ_PIECE_FINITE,       /* what is not finite as 0 */
    AQ_PIECE_FINITE_ROW,   /* the same of an observation, for layers that take floats */
    AQ_PIECE_QUANTIZE,     /* what the next two have in common */
    AQ_PIECE_LEVELS,       /* quantizing by the range of the values */
    AQ_PIECE_LEVELS_FIXED, /* quantizing by a scale that is known beforehand */
    AQ_PIECE_MATRIX,       /* weights, and what becomes of a product */
    AQ_PIECE_PRODUCT_INT8, /* of a row of weights and levels, a piece for each format */
    AQ_PIECE_PRODUCT_TENSOR,
    AQ_PIECE_PRODUCT_INT4,
    AQ_PIECE_PRODUCT_INT2,
    AQ_PIECE_PRODUCT_SPARSE,
    AQ_PIECE_EXP, /* what the next three and the categorical head have in common */
    AQ_PIECE_EXPM1,
    AQ_PIECE_TANH,
    AQ_PIECE_ELU,
    AQ_PIECE_RELU,  /* after a norm; a matrix has its own */
    AQ_PIECE_LANES, /* sums over a row */
    AQ_PIECE_COUNT,
};

/* In a set of pieces. */
#define AQ_PIECE(name) (UINT32_C(1) << AQ_PIECE_##name)

/* With what these need in turn. */
uint32_t aq_export_pieces_close(uint32_t pieces);

/* The text; each '@' in it stands for the file's prefix. Pieces in their order can be compiled. */
const char *aq_export_piece_text(enum aq_export_piece piece);

#endif
