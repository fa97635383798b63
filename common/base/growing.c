/*
 * Growing arrays: see growing.h.
 */
#include "common/base/growing.h"

#include <string.h>

#include "common/base/memory.h"

enum { ITEMS_FIRST = 16 };

int aq_grow(void *array, size_t *capacity, size_t count, size_t item_bytes, size_t most)
{
    void *items;
    if (count >= most) {
        return AQ_E_FULL;
    }
    if (count < *capacity) {
        return 0;
    }
    const size_t wanted = count > 0 ? 2 * count : ITEMS_FIRST;
    void *grown = aq_alloc(wanted, item_bytes);
    if (grown == NULL) {
        return AQ_E_NOMEM;
    }
    memcpy(&items, array, sizeof(items)); /* whatever its type is */
    if (count > 0) {
        memcpy(grown, items, count * item_bytes);
    }
    aq_free(items);
    memcpy(array, &grown, sizeof(grown));
    *capacity = wanted;
    return 0;
}
