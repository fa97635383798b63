/*
 * Products in bf16 with AMX: two tiles of rows by two of columns, each 16 by 16 sums, which stay in
 * tile registers over all of k. Each step along k is 16 pairs: two tiles of A, two of a panel of B,
 * four products of tiles.
 */
#include <immintrin.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/sys/tiles.h"
#include "learner/nn/products_bf16.h"

#define INLINE static inline __attribute__((always_inline))

enum { COLUMNS = AQ_PANEL / 2 };

/* Registers 0 to 3 are C's tiles, row by row; 4 and 5 are A's, 6 and 7 B's. Their numbers are part
 * of the instructions. */
INLINE void multiply_tiles(const uint32_t *a, size_t a_row, const uint32_t *b, size_t pairs,
                           bool is_tall)
{
    const size_t a_stride = a_row * sizeof(*a), b_stride = AQ_PANEL * sizeof(*b);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (size_t p = 0; p < pairs; p += AQ_AMX_PAIRS, a += AQ_AMX_PAIRS) {
        const uint32_t *rows = b + p * AQ_PANEL;
        _tile_loadd(4, a, a_stride);
        _tile_loadd(6, rows, b_stride);
        _tile_loadd(7, rows + COLUMNS, b_stride);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        if (is_tall) {
            _tile_loadd(5, a + AQ_AMX_ROWS * a_row, a_stride);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
}

/* C comes from the third cache: it is asked for while its sums are made. */
INLINE void will_write(const float *c, size_t c_row, size_t rows)
{
    for (size_t r = 0; r < rows; r++, c += c_row) {
        __builtin_prefetch(c, 1);
        __builtin_prefetch(c + COLUMNS, 1);
    }
}

/* Where C ends within a tile. */
static void copy_part(const float *part, size_t rows, size_t columns, float *c, size_t c_row)
{
    for (size_t r = 0; r < rows && r < AQ_AMX_ROWS; r++, part += COLUMNS) {
        memcpy(c + r * c_row, part, (columns < COLUMNS ? columns : COLUMNS) * sizeof(*c));
    }
}

#define STORE_TILE(number, row, column)                                                            \
    do {                                                                                           \
        float part[AQ_AMX_ROWS * COLUMNS];                                                         \
        if (rows >= (row) + AQ_AMX_ROWS && columns >= (column) + COLUMNS) {                        \
            _tile_stored(number, c + (row)*c_row + (column), c_row * sizeof(*c));                  \
        } else if (rows > (row) && columns > (column)) {                                           \
            _tile_stored(number, part, AQ_TILE_LINE);                                              \
            copy_part(part, rows - (row), columns - (column), c + (row)*c_row + (column), c_row);  \
        }                                                                                          \
    } while (0)

static void store_tiles(float *c, size_t c_row, size_t rows, size_t columns)
{
    STORE_TILE(0, 0, 0);
    STORE_TILE(1, 0, COLUMNS);
    STORE_TILE(2, AQ_AMX_ROWS, 0);
    STORE_TILE(3, AQ_AMX_ROWS, COLUMNS);
}

void aq_multiply_amx(const aq_bf16_product *product, size_t first, size_t rows, size_t first_column,
                     size_t end_column)
{
    const size_t n = product->is->n, a_row = product->a_row;
    AQ_ASSERT(product->a_pair == 1);
    AQ_ASSERT(rows <= AQ_AMX_ROWS_MAX);
    const aq_tile_shapes shapes = aq_tile_shapes_of(AQ_AMX_ROWS, AQ_AMX_PAIRS, 4, 6);
    aq_tile_shapes_written(&shapes);
    _tile_loadconfig(&shapes);
    for (size_t column = first_column; column < end_column; column += AQ_PANEL) {
        will_write(product->is->c + first * n + column, n, rows);
        multiply_tiles(product->a + first * a_row, a_row,
                       product->b + column / AQ_PANEL * product->panel, product->pairs,
                       rows > AQ_AMX_ROWS);
        store_tiles(product->is->c + first * n + column, n, rows, n - column);
    }
    _tile_release();
}
