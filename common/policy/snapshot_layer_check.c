/*
 * Every number of one layer, format by format. The loops over rows are branch-free and left to the
 * compiler's vectorizer, because a policy of some megabytes may come every second.
 */
#include "common/policy/snapshot_layer_check.h"

#include <float.h>

#include "common/experience/finite.h"

/* (q - zero) * scale must stay a number: for levels of a format without a zero point, and for those
 * of a format, or of an input, that has one. */
#define SCALE_MAX           (FLT_MAX / 127.0f)
#define SCALE_MAX_WITH_ZERO (FLT_MAX / 256.0f)

typedef struct layer_check {
    const aq_snapshot_layer *layer;
    aq_layer_matrix_shape matrix;
    uint32_t index;
    aq_error *error;
} layer_check;

static int fail_row(const layer_check *check, size_t row, const char *what)
{
    return aq_fail(check->error, AQ_E_CORRUPT, "policy: layer %u, row %zu: %s", check->index, row,
                   what);
}

static int check_floats(const layer_check *check, const float *values, size_t row_values,
                        const char *what)
{
    const size_t count = check->matrix.rows * row_values;
    const size_t bad = aq_find_nonfinite(values, count);
    return bad == count ? 0 : fail_row(check, bad / row_values, what);
}

static int check_f32(const layer_check *check)
{
    return check_floats(check, check->layer->weights, check->matrix.columns,
                        "a weight is NaN or infinite");
}

/* `exponent` has all its bits set in numbers that are NaN or infinite. */
static int check_halves(const layer_check *check, uint16_t exponent)
{
    const uint16_t *weights = check->layer->weights;
    const size_t columns = check->matrix.columns;
    for (size_t row = 0; row < check->matrix.rows; row++) {
        unsigned bad = 0;
        for (size_t i = 0; i < columns; i++) {
            bad |= (weights[row * columns + i] & exponent) == exponent;
        }
        if (bad != 0) {
            return fail_row(check, row, "a weight is NaN or infinite");
        }
    }
    return 0;
}

static int check_f16(const layer_check *check)
{
    return check_halves(check, 0x7C00);
}

static int check_bf16(const layer_check *check)
{
    return check_halves(check, 0x7F80);
}

static int check_scales(const layer_check *check, size_t row_scales, float scale_max)
{
    for (size_t i = 0; i < check->layer->sizes.scales; i++) {
        const float scale = check->layer->scale[i];
        if (!(scale >= FLT_MIN && scale <= scale_max)) {
            return aq_fail(check->error, AQ_E_CORRUPT, "policy: layer %u, row %zu: a scale of %g",
                           check->index, i / row_scales, (double)scale);
        }
    }
    return 0;
}

static int check_sum(const layer_check *check, size_t row, int32_t sum)
{
    if (sum != check->layer->sum[row]) {
        return aq_fail(check->error, AQ_E_CORRUPT,
                       "policy: layer %u, row %zu: the weights add up to %d, not to %d",
                       check->index, row, sum, check->layer->sum[row]);
    }
    return 0;
}

/* So many bytes add up within 16 bits, whose vectors hold twice as many sums as those of 32. */
enum { PART_COLUMNS = 128 };

typedef struct int8_part {
    int32_t sum;
    uint8_t lowest; /* + 128 */
} int8_part;

static inline int8_part measure_part(const int8_t *q, size_t columns)
{
    uint16_t sum = 0;
    uint8_t lowest = UINT8_MAX;
    for (size_t i = 0; i < columns; i++) {
        const uint8_t level = (uint8_t)q[i] ^ 0x80; /* q + 128 */
        sum = (uint16_t)(sum + level);
        lowest = level < lowest ? level : lowest;
    }
    return (int8_part){.sum = (int32_t)sum - 128 * (int32_t)columns, .lowest = lowest};
}

