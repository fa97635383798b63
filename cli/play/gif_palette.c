/*
 * A hash table from colours to indices, filled on the way; a picture with too many is begun again
 * with one more bit lost.
 */
#include "cli/play/gif_palette.h"

#include <stdbool.h>
#include <string.h>

static uint32_t key_of(const uint8_t *pixel, uint32_t lost_bits)
{
    const uint32_t kept = 0xffU << lost_bits & 0xffU;
    return ((pixel[0] & kept) << 16 | (pixel[1] & kept) << 8 | (pixel[2] & kept)) + 1;
}

/* The index of the pixel's colour, which may be a new one; -1 when there is no room for it. */
static int find(aq_gif_palette *palette, const uint8_t *pixel)
{
    const uint32_t key = key_of(pixel, palette->lost_bits);
    uint32_t slot = key * UINT32_C(2654435761) >> 22; /* 10 bits: AQ_GIF_PALETTE_SLOTS */
    while (palette->slots[slot].key != 0) {
        if (palette->slots[slot].key == key) {
            return palette->slots[slot].index;
        }
        slot = (slot + 1) % AQ_GIF_PALETTE_SLOTS;
    }
    if (palette->count == AQ_GIF_COLOURS_MAX) {
        return -1;
    }
    palette->slots[slot].key = key;
    palette->slots[slot].index = (uint8_t)palette->count;
    memcpy(palette->colours[palette->count], pixel, 3);
    return (int)palette->count++;
}

static bool try_make(aq_gif_palette *palette, uint32_t lost_bits, const uint8_t *pixels,
                     size_t count, uint8_t *ret_indices)
{
    memset(palette, 0, sizeof(*palette));
    palette->lost_bits = lost_bits;
    for (size_t i = 0; i < count; i++, pixels += 3) {
        const int index = find(palette, pixels);
        if (index < 0) {
            return false;
        }
        ret_indices[i] = (uint8_t)index;
    }
    return true;
}

void aq_gif_palette_make(aq_gif_palette *palette, const uint8_t *pixels, size_t count,
                         uint8_t *ret_indices)
{
    /* Ends: with two bits of each left there are 64 colours. */
    for (uint32_t lost_bits = 0; !try_make(palette, lost_bits, pixels, count, ret_indices);) {
        lost_bits++;
    }
}
