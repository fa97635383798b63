/*
 * Products in bf16 with AVX512-BF16: rounding, and a tile of up to 12 rows and 32 columns of C,
 * whose sums stay in 24 registers over all of k; each step along k is two loads of a panel and, for
 * each row, one pair of A given to all lanes.
 */
#include <immintrin.h>
#include <string.h>

#include "common/base/assert.h"
#include "learner/nn/products_bf16.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    LANES = 16,
    ALL_LANES = 0xFFFF,
    PAIR = 2,
    AHEAD = 2048 /* floats: what is read is asked for so long before */
};

_Static_assert(AQ_PANEL == 2 * LANES, "a panel is two vectors of pairs");

/* Those of LANES that are among the first `count` of `first` on. */
INLINE __mmask16 lanes_from(size_t first, size_t count)
{
    const size_t left = count > first ? count - first : 0;
    return left >= LANES ? (__mmask16)ALL_LANES : (__mmask16)((1u << left) - 1u);
}

/* The low half of lane i is x's, the high half of it y's; both rounded. */
INLINE __m512i pair_rows(__m512 x, __m512 y)
{
    const __m512i low = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i order = _mm512_or_si512(
        low, _mm512_slli_epi32(_mm512_add_epi32(low, _mm512_set1_epi32(LANES)), 16));
    return _mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(y, x));
}

/* Operands come from the third cache, and no processor guesses early enough what is read next. */
INLINE void will_read(const float *x)
{
    _mm_prefetch((const char *)x, _MM_HINT_T0);
}

/* Sixteen pairs of one row; `ahead` floats on, others will be made. */
INLINE __m512i pair_columns(const float *x, __mmask16 lanes, __mmask16 more_lanes, size_t ahead)
{
    will_read(x + ahead);
    will_read(x + ahead + LANES);
    const __m512 low = _mm512_maskz_loadu_ps(lanes, x);
    const __m512 high = _mm512_maskz_loadu_ps(more_lanes, x + LANES);
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

/* ---- operands ------------------------------------------------------------------------------- */

/* k along the rows, as they lie. */
static void round_rows(const float *x, size_t columns, size_t first, size_t end, size_t stride,
                       uint32_t *out)
{
    const size_t whole = columns - columns % (PAIR * LANES);
    for (size_t r = first; r < end; r++) {
        const float *row = x + r * columns;
        uint32_t *to = out + r * stride;
        for (size_t c = 0; c < whole; c += PAIR * LANES) {
            _mm512_storeu_si512(to + c / PAIR, pair_columns(row + c, ALL_LANES, ALL_LANES, AHEAD));
        }
        if (whole < columns) {
            _mm512_storeu_si512(to + whole / PAIR,
                                pair_columns(row + whole, lanes_from(whole, columns),
                                             lanes_from(whole + LANES, columns), AHEAD));
        }
    }
}

/* Sixteen columns of two rows, `stride` apart, of which `rows` are there; others count as zeros. */
INLINE __m512i pair_down(const float *x, size_t stride, size_t rows, __mmask16 lanes, size_t ahead)
{
    will_read(x + ahead);
    will_read(x + ahead + stride);
    const __m512 low = _mm512_maskz_loadu_ps(rows > 0 ? lanes : 0, x);
    const __m512 high = _mm512_maskz_loadu_ps(rows > 1 ? lanes : 0, x + stride);
    return pair_rows(low, high);
}

INLINE size_t rows_from(size_t first, size_t rows)
{
    return rows > first ? rows - first : 0;
}

/* k down the columns: each pair is of two rows. `block` columns lie side by side, `next` pairs
 * from block to block. */
INLINE void round_columns(const float *x, size_t x_stride, size_t rows, size_t columns,
                          size_t first, size_t end, size_t stride, size_t block, size_t next,
                          uint32_t *out)
{
    const size_t ahead = (AHEAD / (PAIR * x_stride) + 1) * PAIR * x_stride;
    const size_t whole = columns - columns % LANES;
    for (size_t p = first; p < end; p++) {
        const float *top = x + PAIR * p * x_stride;
        const size_t there = rows_from(PAIR * p, rows);
        uint32_t *to = out + p * stride;
        for (size_t c = 0; c < whole; c += LANES) {
            _mm512_storeu_si512(to + c / block * next + c % block,
                                pair_down(top + c, x_stride, there, ALL_LANES, ahead));
        }
        if (whole < columns) {
            _mm512_storeu_si512(
                to + whole / block * next + whole % block,
                pair_down(top + whole, x_stride, there, lanes_from(whole, columns), ahead));
        }
    }
}

/* Sixteen vectors of sixteen pairs become their columns. */
INLINE void transpose(__m512i v[LANES])
{
    __m512i t[LANES];
    for (int i = 0; i < LANES; i += 2) {
        t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
    }
    for (int i = 0; i < LANES; i += 4) {
        for (int j = 0; j < 2; j++) {
            v[i + 2 * j] = _mm512_unpacklo_epi64(t[i + j], t[i + j + 2]);
            v[i + 2 * j + 1] = _mm512_unpackhi_epi64(t[i + j], t[i + j + 2]);
        }
    }
    for (int i = 0; i < LANES; i += 8) {
        for (int j = 0; j < 4; j++) {
            t[i + j] = _mm512_shuffle_i32x4(v[i + j], v[i + j + 4], 0x88);
            t[i + j + 4] = _mm512_shuffle_i32x4(v[i + j], v[i + j + 4], 0xDD);
        }
    }
    for (int j = 0; j < 8; j++) {
        v[j] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0x88);
        v[j + 8] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0xDD);
    }
}

