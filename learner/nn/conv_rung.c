/*
 * One rung of the convolution kernels; the build says what the table is called (AQ_CONV_TABLE), the
 * lanes of a vector, the most rows of a tile, and what the processor must have.
 *
 * A tile is up to AQ_CONV_ROWS rows by two vectors of sums, which stay in registers; a step is one
 * word of each row given to all lanes, and two vectors of the matrix beside it.
 */
#include <string.h>

#include "common/base/assert.h"
#include "common/sys/cpu.h"
#include "learner/nn/conv_rungs.h"

#if defined(AQ_CONV_BF16)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

enum { LANES = AQ_CONV_LANES, ROWS = AQ_CONV_ROWS, PANEL = 2 * LANES };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef float lanes_anywhere
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

INLINE lanes load(const void *from)
{
    return *(const lanes_anywhere *)from;
}

INLINE void store(lanes values, float *to)
{
    *(lanes_anywhere *)(void *)to = values;
}

/* sum + word * vector, of floats or of both halves of pairs. */
INLINE lanes multiply_add(lanes sum, const char *word, lanes vector)
{
#if defined(AQ_CONV_BF16)
    int32_t pair;
    memcpy(&pair, word, sizeof(pair));
    return (lanes)_mm512_dpbf16_ps((__m512)sum, (__m512bh)_mm512_set1_epi32(pair),
                                   (__m512bh)vector);
#else
    float value;
    memcpy(&value, word, sizeof(value));
    return sum + value * vector;
#endif
}

/* ---- tiles of a product --------------------------------------------------------------------- */

/* Rows of one panel. */
typedef struct tile {
    const char *a;
    const uint32_t *b;
    float *c;
    uint32_t width; /* of what is stored */
} tile;

INLINE void store_part(lanes values, uint32_t width, float *to)
{
    if (width >= LANES) {
        store(values, to);
        return;
    }
    float all[LANES];
    store(values, all);
    memcpy(to, all, width * sizeof(*to));
}

INLINE void product_tile(const aq_conv_product *product, const tile *at, const uint32_t rows,
                         const uint32_t vectors)
{
    const aq_patches *patches = &product->patches;
    const size_t a_row = patches->column;
    const uint32_t *b = at->b;
    lanes sums[ROWS][2];
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t v = 0; v < vectors; v++) {
            sums[r][v] = (lanes){0};
        }
    }
    for (uint32_t run = 0; run < patches->runs; run++) {
        const char *a = at->a + run * patches->run;
        for (uint32_t w = 0; w < patches->run_words; w++) {
            const lanes left = load(b), right = vectors > 1 ? load(b + LANES) : left;
            for (uint32_t r = 0; r < rows; r++) {
                sums[r][0] = multiply_add(sums[r][0], a + r * a_row, left);
                if (vectors > 1) {
                    sums[r][1] = multiply_add(sums[r][1], a + r * a_row, right);
                }
            }
            a += sizeof(uint32_t);
            b += vectors * LANES;
        }
    }
    for (uint32_t r = 0; r < rows; r++) {
        float *to = at->c + r * product->c_column;
        store_part(sums[r][0], at->width, to);
        if (vectors > 1) {
            store_part(sums[r][1], at->width - LANES, to + LANES);
        }
    }
}

/* The compiler unrolls each number of rows for itself. */
#define EACH_HEIGHT(X) X(1) X(2) X(3) X(4) X(5) X(6)
#define EACH_TALL(X)   X(7) X(8) X(9) X(10) X(11) X(12)

#define PRODUCT_CASE(rows)                                                                         \
    case rows:                                                                                     \
        product_tile(product, at, rows, vectors);                                                  \
        return;

INLINE void product_rows(const aq_conv_product *product, const tile *at, uint32_t rows,
                         const uint32_t vectors)
{
    switch (rows) {
        EACH_HEIGHT(PRODUCT_CASE)
#if AQ_CONV_ROWS == 12
        EACH_TALL(PRODUCT_CASE)
#endif
    default:
        AQ_ASSERT(!"a tile is 1 to ROWS rows");
    }
}

static void product_wide(const aq_conv_product *product, const tile *at, uint32_t rows)
{
    product_rows(product, at, rows, 2);
}

static void product_narrow(const aq_conv_product *product, const tile *at, uint32_t rows)
{
    product_rows(product, at, rows, 1);
}

/* Rows are shared out evenly, so that no tile is much lower than others. */
static void product(const aq_conv_product *product)
{
    const aq_patches *patches = &product->patches;
    const size_t words = (size_t)patches->runs * patches->run_words;
    const uint32_t tiles = (patches->columns + ROWS - 1) / ROWS;
    for (uint32_t column = 0; column < product->width; column += PANEL) {
        const uint32_t width = product->width - column;
        for (uint32_t y = 0; y < patches->rows; y++) {
            for (uint32_t i = 0; i < tiles; i++) {
                const uint32_t first = patches->columns * i / tiles;
                const uint32_t rows = patches->columns * (i + 1) / tiles - first;
                const tile at = {
                    .a = (const char *)patches->first + y * patches->row + first * patches->column,
                    .b = product->panels + column * words,
                    .c = product->c + y * product->c_row + first * product->c_column + column,
                    .width = width < PANEL ? width : PANEL};
                (width > LANES ? product_wide : product_narrow)(product, &at, rows);
            }
        }
    }
}

