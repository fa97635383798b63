/*
 * GIF palette: the colours of one picture, at most 256 of them, and each pixel's index among them.
 *
 * A picture of few colours keeps them as they are. One of more loses low bits of red, green and
 * blue, one at a time, until what is left is few enough: pictures here are flat colours with smooth
 * borders, of which that takes steps that are not seen.
 */
#ifndef AQ_CLI_PLAY_GIF_PALETTE_H
#define AQ_CLI_PLAY_GIF_PALETTE_H

#include <stddef.h>
#include <stdint.h>

enum { AQ_GIF_COLOURS_MAX = 256, AQ_GIF_PALETTE_SLOTS = 1024 };

typedef struct aq_gif_palette {
    uint32_t count;
    uint8_t colours[AQ_GIF_COLOURS_MAX][3];
    uint32_t lost_bits;
    struct {
        uint32_t key; /* the colour without its lost bits, + 1; 0: free */
        uint8_t index;
    } slots[AQ_GIF_PALETTE_SLOTS];
} aq_gif_palette;

/* Makes the palette of `count` pixels (3 bytes each), and writes each one's index. */
void aq_gif_palette_make(aq_gif_palette *palette, const uint8_t *pixels, size_t count,
                         uint8_t *ret_indices);

#endif
