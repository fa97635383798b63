/*
 * Convolutions in bf16 with AMX: up to two tiles of 16 patches by two of 16 outputs, whose sums
 * stay in tile registers over all words of a patch. Patches lie where they are: a tile is some
 * words of neighbours that are equally far apart.
 *
 * All tiles of a product are equally high, so that registers get their shape once: where patches
 * don't divide, the last tile begins before the one before it ends, and some are computed twice.
 * Gradients of weights have no kernel here, since their words lie the wrong way round.
 */
#include <immintrin.h>
#include <string.h>

#include "common/sys/cpu.h"
#include "common/sys/tiles.h"
#include "learner/nn/conv_rungs.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 16, PANEL = 2 * LANES };

/* Patches from two places, of which the second may be none, and one panel. */
typedef struct tile {
    const char *first, *second;
    const uint32_t *panel;
    float *c, *second_c;
    uint32_t column;  /* of the panel's first output */
    uint32_t width;   /* of what is stored, from there */
    uint32_t patches; /* in each place */
    uint32_t words;   /* at a time */
} tile;

/* Registers 0 to 3 are sums, row by row; 4 and 5 are patches, 6 and 7 the matrix. Their numbers are
 * part of the instructions. */
INLINE void multiply_tiles(const aq_patches *patches, const tile *at, const bool is_tall,
                           const bool is_wide)
{
    const size_t apart = patches->column, b_row = is_wide ? 2 * AQ_TILE_LINE : AQ_TILE_LINE;
    const char *b = (const char *)at->panel;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (uint32_t run = 0; run < patches->runs; run++) {
        size_t a = run * patches->run;
        for (uint32_t word = 0; word < patches->run_words; word += at->words) {
            _tile_loadd(4, at->first + a, apart);
            _tile_loadd(6, b, b_row);
            _tile_dpbf16ps(0, 4, 6);
            if (is_wide) {
                _tile_loadd(7, b + AQ_TILE_LINE, b_row);
                _tile_dpbf16ps(1, 4, 7);
            }
            if (is_tall) {
                _tile_loadd(5, at->second + a, apart);
                _tile_dpbf16ps(2, 5, 6);
            }
            if (is_tall && is_wide) {
                _tile_dpbf16ps(3, 5, 7);
            }
            a += at->words * sizeof(uint32_t);
            b += at->words * b_row;
        }
    }
}

#define STORE_TILE(number, c, column)                                                              \
    do {                                                                                           \
        float part[AQ_TILE_ROWS * LANES];                                                          \
        if (at->width >= (column) + LANES) {                                                       \
            _tile_stored(number, (c) + (column), c_bytes);                                         \
        } else if (at->width > (column)) {                                                         \
            _tile_stored(number, part, AQ_TILE_LINE);                                              \
            for (uint32_t r = 0; r < at->patches; r++) {                                           \
                memcpy((c) + r * product->c_column + (column), part + r * LANES,                   \
                       (at->width - (column)) * sizeof(float));                                    \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void product_tile(const aq_conv_product *product, const tile *at)
{
    const size_t c_bytes = product->c_column * sizeof(float);
    const aq_patches *patches = &product->patches;
    const bool is_tall = at->second != NULL, is_wide = at->width > LANES;
    if (is_tall && is_wide) {
        multiply_tiles(patches, at, true, true);
    } else if (is_tall) {
        multiply_tiles(patches, at, true, false);
    } else if (is_wide) {
        multiply_tiles(patches, at, false, true);
    } else {
        multiply_tiles(patches, at, false, false);
    }
    STORE_TILE(0, at->c, 0);
    STORE_TILE(1, at->c, LANES);
    if (is_tall) {
        STORE_TILE(2, at->second_c, 0);
        STORE_TILE(3, at->second_c, LANES);
    }
}

/* The patches of one row of pixels; `at` is at its panel. */
static void product_row(const aq_conv_product *product, uint32_t row, tile at)
{
    const aq_patches *patches = &product->patches;
    const char *from = (const char *)patches->first + row * patches->row;
    float *to = product->c + row * product->c_row + at.column;
    const uint32_t last = patches->columns - at.patches;
    for (uint32_t first = 0; first < patches->columns; first += 2 * at.patches) {
        const uint32_t one = first < last ? first : last;
        const uint32_t other = one + at.patches < last ? one + at.patches : last;
        at.first = from + one * patches->column;
        at.c = to + one * product->c_column;
        at.second = one < last ? from + other * patches->column : NULL;
        at.second_c = to + other * product->c_column;
        product_tile(product, &at);
    }
}

static void product(const aq_conv_product *product)
{
    const aq_patches *patches = &product->patches;
    const size_t words = (size_t)patches->runs * patches->run_words;
    tile at = {.patches = aq_tile_height_of(patches->columns),
               .words = aq_tile_units_of(patches->run_words)};
    const aq_tile_shapes shapes = aq_tile_shapes_of(at.patches, at.words, 4, 6);
    aq_tile_shapes_written(&shapes);
    _tile_loadconfig(&shapes);
    for (uint32_t column = 0; column < product->width; column += PANEL) {
        at.panel = product->panels + column * words;
        at.column = column;
        at.width = product->width - column;
        for (uint32_t y = 0; y < patches->rows; y++) {
            product_row(product, y, at);
        }
    }
    _tile_release();
}

/* A processor with AMX has the instructions that round, too. */
static void round_values(const float *x, size_t count, uint16_t *out)
{
    aq_conv_avx512bf16.round(x, count, out);
}

static void pair_values(const float *low, const float *high, size_t count, uint32_t *out)
{
    aq_conv_avx512bf16.pair(low, high, count, out);
}

const aq_conv_kernels aq_conv_amx = {
    .cpu_flags = AQ_CPU_AVX512 | AQ_CPU_AMX,
    .lanes = LANES,
    .product = product,
    .round = round_values,
    .pair = pair_values,
};
