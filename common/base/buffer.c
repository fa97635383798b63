/*
 * A growing byte buffer with a maximum. It doubles, so n appended bytes cost O(n) copies.
 */
#include "common/base/buffer.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

#define CAPACITY_MIN_BYTES 256

/* Makes room for `size` more bytes. On failure nothing has changed. */
static int reserve(aq_buffer *buffer, size_t size)
{
    size_t capacity = buffer->capacity < CAPACITY_MIN_BYTES ? CAPACITY_MIN_BYTES : buffer->capacity;

    AQ_ASSERT(buffer->size <= buffer->capacity);
    AQ_ASSERT(buffer->capacity <= buffer->size_max);
    if (size > buffer->size_max - buffer->size) {
        return AQ_E_TOO_BIG;
    }
    if (size <= buffer->capacity - buffer->size) {
        return 0;
    }
    if (buffer->size == 0 && capacity < size) {
        capacity = size; /* whoever begins with much knows how much */
    }
    while (capacity < buffer->size + size) {
        capacity = capacity > buffer->size_max / 2 ? buffer->size_max : capacity * 2;
    }
    if (capacity > buffer->size_max) {
        capacity = buffer->size_max;
    }
    uint8_t *data = aq_alloc_unset(capacity, 1);
    if (data == NULL) {
        return AQ_E_NOMEM;
    }
    if (buffer->size > 0) {
        memcpy(data, buffer->data, buffer->size);
    }
    aq_free(buffer->data);
    buffer->data = data;
    buffer->capacity = capacity;
    return 0;
}

void aq_buffer_init(aq_buffer *buffer, size_t size_max)
{
    AQ_ASSERT(size_max > 0);
    *buffer = (aq_buffer){.size_max = size_max};
}

void aq_buffer_fini(aq_buffer *buffer)
{
    aq_free(buffer->data);
    *buffer = (aq_buffer){.size_max = buffer->size_max};
}

void aq_buffer_clear(aq_buffer *buffer)
{
    buffer->size = 0;
}

int aq_buffer_append(aq_buffer *buffer, const void *bytes, size_t size)
{
    int rc = reserve(buffer, size);

    if (rc == 0 && size > 0) {
        memcpy(buffer->data + buffer->size, bytes, size);
        buffer->size += size;
    }
    return rc;
}

int aq_buffer_extend_unset(aq_buffer *buffer, size_t size, uint8_t **ret_bytes)
{
    int rc = reserve(buffer, size);

    if (rc < 0) {
        return rc;
    }
    *ret_bytes = buffer->data == NULL ? NULL : buffer->data + buffer->size;
    buffer->size += size;
    return 0;
}

int aq_buffer_extend(aq_buffer *buffer, size_t size, uint8_t **ret_bytes)
{
    int rc = aq_buffer_extend_unset(buffer, size, ret_bytes);

    if (rc == 0 && size > 0) { /* the memory may hold what aq_buffer_clear forgot */
        memset(*ret_bytes, 0, size);
    }
    return rc;
}
