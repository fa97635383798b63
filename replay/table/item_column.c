/*
 * Growth moves each value to where the larger ring looks for it.
 */
#include "replay/table/item_column.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

enum { WINDOW_MIN = 64 };

void aq_item_column_init(aq_item_column *column, uint32_t value_bytes)
{
    *column = (aq_item_column){.value_bytes = value_bytes};
}

void aq_item_column_fini(aq_item_column *column)
{
    aq_free(column->values);
    memset(column, 0, sizeof(*column));
}

uint64_t aq_item_window(uint64_t count, uint64_t least)
{
    uint64_t window = least;
    while (window < count) {
        window *= 2;
    }
    return window;
}

int aq_item_column_reserve(aq_item_column *column, uint64_t first, uint64_t known, uint64_t end)
{
    AQ_ASSERT(first <= known);
    AQ_ASSERT(known <= end);
    if (end - first <= column->window) {
        return 0;
    }
    uint64_t window = aq_item_window(end - first, WINDOW_MIN);
    uint8_t *values = aq_alloc(window, column->value_bytes);
    if (values == NULL) {
        return AQ_E_NOMEM;
    }
    size_t bytes = column->value_bytes;
    const uint8_t *old = column->values;
    for (uint64_t item = first; item < known; item++) {
        memcpy(values + (item & (window - 1)) * bytes, old + (item & (column->window - 1)) * bytes,
               bytes);
    }
    aq_free(column->values);
    column->values = values;
    column->window = window;
    return 0;
}
