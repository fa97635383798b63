/*
 * Growing arrays: room for one item more, doubled whenever it is used up.
 *
 *   int rc = aq_grow(&list->items, &list->capacity, list->count, sizeof(*list->items), LIST_MAX);
 */
#ifndef AQ_COMMON_BASE_GROWING_H
#define AQ_COMMON_BASE_GROWING_H

#include <stddef.h>

#include "common/base/error.h"

/* `array` is the address of the pointer to the items; NULL items and a capacity of 0 are none yet.
 * AQ_E_FULL for `most` items, AQ_E_NOMEM; all stays as it is then. */
int aq_grow(void *array, size_t *capacity, size_t count, size_t item_bytes,
            size_t most) AQ_MUST_USE;

#endif