/* op(B) is (k, n) of rows of B that are (n, k): groups of sixteen of them, `first` to `end`. */
static void round_transposed(const aq_bf16_product *product, size_t first, size_t end)
{
    const size_t k = product->is->k, n = product->is->n, stride = product->is->b_stride;
    for (size_t row = first * LANES; row < end * LANES; row += LANES) {
        for (size_t c = 0; c < k; c += PAIR * LANES) {
            const __mmask16 lanes = lanes_from(c, k), more_lanes = lanes_from(c + LANES, k);
            const float *x = product->is->b + row * stride + c;
            __m512i v[LANES];
            uint32_t *out =
                product->b + row / AQ_PANEL * product->panel + c / PAIR * AQ_PANEL + row % AQ_PANEL;
            const size_t left = product->pairs - c / PAIR;
            for (size_t i = 0; i < LANES; i++) {
                v[i] = row + i < n ? pair_columns(x + i * stride, lanes, more_lanes, LANES * stride)
                                   : _mm512_setzero_si512();
            }
            transpose(v);
            for (size_t i = 0; i < LANES && i < left; i++) {
                _mm512_storeu_si512(out + i * AQ_PANEL, v[i]);
            }
        }
    }
}

/* op(A) is (m, k) of rows of A that are (k, m), and is to lie in rows: groups of sixteen of them,
 * `first` to `end`. */
static void round_turned(const aq_bf16_product *product, size_t first, size_t end)
{
    const size_t k = product->is->k, m = product->is->m;
    for (size_t row = first * LANES; row < end * LANES; row += LANES) {
        const __mmask16 lanes = lanes_from(row, m);
        for (size_t p = 0; p < product->pairs; p += LANES) {
            const float *x = product->is->a + PAIR * p * m + row;
            __m512i v[LANES];
            for (size_t i = 0; i < LANES; i++) {
                v[i] = pair_down(x + PAIR * i * m, m, rows_from(PAIR * (p + i), k), lanes,
                                 PAIR * LANES * m);
            }
            transpose(v);
            for (size_t i = 0; i < LANES; i++) {
                _mm512_storeu_si512(product->a + (row + i) * product->a_row + p, v[i]);
            }
        }
    }
}