static int8_part measure_row(const int8_t *q, size_t columns)
{
    int8_part row = measure_part(q, columns % PART_COLUMNS);
    for (size_t i = columns % PART_COLUMNS; i < columns; i += PART_COLUMNS) {
        const int8_part part = measure_part(q + i, PART_COLUMNS);
        row.sum += part.sum;
        row.lowest = part.lowest < row.lowest ? part.lowest : row.lowest;
    }
    return row;
}

static bool is_zero(const int8_t *q, size_t columns)
{
    int8_t any = 0;
    for (size_t i = 0; i < columns; i++) {
        any |= q[i];
    }
    return any == 0;
}

/* `zero_allowed`: a row may be all zeros; `smallest` is the lowest level. */
static int check_int8_rows(const layer_check *check, int smallest, bool zero_allowed)
{
    const size_t columns = check->matrix.columns;
    for (size_t row = 0; row < check->matrix.rows; row++) {
        const int8_t *q = (const int8_t *)check->layer->weights + row * columns;
        const int8_part measured = measure_row(q, columns);
        if (measured.lowest - 128 < smallest) {
            return fail_row(check, row, "a weight of -128; -127 to 127 are possible");
        }
        if (measured.sum == 0 && !zero_allowed && is_zero(q, columns)) {
            return fail_row(check, row, "all its weights are zero");
        }
        int rc = check_sum(check, row, measured.sum);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int check_int8(const layer_check *check)
{
    int rc = check_scales(check, 1, SCALE_MAX);
    return rc != 0 ? rc : check_int8_rows(check, -127, false);
}

static int check_int8_tensor(const layer_check *check)
{
    const int32_t zero = check->layer->weight_zero;
    if (zero < INT8_MIN || zero > INT8_MAX) {
        return aq_fail(check->error, AQ_E_CORRUPT,
                       "policy: layer %u: a zero point of %d; -128 to 127 are possible",
                       check->index, zero);
    }
    int rc = check_scales(check, check->matrix.rows, SCALE_MAX_WITH_ZERO);
    return rc != 0 ? rc : check_int8_rows(check, INT8_MIN, true);
}

/* A bit for each level of the byte that is the lowest of two's complement, which no format has. */
static uint8_t lowest_of_4_bits(uint8_t byte)
{
    return (uint8_t)(byte >> 3 & ~(byte >> 2) & ~(byte >> 1) & ~byte & 0x11);
}

static uint8_t lowest_of_2_bits(uint8_t byte)
{
    return (uint8_t)(byte >> 1 & ~byte & 0x55);
}

/* That level, and bits behind the last column. */
static int check_group_row(const layer_check *check, size_t row, uint32_t bits)
{
    const uint32_t columns = check->matrix.columns;
    const size_t row_bytes = ((size_t)columns * bits + 7) / 8;
    const uint8_t *bytes = (const uint8_t *)check->layer->weights + row * row_bytes;
    const uint32_t last_bits = columns * bits % 8;
    uint8_t bad = 0;
    if (bits == 4) {
        for (size_t i = 0; i < row_bytes; i++) {
            bad |= lowest_of_4_bits(bytes[i]);
        }
    } else {
        for (size_t i = 0; i < row_bytes; i++) {
            bad |= lowest_of_2_bits(bytes[i]);
        }
    }
    if (bad != 0) {
        return fail_row(check, row, "a weight below what its format has");
    }
    if (last_bits != 0 && bytes[row_bytes - 1] >> last_bits != 0) {
        return fail_row(check, row, "weights behind the last column");
    }
    return 0;
}

static int check_groups(const layer_check *check, uint32_t bits)
{
    int rc = check_scales(check, aq_format_groups(check->matrix.columns), SCALE_MAX);
    for (size_t row = 0; rc == 0 && row < check->matrix.rows; row++) {
        rc = check_group_row(check, row, bits);
    }
    return rc;
}

static int check_int4(const layer_check *check)
{
    return check_groups(check, 4);
}

static int check_int2(const layer_check *check)
{
    return check_groups(check, 2);
}

static int fail_block(const layer_check *check, uint32_t block_row, uint32_t block_column,
                      const char *what)
{
    return aq_fail(check->error, AQ_E_CORRUPT,
                   "policy: layer %u, rows from %u, columns from %u: %s", check->index,
                   block_row * AQ_BLOCK_ROWS, block_column * AQ_BLOCK_COLUMNS, what);
}

/* A block whose last rows or columns lie outside the matrix: what is there must be zero. */
static bool edge_is_zero(const layer_check *check, size_t first_row, size_t first_column,
                         const int8_t *levels)
{
    for (uint32_t k = 0; k < AQ_BLOCK_BYTES; k++) {
        const size_t row = first_row + k / AQ_BLOCK_COLUMNS;
        const size_t column = first_column + k % AQ_BLOCK_COLUMNS;
        if (levels[k] != 0 && (row >= check->matrix.rows || column >= check->matrix.columns)) {
            return false;
        }
    }
    return true;
}

/* Adds a block's levels to the sums of its rows. */
static int check_block(const layer_check *check, uint32_t block_row, uint32_t block_column,
                       const int8_t *levels, int32_t *sums)
{
    const size_t first_row = (size_t)block_row * AQ_BLOCK_ROWS;
    const size_t first_column = (size_t)block_column * AQ_BLOCK_COLUMNS;
    int8_t lowest = 0;
    for (uint32_t r = 0; r < AQ_BLOCK_ROWS; r++) {
        for (uint32_t c = 0; c < AQ_BLOCK_COLUMNS; c++) {
            const int8_t level = levels[r * AQ_BLOCK_COLUMNS + c];
            lowest = level < lowest ? level : lowest;
            sums[r] += level;
        }
    }
    if (lowest == INT8_MIN) {
        return fail_block(check, block_row, block_column,
                          "a weight of -128; -127 to 127 are possible");
    }
    const bool is_edge = first_row + AQ_BLOCK_ROWS > check->matrix.rows ||
                         first_column + AQ_BLOCK_COLUMNS > check->matrix.columns;
    if (is_edge && !edge_is_zero(check, first_row, first_column, levels)) {
        return fail_block(check, block_row, block_column, "a weight outside the layer");
    }
    return 0;
}

/* The blocks of one row of them, from *levels on, which moves past them. */
static int check_block_row(const layer_check *check, uint32_t block_row, const int8_t **levels)
{
    const uint32_t columns = aq_block_column_count(check->matrix.columns);
    const size_t mask_row_bytes = aq_block_mask_row_bytes(check->matrix.columns);
    const uint8_t *mask = check->layer->mask + block_row * mask_row_bytes;
    const int8_t *end = (const int8_t *)check->layer->weights + check->layer->sizes.weights_bytes;
    int32_t sums[AQ_BLOCK_ROWS] = {0};
    for (uint32_t column = 0; column < mask_row_bytes * 8; column++) {
        if (!aq_block_is_stored(mask, column)) {
            continue;
        }
        if (column >= columns || end - *levels < AQ_BLOCK_BYTES) {
            return aq_fail(check->error, AQ_E_CORRUPT,
                           "policy: layer %u: the mask shows more blocks than there are",
                           check->index);
        }
        int rc = check_block(check, block_row, column, *levels, sums);
        if (rc != 0) {
            return rc;
        }
        *levels += AQ_BLOCK_BYTES;
    }
    for (uint32_t r = 0; r < AQ_BLOCK_ROWS; r++) {
        const size_t row = (size_t)block_row * AQ_BLOCK_ROWS + r;
        int rc = row < check->matrix.rows ? check_sum(check, row, sums[r]) : 0;
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int check_sparse(const layer_check *check)
{
    const int8_t *levels = check->layer->weights;
    if (check->layer->sizes.weights_bytes == 0) {
        return aq_fail(check->error, AQ_E_CORRUPT, "policy: layer %u has no blocks", check->index);
    }
    int rc = check_scales(check, 1, SCALE_MAX);
    for (uint32_t row = 0; rc == 0 && row < aq_block_row_count(check->matrix.rows); row++) {
        rc = check_block_row(check, row, &levels);
    }
    if (rc == 0 &&
        levels != (const int8_t *)check->layer->weights + check->layer->sizes.weights_bytes) {
        rc = aq_fail(check->error, AQ_E_CORRUPT,
                     "policy: layer %u: there are more blocks than the mask shows", check->index);
    }
    return rc;
}

/* ---- the layer as a whole ------------------------------------------------------------------- */

static int (*const format_checks[AQ_FORMAT_COUNT + 1])(const layer_check *check) = {
    [AQ_FORMAT_F32] = check_f32,
    [AQ_FORMAT_INT8_CHANNEL] = check_int8,
    [AQ_FORMAT_F16] = check_f16,
    [AQ_FORMAT_BF16] = check_bf16,
    [AQ_FORMAT_INT8_TENSOR] = check_int8_tensor,
    [AQ_FORMAT_INT4] = check_int4,
    [AQ_FORMAT_INT2] = check_int2,
    [AQ_FORMAT_INT8_SPARSE] = check_sparse,
};

/* The tensors have the sizes that the network's shape asks for, so no row is read past its end. */
static int check_sizes(const layer_check *check)
{
    const aq_snapshot_layer *layer = check->layer;
    const aq_tensor_sizes sizes =
        aq_format_sizes(layer->format, check->matrix.rows, check->matrix.columns,
                        layer->sizes.weights_bytes / AQ_BLOCK_BYTES);
    if (layer->sizes.weights_bytes != sizes.weights_bytes || layer->sizes.scales != sizes.scales ||
        layer->sizes.sums != sizes.sums || layer->sizes.mask_bytes != sizes.mask_bytes ||
        (layer->scale != NULL) != (sizes.scales > 0) || (layer->sum != NULL) != (sizes.sums > 0) ||
        (layer->mask != NULL) != (sizes.mask_bytes > 0)) {
        return aq_fail(check->error, AQ_E_CORRUPT,
                       "policy: layer %u: tensors of another size or format", check->index);
    }
    return 0;
}

static int check_scalars(const layer_check *check)
{
    const aq_snapshot_layer *layer = check->layer;
    if (layer->weight_zero != 0 && layer->format != AQ_FORMAT_INT8_TENSOR) {
        return aq_fail(check->error, AQ_E_CORRUPT,
                       "policy: layer %u: a zero point of weights that have none", check->index);
    }
    const bool is_static = layer->input_scale != 0.0f;
    if (is_static &&
        (!aq_format_is_integer(layer->format) ||
         !(layer->input_scale >= FLT_MIN && layer->input_scale <= SCALE_MAX_WITH_ZERO))) {
        return aq_fail(check->error, AQ_E_CORRUPT, "policy: layer %u: an input scale of %g",
                       check->index, (double)layer->input_scale);
    }
    if (layer->input_zero < 0 || layer->input_zero > UINT8_MAX ||
        (layer->input_zero != 0 && !is_static)) {
        return aq_fail(check->error, AQ_E_CORRUPT, "policy: layer %u: an input zero point of %d",
                       check->index, layer->input_zero);
    }
    return 0;
}

int aq_snapshot_layer_check(const aq_layer_spec *spec, const aq_snapshot_layer *layer,
                            uint32_t index, aq_error *error)
{
    const layer_check check = {layer, aq_layer_matrix(spec), index, error};
    if (!aq_format_known(layer->format)) {
        return aq_fail(error, AQ_E_VERSION, "policy: layer %u: unknown weight format %u", index,
                       layer->format);
    }
    if (layer->format != AQ_FORMAT_F32 && !aq_layer_is_quantizable(spec)) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: layer %u: a %s layer in %s", index,
                       aq_layer_kind_name(spec->kind), aq_format_name(layer->format));
    }
    int rc = check_sizes(&check);
    if (rc == 0) {
        rc = check_scalars(&check);
    }
    if (rc == 0) {
        rc = format_checks[layer->format](&check);
    }
    if (rc == 0) {
        rc = check_floats(&check, layer->bias, 1, "a bias is NaN or infinite");
    }
    return rc;
}
