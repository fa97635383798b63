/*
 * A colour is named only where it changes, and the colours of the terminal come back at the end of
 * each line, so that nothing runs over when a picture is cut off.
 */
#include "cli/play/terminal_picture.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define HALF_BLOCK "\xe2\x96\x80" /* the upper half, U+2580 */

enum { COLOUR_BYTES = 32 }; /* one takes 19 */

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

/* The level of the cube, 0 to 5, that is nearest, and how bright that is. */
static uint32_t cube_level(uint8_t value, uint8_t *ret_value)
{
    static const uint8_t values[] = {0, 95, 135, 175, 215, 255};
    uint32_t level = 0;
    while (level + 1 < sizeof(values) && value > (values[level] + values[level + 1]) / 2) {
        level++;
    }
    *ret_value = values[level];
    return level;
}

static uint32_t distance(aq_colour a, aq_colour b)
{
    const int32_t red = a.red - b.red, green = a.green - b.green, blue = a.blue - b.blue;
    return (uint32_t)(red * red + green * green + blue * blue);
}

/* The nearest of the cube, from 16 on, and of the greys, from 232 on. */
static uint32_t number_in_256(aq_colour colour)
{
    aq_colour cube;
    const uint32_t number = 16 + 36 * cube_level(colour.red, &cube.red) +
                            6 * cube_level(colour.green, &cube.green) +
                            cube_level(colour.blue, &cube.blue);
    const uint32_t mean = (uint32_t)(colour.red + colour.green + colour.blue) / 3;
    const uint32_t step = mean < 8 ? 0 : mean > 238 ? 23 : (mean - 3) / 10;
    const uint8_t grey = (uint8_t)(8 + 10 * step);
    return distance(colour, (aq_colour){grey, grey, grey}) < distance(colour, cube) ? 232 + step
                                                                                    : number;
}

/* Names the colour of what is written (38) or of what is behind it (48). */
static int put_colour(int what, aq_colour colour, enum aq_terminal_colours colours, aq_buffer *out)
{
    char text[COLOUR_BYTES];
    int used = colours == AQ_TERMINAL_24_BIT
                   ? snprintf(text, sizeof(text), "\x1b[%d;2;%d;%d;%dm", what, colour.red,
                              colour.green, colour.blue)
                   : snprintf(text, sizeof(text), "\x1b[%d;5;%um", what, number_in_256(colour));
    return aq_buffer_append(out, text, (size_t)used);
}

/* The cell with the colours that are not those of `before`, NULL at the start of a line. */
static int put_colours(cell now, const cell *before, enum aq_terminal_colours colours,
                       aq_buffer *out)
{
    int rc = 0;
    if (before == NULL || !is_same(now.above, before->above)) {
        rc = put_colour(38, now.above, colours, out);
    }
    if (rc == 0 && (before == NULL || !is_same(now.below, before->below))) {
        rc = put_colour(48, now.below, colours, out);
    }
    return rc != 0 ? rc : aq_buffer_append(out, HALF_BLOCK, strlen(HALF_BLOCK));
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

static int put_line(const aq_canvas *canvas, uint32_t row, enum aq_terminal_colours colours,
                    aq_buffer *out)
{
    static const char end[] = "\x1b[0m\n";
    const bool has_colours = colours != AQ_TERMINAL_PLAIN;
    cell before = {0};
    int rc = 0;
    for (uint32_t column = 0; rc == 0 && column < canvas->width; column++) {
        const cell now = {pixel_at(canvas, row, column), pixel_at(canvas, row + 1, column)};
        rc = has_colours ? put_colours(now, column > 0 ? &before : NULL, colours, out)
                         : put_character(now, out);
        before = now;
    }
    if (rc != 0) {
        return rc;
    }
    return has_colours ? aq_buffer_append(out, end, strlen(end)) : aq_buffer_append(out, "\n", 1);
}

int aq_terminal_picture(const aq_canvas *canvas, enum aq_terminal_colours colours, aq_buffer *out)
{
    int rc = 0;
    for (uint32_t row = 0; rc == 0 && row < canvas->height; row += 2) {
        rc = put_line(canvas, row, colours, out);
    }
    return rc;
}