void aq_round_avx512bf16(const aq_bf16_product *product, size_t part, size_t parts)
{
    const aq_product *is = product->is;
    const size_t m = is->m, n = is->n, k = is->k;
    const size_t first_pair = product->pairs * part / parts;
    const size_t end_pair = product->pairs * (part + 1) / parts;
    const size_t a_groups = (m + LANES - 1) / LANES, b_groups = (n + LANES - 1) / LANES;
    if (is->transposes_b) {
        round_transposed(product, b_groups * part / parts, b_groups * (part + 1) / parts);
    } else {
        round_columns(is->b, is->b_stride, k, n, first_pair, end_pair, AQ_PANEL, AQ_PANEL,
                      product->panel, product->b);
    }
    if (!is->transposes_a) {
        round_rows(is->a, k, m * part / parts, m * (part + 1) / parts, product->a_row, product->a);
    } else if (product->a_pair == 1) {
        round_turned(product, a_groups * part / parts, a_groups * (part + 1) / parts);
    } else {
        round_columns(is->a, m, k, m, first_pair, end_pair, product->a_pair, SIZE_MAX, 0,
                      product->a);
    }
}

/* ---- tiles ---------------------------------------------------------------------------------- */

typedef struct tile {
    const uint32_t *a, *b;
    size_t a_row, a_pair, pairs;
    float *c;
    size_t c_row;
    __mmask16 lanes[2]; /* columns that there are */
} tile;

INLINE void multiply_tile(const tile *at, const size_t rows)
{
    __m512 sums[AQ_ROWS_MAX][2];
    const size_t a_row = at->a_row;
    const uint32_t *a = at->a, *b = at->b;
    for (size_t r = 0; r < rows; r++) {
        sums[r][0] = _mm512_setzero_ps();
        sums[r][1] = _mm512_setzero_ps();
        will_read(at->c + r * at->c_row);
        will_read(at->c + r * at->c_row + LANES);
    }
    for (size_t p = 0; p < at->pairs; p++, a += at->a_pair, b += AQ_PANEL) {
        const __m512bh left = (__m512bh)_mm512_loadu_si512(b);
        const __m512bh right = (__m512bh)_mm512_loadu_si512(b + LANES);
        for (size_t r = 0; r < rows; r++) {
            const __m512bh pair = (__m512bh)_mm512_set1_epi32((int)a[r * a_row]);
            sums[r][0] = _mm512_dpbf16_ps(sums[r][0], pair, left);
            sums[r][1] = _mm512_dpbf16_ps(sums[r][1], pair, right);
        }
    }
    for (size_t r = 0; r < rows; r++) {
        _mm512_mask_storeu_ps(at->c + r * at->c_row, at->lanes[0], sums[r][0]);
        _mm512_mask_storeu_ps(at->c + r * at->c_row + LANES, at->lanes[1], sums[r][1]);
    }
}

/* The compiler unrolls each number of rows for itself. */
static void multiply_rows(const tile *at, size_t rows)
{
    switch (rows) {
    case AQ_ROWS_MIN:
        multiply_tile(at, AQ_ROWS_MIN);
        return;
    case 9:
        multiply_tile(at, 9);
        return;
    case 10:
        multiply_tile(at, 10);
        return;
    case 11:
        multiply_tile(at, 11);
        return;
    default:
        AQ_ASSERT(rows == AQ_ROWS_MAX);
        multiply_tile(at, AQ_ROWS_MAX);
    }
}

void aq_multiply_avx512bf16(const aq_bf16_product *product, size_t first, size_t rows,
                            size_t first_column, size_t end_column)
{
    const aq_product *is = product->is;
    const size_t n = is->n;
    for (size_t column = first_column; column < end_column; column += AQ_PANEL) {
        multiply_rows(&(tile){.a = product->a + first * product->a_row,
                              .b = product->b + column / AQ_PANEL * product->panel,
                              .a_row = product->a_row,
                              .a_pair = product->a_pair,
                              .pairs = product->pairs,
                              .c = is->c + first * n + column,
                              .c_row = n,
                              .lanes = {lanes_from(column, n), lanes_from(column + LANES, n)}},
                      rows);
    }
}
