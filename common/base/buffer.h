/*
 * A growing byte buffer that cannot be made without a maximum size.
 *
 * Used to build messages and files. One owner, no locking.
 */
#ifndef AQ_COMMON_BASE_BUFFER_H
#define AQ_COMMON_BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct aq_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    size_t size_max;
} aq_buffer;

/* An empty buffer; allocates nothing yet. `size_max` > 0. */
void aq_buffer_init(aq_buffer *buffer, size_t size_max);

/* Frees the bytes; the buffer is empty and can be used again. */
void aq_buffer_fini(aq_buffer *buffer);

/* Forgets the content, keeps the memory. */
void aq_buffer_clear(aq_buffer *buffer);

/* `bytes` may not lie in the buffer. AQ_E_TOO_BIG past size_max, AQ_E_NOMEM; the buffer is then
 * unchanged. */
int aq_buffer_append(aq_buffer *buffer, const void *bytes, size_t size) AQ_MUST_USE;

/* Makes room for `size` more bytes at the end and counts them as content (zeroed);
 * `*ret_bytes` points at them until the next growth. Fails as aq_buffer_append does. */
int aq_buffer_extend(aq_buffer *buffer, size_t size, uint8_t **ret_bytes) AQ_MUST_USE;

/* Likewise, for who writes all of them: they hold anything. */
int aq_buffer_extend_unset(aq_buffer *buffer, size_t size, uint8_t **ret_bytes) AQ_MUST_USE;

#endif
