/*
 * Export runtime: the C text of what an exported policy computes with, in pieces, of which a file
 * gets those that its layers need. The operations and their order are those of the kernels
 * (qkernels.h) and of the float passes (float_passes_rung.c), so the bits are the same.
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
    AQ_PIECE_QUANTIZE,     /* what the next two have in common */
    AQ_PIECE_LEVELS,       /* quantizing by the range of the values */
    AQ_PIECE_LEVELS_FIXED, /* quantizing by a scale that is known beforehand */
    AQ_PIECE_MATRIX,       /* what the next two have in common */
    AQ_PIECE_LINEAR,
    AQ_PIECE_CONV2D,
    AQ_PIECE_EXP, /* what the next three and the categorical head have in common */
    AQ_PIECE_EXPM1,
    AQ_PIECE_TANH,
    AQ_PIECE_ELU,
    AQ_PIECE_RELU,  /* after a norm; a matrix has its own */
    AQ_PIECE_LANES, /* sums over a row */
    AQ_PIECE_NORM,
    AQ_PIECE_SCALE, /* actions */
    AQ_PIECE_DUELING,
    AQ_PIECE_CATEGORICAL,
    AQ_PIECE_COUNT,
};

/* With what these need in turn. Sets have the bit 1 << piece for each. */
uint32_t aq_export_pieces_close(uint32_t pieces);

/* The text; each '@' in it stands for the file's prefix. Pieces in their order can be compiled. */
const char *aq_export_piece_text(enum aq_export_piece piece);

#endif
