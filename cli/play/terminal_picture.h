/*
 * Terminal picture: pixels as text. With colours, a character cell shows two pixels, one above the
 * other, by a half block in one colour on a background of another; without, one character from
 * blank to '@' for the two, the brighter the fuller. One thread; no state.
 *
 * Terminals take colours of 24 bits or, older ones, one of 256: a cube of 6 x 6 x 6, and 24 greys.
 */
#ifndef AQ_CLI_PLAY_TERMINAL_PICTURE_H
#define AQ_CLI_PLAY_TERMINAL_PICTURE_H

#include "cli/text/terminal_colours.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "envs/canvas.h"

/* Appends the picture line by line, rows two by two; an odd last row stands above black.
 * AQ_E_NOMEM, AQ_E_TOO_BIG. */
int aq_terminal_picture(const aq_canvas *canvas, enum aq_terminal_colours colours,
                        aq_buffer *out) AQ_MUST_USE;

#endif
