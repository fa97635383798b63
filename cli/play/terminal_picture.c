/*
 * A colour is named only where it changes, and the colours of the terminal come back at the end of
 * each line, so that nothing runs over when a picture is cut off.
 */
#include "cli/play/terminal_picture.h"

#include <stdio.h>
#include <string.h>

#define HALF_BLOCK "\xe2\x96\x80" /* the upper half, U+2580 */

enum { CELL_BYTES = 64 }; /* two colours and a half block take 42 */

/* The two pixels of a character cell. */
typedef struct cell {
    aq_colour above, below;
} cell;

static aq_colour pixel_at(const aq_canvas *canvas, uint32_t row, uint32_t column)
{
    if (row >= canvas->height) {
        return (aq_colour){0, 0, 0};
    }
    const uint8_t *pixel = canvas->pixels + ((size_t)row * canvas->width + column) * 3;
    return (aq_colour){pixel[0], pixel[1], pixel[2]};
}

static bool is_same(aq_colour a, aq_colour b)
{
    return a.red == b.red && a.green == b.green && a.blue == b.blue;
}

/* The cell with the colours that are not those of `before`, NULL at the start of a line. */
static int put_colours(cell now, const cell *before, aq_buffer *out)
{
    char text[CELL_BYTES];
    int used = 0;
    if (before == NULL || !is_same(now.above, before->above)) {
        used += snprintf(text + used, sizeof(text) - (size_t)used, "\x1b[38;2;%d;%d;%dm",
                         now.above.red, now.above.green, now.above.blue);
    }
    if (before == NULL || !is_same(now.below, before->below)) {
        used += snprintf(text + used, sizeof(text) - (size_t)used, "\x1b[48;2;%d;%d;%dm",
                         now.below.red, now.below.green, now.below.blue);
    }
    used += snprintf(text + used, sizeof(text) - (size_t)used, "%s", HALF_BLOCK);
    return aq_buffer_append(out, text, (size_t)used);
}

/* As bright as the eye finds it, 0 to 255 (the weights of Rec. 601). */
static uint32_t brightness(aq_colour colour)
{
    return (299U * colour.red + 587U * colour.green + 114U * colour.blue) / 1000;
}

static int put_character(cell now, aq_buffer *out)
{
    static const char full[] = " .:-=+*#%@";
    const uint32_t bright = brightness(now.above) > brightness(now.below) ? brightness(now.above)
                                                                          : brightness(now.below);
    return aq_buffer_append(out, &full[bright * (sizeof(full) - 1) / 256], 1);
}

static int put_line(const aq_canvas *canvas, uint32_t row, bool colours, aq_buffer *out)
{
    static const char end[] = "\x1b[0m\n";
    cell before = {0};
    int rc = 0;
    for (uint32_t column = 0; rc == 0 && column < canvas->width; column++) {
        const cell now = {pixel_at(canvas, row, column), pixel_at(canvas, row + 1, column)};
        rc = colours ? put_colours(now, column > 0 ? &before : NULL, out) : put_character(now, out);
        before = now;
    }
    if (rc != 0) {
        return rc;
    }
    return colours ? aq_buffer_append(out, end, strlen(end)) : aq_buffer_append(out, "\n", 1);
}

int aq_terminal_picture(const aq_canvas *canvas, bool colours, aq_buffer *out)
{
    int rc = 0;
    for (uint32_t row = 0; rc == 0 && row < canvas->height; row += 2) {
        rc = put_line(canvas, row, colours, out);
    }
    return rc;
}
