/*
 * The table of formats, and the arithmetic of their sizes.
 */
#include "common/policy/format.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"

enum scaling { SCALE_NONE, SCALE_TENSOR, SCALE_ROW, SCALE_GROUP };

enum { NAMES_BYTES = 128 }; /* of all names with commas between */

#define NAME_OF(constant, number, name) [constant] = (name),
static const char *const names[AQ_FORMAT_COUNT + 1] = {AQ_FORMATS(NAME_OF)};

static const struct format_row {
    uint32_t weight_bits;
    enum scaling scaling;
    bool has_sums;
} formats[AQ_FORMAT_COUNT + 1] = {
    [AQ_FORMAT_F32] = {32, SCALE_NONE, false},
    [AQ_FORMAT_INT8_CHANNEL] = {8, SCALE_ROW, true},
    [AQ_FORMAT_F16] = {16, SCALE_NONE, false},
    [AQ_FORMAT_BF16] = {16, SCALE_NONE, false},
    [AQ_FORMAT_INT8_TENSOR] = {8, SCALE_TENSOR, true},
    [AQ_FORMAT_INT4] = {4, SCALE_GROUP, false},
    [AQ_FORMAT_INT2] = {2, SCALE_GROUP, false},
    [AQ_FORMAT_INT8_SPARSE] = {8, SCALE_ROW, true},
};

bool aq_format_known(uint32_t format)
{
    return format >= 1 && format <= AQ_FORMAT_COUNT;
}

bool aq_format_is_integer(uint32_t format)
{
    return aq_format_known(format) && formats[format].scaling != SCALE_NONE;
}

bool aq_format_holds_bits(uint32_t format, uint32_t bits)
{
    switch (format) {
    case AQ_FORMAT_INT8_CHANNEL:
    case AQ_FORMAT_INT8_TENSOR:
        return bits >= 2 && bits <= 8;
    case AQ_FORMAT_INT4:
    case AQ_FORMAT_INT2:
        return bits == formats[format].weight_bits;
    default:
        return false;
    }
}

uint32_t aq_format_groups(uint32_t columns)
{
    return (columns + AQ_FORMAT_GROUP - 1) / AQ_FORMAT_GROUP;
}

uint32_t aq_block_row_count(uint32_t rows)
{
    return (rows + AQ_BLOCK_ROWS - 1) / AQ_BLOCK_ROWS;
}

uint32_t aq_block_column_count(uint32_t columns)
{
    return (columns + AQ_BLOCK_COLUMNS - 1) / AQ_BLOCK_COLUMNS;
}

size_t aq_block_mask_row_bytes(uint32_t columns)
{
    return (aq_block_column_count(columns) + 7) / 8;
}

static size_t scale_count(enum scaling scaling, uint32_t rows, uint32_t columns)
{
    switch (scaling) {
    case SCALE_TENSOR:
        return rows > 0 ? 1 : 0;
    case SCALE_ROW:
        return rows;
    case SCALE_GROUP:
        return (size_t)rows * aq_format_groups(columns);
    default:
        return 0;
    }
}

aq_tensor_sizes aq_format_sizes(uint32_t format, uint32_t rows, uint32_t columns, size_t blocks)
{
    AQ_ASSERT(aq_format_known(format));
    const struct format_row *row = &formats[format];
    aq_tensor_sizes sizes = {
        .weights_bytes = (size_t)rows * (((size_t)columns * row->weight_bits + 7) / 8),
        .scales = scale_count(row->scaling, rows, columns),
        .sums = row->has_sums ? rows : 0,
    };
    if (format == AQ_FORMAT_INT8_SPARSE) {
        sizes.weights_bytes = blocks * AQ_BLOCK_BYTES;
        sizes.mask_bytes = aq_block_row_count(rows) * aq_block_mask_row_bytes(columns);
    }
    return sizes;
}

const char *aq_format_name(uint32_t format)
{
    if (format == AQ_FORMAT_MIXED) {
        return "mixed";
    }
    return aq_format_known(format) ? names[format] : "unknown";
}

int aq_format_parse(const char *text, uint32_t *ret_format, aq_error *error)
{
    char all[NAMES_BYTES] = "";
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        if (strcmp(text, names[format]) == 0) {
            *ret_format = format;
            return 0;
        }
        const char *between = format == 1 ? "" : format == AQ_FORMAT_COUNT ? " and " : ", ";
        aq_text_append(all, sizeof(all), "%s%s", between, names[format]);
    }
    AQ_ASSERT(strlen(all) + 1 < sizeof(all)); /* none was cut */
    return aq_fail(error, AQ_E_INVALID, "'%s' is no format; there are %s", text, all);
}