/* ---- tiles of the gradient of weights ------------------------------------------------------- */

INLINE void weights_tile(const aq_conv_weights *weights, const char *x, const uint32_t *d,
                         float *sums_at, const uint32_t rows, const uint32_t vectors)
{
    const aq_patches *patches = &weights->patches;
    const size_t d_pixel = (weights->width + LANES - 1) / LANES * LANES;
    const size_t step = patches->column, panel = vectors * LANES;
    lanes sums[ROWS][2];
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t v = 0; v < vectors; v++) {
            sums[r][v] = load(sums_at + r * panel + v * LANES);
        }
    }
    for (uint32_t y = 0; y < patches->rows; y++) {
        const char *word = x + y * patches->row;
        for (uint32_t p = 0; p < patches->columns; p++) {
            const lanes left = load(d), right = vectors > 1 ? load(d + LANES) : left;
            for (uint32_t r = 0; r < rows; r++) {
                sums[r][0] = multiply_add(sums[r][0], word + r * sizeof(uint32_t), left);
                if (vectors > 1) {
                    sums[r][1] = multiply_add(sums[r][1], word + r * sizeof(uint32_t), right);
                }
            }
            word += step;
            d += d_pixel;
        }
    }
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t v = 0; v < vectors; v++) {
            store(sums[r][v], sums_at + r * panel + v * LANES);
        }
    }
}

#define WEIGHTS_CASE(rows)                                                                         \
    case rows:                                                                                     \
        weights_tile(weights, x, d, sums, rows, vectors);                                          \
        return;

INLINE void weights_rows(const aq_conv_weights *weights, const char *x, const uint32_t *d,
                         float *sums, uint32_t rows, const uint32_t vectors)
{
    switch (rows) {
        EACH_HEIGHT(WEIGHTS_CASE)
#if AQ_CONV_ROWS == 12
        EACH_TALL(WEIGHTS_CASE)
#endif
    default:
        AQ_ASSERT(!"a tile is 1 to ROWS rows");
    }
}

static void weights_wide(const aq_conv_weights *weights, const char *x, const uint32_t *d,
                         float *sums, uint32_t rows)
{
    weights_rows(weights, x, d, sums, rows, 2);
}

static void weights_narrow(const aq_conv_weights *weights, const char *x, const uint32_t *d,
                           float *sums, uint32_t rows)
{
    weights_rows(weights, x, d, sums, rows, 1);
}

static void weights(const aq_conv_weights *weights)
{
    const aq_patches *patches = &weights->patches;
    const size_t words = (size_t)patches->runs * patches->run_words;
    const uint32_t tiles = (patches->run_words + ROWS - 1) / ROWS;
    for (uint32_t run = 0; run < patches->runs; run++) {
        for (uint32_t i = 0; i < tiles; i++) {
            const uint32_t first = patches->run_words * i / tiles;
            const uint32_t rows = patches->run_words * (i + 1) / tiles - first;
            const size_t word = (size_t)run * patches->run_words + first;
            const char *x =
                (const char *)patches->first + run * patches->run + first * sizeof(uint32_t);
            for (uint32_t column = 0; column < weights->width; column += PANEL) {
                const bool is_wide = weights->width - column > LANES;
                (is_wide ? weights_wide : weights_narrow)(
                    weights, x, weights->d + column,
                    weights->sums + column * words + word * (is_wide ? PANEL : LANES), rows);
            }
        }
    }
}

/* ---- bf16 ----------------------------------------------------------------------------------- */

#if defined(AQ_CONV_BF16)
INLINE __mmask16 first_lanes(size_t count)
{
    return count >= LANES ? (__mmask16)0xFFFF : (__mmask16)((1u << count) - 1u);
}

static void round_values(const float *x, size_t count, uint16_t *out)
{
    for (size_t i = 0; i < count; i += LANES) {
        const __mmask16 mask = first_lanes(count - i);
        const __m512 values = _mm512_maskz_loadu_ps(mask, x + i);
        _mm256_mask_storeu_epi16(out + i, mask, (__m256i)_mm512_cvtneps_pbh(values));
    }
}

static void pair_values(const float *low, const float *high, size_t count, uint32_t *out)
{
    for (size_t i = 0; i < count; i += LANES) {
        const __mmask16 mask = first_lanes(count - i);
        const __m512 a = _mm512_maskz_loadu_ps(mask, low + i);
        const __m512 b = high != NULL ? _mm512_maskz_loadu_ps(mask, high + i) : _mm512_setzero_ps();
        const __m512i first = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(a));
        const __m512i second = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(b));
        _mm512_mask_storeu_epi32(out + i, mask,
                                 _mm512_or_si512(first, _mm512_slli_epi32(second, 16)));
    }
}
#endif

const aq_conv_kernels AQ_CONV_TABLE = {
    .cpu_flags = AQ_CONV_CPU_FLAGS,
    .lanes = LANES,
    .product = product,
    .weights = weights,
#if defined(AQ_CONV_BF16)
    .round = round_values,
    .pair = pair_values,
#endif
};
