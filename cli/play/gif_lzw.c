/*
 * The table maps (code, next index) to the code of the two together, by hashing with linear
 * probing; it is emptied, and the reader told so, when all 4096 codes are in use.
 */
#include "cli/play/gif_lzw.h"

#include <string.h>

#include "common/base/assert.h"

enum { WIDTH_MAX = 12, CODES_MAX = 1 << WIDTH_MAX, SLOTS = 8192, BLOCK_BYTES = 255 };

typedef struct lzw {
    aq_buffer *out;
    uint32_t bits;  /* of an index */
    uint32_t width; /* bits of a code */
    uint32_t next;  /* the code to give out next */
    uint32_t held;  /* bits not written yet, low ones first */
    uint32_t held_count;
    uint8_t block[1 + BLOCK_BYTES]; /* its length comes first */
    uint32_t keys[SLOTS];           /* (code << 8 | index) + 1; 0: free */
    uint16_t codes[SLOTS];
} lzw;

static uint32_t clear_code(const lzw *self)
{
    return 1U << self->bits;
}

static void start_table(lzw *self)
{
    memset(self->keys, 0, sizeof(self->keys));
    self->width = self->bits + 1;
    self->next = clear_code(self) + 2; /* after the codes for clearing and for the end */
}

static int flush_block(lzw *self)
{
    if (self->block[0] == 0) {
        return 0;
    }
    const size_t size = (size_t)self->block[0] + 1;
    int rc = aq_buffer_append(self->out, self->block, size);
    self->block[0] = 0;
    return rc;
}

static int put_byte(lzw *self, uint8_t byte)
{
    self->block[0]++;
    self->block[self->block[0]] = byte;
    return self->block[0] == BLOCK_BYTES ? flush_block(self) : 0;
}

static int put_code(lzw *self, uint32_t code)
{
    int rc = 0;
    self->held |= code << self->held_count;
    self->held_count += self->width;
    while (rc == 0 && self->held_count >= 8) {
        rc = put_byte(self, (uint8_t)self->held);
        self->held >>= 8;
        self->held_count -= 8;
    }
    return rc;
}

/* Where the pair is in the table, or would be. */
static uint32_t find_slot(const lzw *self, uint32_t key)
{
    uint32_t slot = key * UINT32_C(2654435761) >> 19; /* 13 bits: SLOTS */
    while (self->keys[slot] != 0 && self->keys[slot] != key) {
        slot = (slot + 1) % SLOTS;
    }
    return slot;
}

/* Notes that the pair gets a code, as the reader does; both widen their codes at the same one. */
static int add_code(lzw *self, uint32_t slot, uint32_t key)
{
    if (self->next == CODES_MAX) {
        int rc = put_code(self, clear_code(self));
        start_table(self);
        return rc;
    }
    if (self->next == 1U << self->width) {
        self->width++;
    }
    self->keys[slot] = key;
    self->codes[slot] = (uint16_t)self->next++;
    return 0;
}

static int encode(lzw *self, const uint8_t *indices, size_t count)
{
    uint32_t code = indices[0];
    int rc = put_code(self, clear_code(self));
    for (size_t i = 1; rc == 0 && i < count; i++) {
        const uint32_t key = (code << 8 | indices[i]) + 1;
        const uint32_t slot = find_slot(self, key);
        if (self->keys[slot] == key) {
            code = self->codes[slot];
            continue;
        }
        rc = put_code(self, code);
        rc = rc != 0 ? rc : add_code(self, slot, key);
        code = indices[i];
    }
    rc = rc != 0 ? rc : put_code(self, code);
    if (rc == 0 && self->next < CODES_MAX && self->next == 1U << self->width) {
        self->width++; /* the reader has given out the last code by now */
    }
    rc = rc != 0 ? rc : put_code(self, clear_code(self) + 1);
    if (rc == 0 && self->held_count > 0) {
        rc = put_byte(self, (uint8_t)self->held);
    }
    return rc != 0 ? rc : flush_block(self);
}

int aq_gif_lzw(const uint8_t *indices, size_t count, uint32_t bits, aq_buffer *out)
{
    static const uint8_t end = 0;
    const uint8_t code_size = (uint8_t)bits;
    lzw self = {.out = out, .bits = bits};
    AQ_ASSERT(count > 0);
    AQ_ASSERT(bits >= AQ_GIF_BITS_MIN);
    AQ_ASSERT(bits <= AQ_GIF_BITS_MAX);
    start_table(&self);
    int rc = aq_buffer_append(out, &code_size, 1);
    rc = rc != 0 ? rc : encode(&self, indices, count);
    return rc != 0 ? rc : aq_buffer_append(out, &end, 1);
}
