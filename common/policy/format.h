/*
 * Weight formats: how the weights of a layer are stored in a snapshot. A format is one row of
 * AQ_FORMATS, and what format.c, the quantizer and the kernels say of it; nothing else lists them.
 *
 * A layer's weights are a matrix of `rows` outputs and `columns` inputs (aq_layer_matrix):
 *
 *   fp32, fp16, bf16  float[rows][columns]
 *   int8              int8[rows][columns] in [-127, 127]; scale and sum a row
 *   int8-tensor       int8[rows][columns]; one scale, sum a row, and a zero point of the weights:
 *                     w ~ scale * (q - zero). As in the paper
 *   int4              two a byte, the lower half first, each in [-7, 7]; rows start on whole bytes;
 *                     scale a group of AQ_FORMAT_GROUP columns
 *   int2              four a byte, the lowest first, each in [-1, 1]; otherwise as int4
 *   int8-sparse       blocks of AQ_BLOCK_ROWS x AQ_BLOCK_COLUMNS, of which only those are stored
 *                     whose bit is set in the mask; scale and sum a row
 *
 * Constant; any thread.
 */
#ifndef AQ_COMMON_POLICY_FORMAT_H
#define AQ_COMMON_POLICY_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

/* The numbers are those of the wire. */
#define AQ_FORMATS(X)                                                                              \
    X(AQ_FORMAT_INT8_CHANNEL, 2, "int8")                                                           \
    X(AQ_FORMAT_F32, 1, "fp32")                                                                    \
    X(AQ_FORMAT_F16, 3, "fp16")                                                                    \
    X(AQ_FORMAT_BF16, 4, "bf16")                                                                   \
    X(AQ_FORMAT_INT8_TENSOR, 5, "int8-tensor")                                                     \
    X(AQ_FORMAT_INT4, 6, "int4")                                                                   \
    X(AQ_FORMAT_INT2, 7, "int2")                                                                   \
    X(AQ_FORMAT_INT8_SPARSE, 8, "int8-sparse")

#define AQ_FORMAT_CONSTANT(constant, number, name) constant = (number),
enum aq_format { AQ_FORMATS(AQ_FORMAT_CONSTANT) AQ_FORMAT_COUNT = 8 };
#undef AQ_FORMAT_CONSTANT

/* Of a policy whose layers differ in theirs: no format that a layer could have. */
enum { AQ_FORMAT_MIXED = 0 };

enum { AQ_FORMAT_GROUP = 64, AQ_BLOCK_ROWS = 16, AQ_BLOCK_COLUMNS = 4 };
enum { AQ_BLOCK_BYTES = AQ_BLOCK_ROWS * AQ_BLOCK_COLUMNS };

typedef struct aq_tensor_sizes {
    size_t weights_bytes;
    size_t scales;     /* floats */
    size_t sums;       /* int32 */
    size_t mask_bytes; /* int8-sparse: a bit a block, row of blocks after row of blocks */
} aq_tensor_sizes;

bool aq_format_known(uint32_t format);
bool aq_format_is_integer(uint32_t format);

/* Whether every weight can be stored at one of 2^bits - 1 levels, symmetric around 0: int8 and
 * int8-tensor for 2 to 8 bits, int4 for 4, int2 for 2. */
bool aq_format_holds_bits(uint32_t format, uint32_t bits);

/* Sizes of one layer's tensors; `blocks` is read for int8-sparse alone. The format is known. */
aq_tensor_sizes aq_format_sizes(uint32_t format, uint32_t rows, uint32_t columns, size_t blocks);

/* Groups of columns in a row of int4 or int2; blocks in all of an int8-sparse layer, and in one row
 * of blocks; bytes of the mask of one row of blocks. */
uint32_t aq_format_groups(uint32_t columns);
uint32_t aq_block_row_count(uint32_t rows);
uint32_t aq_block_column_count(uint32_t columns);
size_t aq_block_mask_row_bytes(uint32_t columns);

/* Level number `index` of a row of int4 or int2 (`bits` 4 or 2), in two's complement. */
static inline int32_t aq_packed_level(const uint8_t *row, uint32_t index, uint32_t bits)
{
    const uint32_t bit = index * bits;
    const int32_t level = row[bit / 8] >> (bit % 8) & ((1 << bits) - 1);
    return level >= 1 << (bits - 1) ? level - (1 << bits) : level;
}

/* Whether the block at `column` of a row of blocks is stored, by that row's part of the mask. */
static inline bool aq_block_is_stored(const uint8_t *mask_row, uint32_t column)
{
    return (mask_row[column / 8] >> (column % 8) & 1) != 0;
}

/* "fp32", "int8", ...; "unknown". And back; AQ_E_INVALID names all formats. */
const char *aq_format_name(uint32_t format);
int aq_format_parse(const char *text, uint32_t *ret_format, aq_error *error) AQ_MUST_USE;

#endif
